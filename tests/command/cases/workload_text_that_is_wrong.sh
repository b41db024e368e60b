# SPDX-License-Identifier: GPL-3.0-or-later
# Workload texts: all mistakes of a file are told at once, each at its place; what does not fit the cluster, or is not simulated, is refused.
cp "$SOURCE/configs/simai-moe.yaml" "$SOURCE/configs/astra-sim-mlp.yaml" .
cat >wrong.txt <<'END'
HYBRID_DATA_MODEL
4
mlp0 -1 200000 ALLGATHR 524288 200000 ALLREDUCE 4194304 200000 ALLREDUCE 67108864 100
mlp1 -1 2e5 ALLGATHER 524288 200000 ALLREDUCE 4194304 200000 ALLREDUCE 67108864 100
mlp2 -1 200000 ALLREDUCEALLTOALL 524288 200000 ALLREDUCE 4194304 200000 ALLREDUCE_EP 67108864 100
mlp3 -1 200000 ALLGATHER 524288 200000 ALLREDUCE 4194304
END
moefabric check astra-sim-mlp.yaml --set traffic.workload=wrong.txt
echo "exit $?"
sed '1s/.*/HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1/' wrong.txt >other.txt
moefabric check astra-sim-mlp.yaml --set traffic.workload=other.txt
echo "exit $?"
sed 's/ pp: 1 / pp: 4 /' "$SOURCE/configs/simai-moe.txt" >simai-moe.txt
moefabric check simai-moe.yaml
echo "exit $?"
cp "$SOURCE/configs/simai-moe.txt" .
moefabric check simai-moe.yaml --set cluster.racks=4
echo "exit $?"
sed -e 's/ all_gpus: 16//' -e 's/ ep: 8/ ep: 3/' "$SOURCE/configs/simai-moe.txt" >simai-moe.txt
moefabric check simai-moe.yaml
echo "exit $?"
sed 's/ALL[A-Z]*\|REDUCESCATTER/NONE/g' "$SOURCE/configs/astra-sim-mlp.txt" >astra-sim-mlp.txt
moefabric check astra-sim-mlp.yaml
echo "exit $?"
moefabric check astra-sim-mlp.yaml --set traffic.workload=missing.txt
echo "exit $?"
