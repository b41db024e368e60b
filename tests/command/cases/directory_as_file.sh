# SPDX-License-Identifier: GPL-3.0-or-later
mkdir folder.yaml
moefabric run folder.yaml
