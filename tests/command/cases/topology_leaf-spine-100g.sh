# SPDX-License-Identifier: GPL-3.0-or-later
moefabric topology "$SOURCE/topologies/leaf-spine-100g.yaml"
