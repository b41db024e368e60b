# SPDX-License-Identifier: GPL-3.0-or-later
# Section `design` works out what the cluster gives as well: one mistake, and what to do. GPU numbers that are too large are said to be.
cp "$SOURCE/configs/quickstart-collision.yaml" "$SOURCE/topologies/gb200-nvl72-spectrumx.yaml" .
refused() {
    moefabric check quickstart-collision.yaml "$@"
    echo "exit $?"
}
refused --set design.oversubscription=2
refused --set traffic.gpus=0-1000000000
