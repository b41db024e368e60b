// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Loads of experts from any file that has them: CSV, or a tensor of counts.
 */
#ifndef MOEFABRIC_WORKLOAD_EXPERT_LOAD_FILE_H
#define MOEFABRIC_WORKLOAD_EXPERT_LOAD_FILE_H

#include "workload/expert_load.h"

/**
 * Reads a file by the end of its name: .npy, .h5 and .hdf5 hold counts [layer, expert] or [step, layer, expert], as inference servers record them;
 * anything else is CSV (expert_load_csv.h). dataset: of HDF5, "" = the only one. NULL with *error, which names line and column or the index.
 * Freed by expert_load_free.
 */
struct expert_load *expert_load_file_read(const char *path, const char *dataset, struct error *error);

#endif
