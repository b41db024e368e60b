# SPDX-License-Identifier: GPL-3.0-or-later
# Times of a packet-level peer, to every digit that it prints.
moefabric validate "$SOURCE/configs/validation" --only 'V9b.single.*' --quiet
moefabric validate "$SOURCE/configs/validation" --only V9b.incast --quiet
