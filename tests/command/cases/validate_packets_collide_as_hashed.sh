# SPDX-License-Identifier: GPL-3.0-or-later
# What packets do on hashed uplinks is what the hash says, and what it says is the law of balls in bins.
moefabric validate "$SOURCE/configs/validation" --only 'V3.*.64on64' --quiet
moefabric validate "$SOURCE/configs/validation" --only 'V3.packets.12*' --quiet
