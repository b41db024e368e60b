# SPDX-License-Identifier: GPL-3.0-or-later
moefabric topology "$SOURCE/topologies/gb200-nvl72-spectrumx-3tier.yaml"
