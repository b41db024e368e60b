#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a C source out of files, so that the program carries them with it.

    embed.py HEADER OUTPUT NAME=FILE…     each becomes `const char NAME[]`, ended by a NUL
"""

import pathlib
import sys


def array(name, data):
    lines = [f"const char {name}[] = {{"]
    for first in range(0, len(data), 24):
        lines.append("    " + "".join(f"{byte - 256 if byte > 127 else byte}," for byte in data[first : first + 24]))
    return "\n".join([*lines, "    0};"])


def main():
    header, output, *files = sys.argv[1:]
    parts = [f'/* Made by embed.py. */\n#include "{header}"\n']
    for entry in files:
        name, path = entry.split("=", 1)
        data = pathlib.Path(path).read_bytes()
        if b"\0" in data:
            sys.exit(f"{path}: holds a NUL, which a text must not")
        parts.append(array(name, data))
    pathlib.Path(output).write_text("\n".join(parts) + "\n", encoding="ascii")


main()
