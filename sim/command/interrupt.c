// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* The only global state: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

void interrupt_listen(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND; // a second one ends the program at once
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

bool interrupt_has_come(void) {
    return interrupted;
}
