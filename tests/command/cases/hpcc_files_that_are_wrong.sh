# SPDX-License-Identifier: GPL-3.0-or-later
# Files of HPCC's ns-3: a graph that is no fat tree is refused at its link, and all mistakes of a list of flows are told at once.
cp "$SOURCE/configs/hpcc-flows.yaml" "$SOURCE/configs/hpcc-flows.txt" .
sed 's/^43 51/43 50/' "$SOURCE/topologies/hpcc-fat-tree.txt" >graph.txt
moefabric topology graph.txt
echo "exit $?"
cat >flows.txt <<'END'
3
0 1 3 100 1000
1 1 3 100 1000 0
2 3 4 100 1000 0.5
END
cp "$SOURCE/topologies/hpcc-fat-tree.txt" .
moefabric check hpcc-flows.yaml --set traffic.matrix=flows.txt
echo "exit $?"
printf '1\n0 32 3 100 1000 0\n' >flows.txt
moefabric check hpcc-flows.yaml --set traffic.matrix=flows.txt
echo "exit $?"
