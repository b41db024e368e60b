# SPDX-License-Identifier: GPL-3.0-or-later
moefabric explain pausd_time
