# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run --no-such-option
