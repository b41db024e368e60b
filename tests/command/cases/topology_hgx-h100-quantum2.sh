# SPDX-License-Identifier: GPL-3.0-or-later
moefabric topology "$SOURCE/topologies/hgx-h100-quantum2.yaml"
