# SPDX-License-Identifier: GPL-3.0-or-later
moefabric validate --no-such-option
