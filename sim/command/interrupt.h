// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Signals that ask the program to end: SIGINT, SIGTERM, SIGHUP. The first one only sets a flag, so that what is finished can be
 * saved; a second one ends the program at once.
 */
#ifndef MOEFABRIC_COMMAND_INTERRUPT_H
#define MOEFABRIC_COMMAND_INTERRUPT_H

#include <stdbool.h>

/** Begins to listen, until the program ends: saving, too, must not be cut short. A signal that was ignored at the start (nohup, a shell's background job) stays ignored. */
void interrupt_listen(void);

/** Whether a signal has come. May be asked by any thread. */
bool interrupt_has_come(void);

#endif
