# SPDX-License-Identifier: GPL-3.0-or-later
# perf alltoall under each algorithm: equal parts, so that all but the exchange steps come near the time of the pattern; parts that do not come out even, too.
for algorithm in direct two_hop pxn nccl_p2p pairwise hybrid_ep; do
    echo "$algorithm:"
    moefabric perf alltoall "$SOURCE/topologies/hgx-h100-roce.yaml" --set cluster.racks=2 --set traffic.algorithm=$algorithm --sizes 999KiB:2MiB | grep -v '^#'
done
