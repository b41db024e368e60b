# SPDX-License-Identifier: GPL-3.0-or-later
moefabric validate "$SOURCE/configs/validation" --only V3.slowdown.4on5
