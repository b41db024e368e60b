// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/command.h"

int main(int n_arguments, char **arguments) {
    return command_main(n_arguments, arguments);
}
