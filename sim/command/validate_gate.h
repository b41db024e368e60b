// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kinds `gate` and `measured_load`: what gates draw, against published destinations and measured frequencies. Nothing is simulated.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_GATE_H
#define MOEFABRIC_COMMAND_VALIDATE_GATE_H

#include "command/validate_kind.h"

/** Mean destinations of a token, and bytes by the definitions of DeepEP's tables. */
extern const struct validate_kind validate_gate;

/** Imbalance of the layers of a file of measured frequencies, from tokens that the gate `measured` draws. */
extern const struct validate_kind validate_measured_load;

#endif
