#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The law of hash collisions that bounds in configs/expected.csv refer to: the load of the fullest of several sets of links.

Flows that are hashed evenly fall on links as balls into bins. A phase in which all flows are equal waits for the fullest link of all switches, so its
time is that load in units of a flow's time, or what the NICs need if that is more.

    balls_in_bins.py FLOWS LINKS SWITCHES [PARTS]    FLOWS on LINKS of each of SWITCHES; each flow in PARTS equal parts (queue pairs)

Prints mean, 1 % and 99 % quantiles over 2,000 draws (Python's generator, seed 1).
"""

import random
import sys


def fullest(draw, balls, bins, sets):
    """Load of the fullest bin of all sets."""
    most = 0
    for _ in range(sets):
        loads = [0] * bins
        for _ in range(balls):
            loads[int(draw() * bins)] += 1
        most = max(most, max(loads))
    return most


def main():
    flows, links, switches, parts = (int(word) for word in (sys.argv[1:] + ["1"])[:4])
    draw = random.Random(1).random
    draws = 2000 if flows * parts * switches <= 10000 else 200
    loads = sorted(fullest(draw, flows * parts, links, switches) / parts for _ in range(draws))
    print(
        f"{flows} flows on {links} links, fullest of {switches} switches, {parts} part(s) a flow: mean {sum(loads) / draws:.2f}, "
        f"1 % {loads[draws // 100]:.2f}, 99 % {loads[-1 - draws // 100]:.2f} ({draws} draws)"
    )


if __name__ == "__main__":
    main()
