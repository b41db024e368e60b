# SPDX-License-Identifier: GPL-3.0-or-later
# DeepEP's two bandwidths are of its two hops: without hops their rows are left out.
names() {
    moefabric compare "$SOURCE/configs/quickstart-incast.yaml" --set cluster.racks="$2" --set cluster.gpus_used=4 --set 'cluster.leaf_downlinks=4' \
        --set cluster.leaf_uplinks=4 --set traffic.expert_parallelism=0 --set traffic.tokens_per_gpu=16 --set traffic.exchange_counts=false \
        --set traffic.algorithm="$1" --set 'policies=[ecmp+none]' --set seeds=1 --quiet --json --output result.h5 |
        grep -o '"name": *"dispatch [^"]*"'
}
echo direct: && names direct 2
echo two_hop: && names two_hop 2
echo two_hop, one domain: && names two_hop 1
