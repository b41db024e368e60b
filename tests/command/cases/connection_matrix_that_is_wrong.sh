# SPDX-License-Identifier: GPL-3.0-or-later
# A connection matrix is read with the configuration: all mistakes at once, with their places, and nothing is simulated.
cat >flows.cm <<'END'
Nodes 16
Connections 2
Failures 1
0->16 start 0 size 1000
1->2 start 0 siez 1000 
END
cp "$SOURCE/configs/connection-matrix.yaml" "$SOURCE/topologies/leaf-spine-400g.yaml" .
moefabric check connection-matrix.yaml --set traffic.matrix=flows.cm
echo "exit $?"
moefabric check connection-matrix.yaml --set traffic.matrix=none.cm
echo "exit $?"
cp "$SOURCE/configs/ring.cm" .
moefabric check connection-matrix.yaml --set cluster.racks=8
echo "exit $?"
