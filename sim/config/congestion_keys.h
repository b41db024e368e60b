// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key tables of controllers that live on acknowledgements. Part of experiment_keys.
 */
#ifndef MOEFABRIC_CONFIG_CONGESTION_KEYS_H
#define MOEFABRIC_CONFIG_CONGESTION_KEYS_H

#include "config/key.h"

/** Keys of the section `congestion.timely`. */
extern const struct key congestion_keys_timely[9];

/** Keys of the section `congestion.swift`. */
extern const struct key congestion_keys_swift[12];

/** Keys of the section `congestion.nscc`. */
extern const struct key congestion_keys_nscc[12];

/** Keys of the section `congestion.hpcc`. */
extern const struct key congestion_keys_hpcc[4];

/** Keys of the section `congestion.receiver_credit`. */
extern const struct key congestion_keys_receiver_credit[7];

#endif
