# SPDX-License-Identifier: GPL-3.0-or-later
# The name of a command is no key; explain says where its text is.
moefabric explain preflight
