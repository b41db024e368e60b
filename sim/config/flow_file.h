// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lists of flows in other simulators' forms, told apart by the ending of the file: `.txt` is a flow file of HPCC's ns-3, all else a
 * connection matrix of htsim (connection_matrix.h).
 *
 * A flow file (github.com/alibaba-edu/High-Precision-Congestion-Control, simulation/scratch/third.cc, ReadFlowInput) is the number of
 * flows, and for each a line of six numbers: source, destination, priority group, destination port, bytes, start in seconds.
 * What follows the last of them is not read, there as here: files there end with an explanation of themselves.
 * All flows must be of one priority group: data has one class here. The port, which only sets flows of two nodes apart there, is not kept.
 */
#ifndef MOEFABRIC_CONFIG_FLOW_FILE_H
#define MOEFABRIC_CONFIG_FLOW_FILE_H

#include "config/connection_matrix.h"

/** Reads a file. False with all its mistakes appended to *errors; *matrix is then not to be used, but to be ended. */
bool flow_file_read(const char *path, struct connection_matrix *matrix, struct error_list *errors);

/** The same of a flow file of HPCC's, from memory; name stands for the path in messages. */
bool flow_file_read_hpcc(const char *name, const char *text, struct connection_matrix *matrix,
                         struct error_list *errors);

#endif
