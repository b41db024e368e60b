# SPDX-License-Identifier: GPL-3.0-or-later
: > empty.yaml
moefabric run empty.yaml
