# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run --policy ecpm "$SOURCE/configs/incast.yaml"
