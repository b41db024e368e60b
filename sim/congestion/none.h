// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * No congestion control: always line rate. With priority flow control this is a baseline of its own.
 */
#ifndef MOEFABRIC_CONGESTION_NONE_H
#define MOEFABRIC_CONGESTION_NONE_H

#include "congestion/congestion.h"

/** The controller `none`: asks for nothing, ignores what it is told. */
extern const struct congestion_controller none_controller;

#endif
