// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* The only global state: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/*
 * What was ignored at the start stays ignored. UCX, below Open MPI and MPICH, puts a handler of its own on SIGHUP before main, whatever was
 * there: nohup then shows only in that it leaves no terminal to read from.
 */
static bool may_listen(int signal_number) {
    struct sigaction before;
    if (sigaction(signal_number, NULL, &before) != 0 || before.sa_handler == SIG_IGN) {
        return false;
    }
    return signal_number != SIGHUP || before.sa_handler == SIG_DFL || isatty(STDIN_FILENO);
}

void interrupt_listen(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND; // a second one ends the program at once
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (may_listen(signals[i])) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

bool interrupt_has_come(void) {
    return interrupted;
}
