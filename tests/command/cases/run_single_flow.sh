# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run --quiet "$SOURCE/configs/single-flow.yaml"
ls
