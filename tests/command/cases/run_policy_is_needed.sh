# SPDX-License-Identifier: GPL-3.0-or-later
moefabric run "$SOURCE/configs/incast.yaml"
