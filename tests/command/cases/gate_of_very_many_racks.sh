# SPDX-License-Identifier: GPL-3.0-or-later
# 65,536 hosts: a matrix of them would take 32 GiB, what is said of the tokens takes next to nothing. A value that a .topo file does not have has no line.
set -- --set traffic.pattern=moe --set model.preset=deepseek-v3 --set traffic.tokens_per_gpu=4
set -- "$@" --set traffic.expert_parallelism=256 --set traffic.algorithm=direct
moefabric gate "$SOURCE/configs/scale-65536.yaml" "$@" 2>/dev/null | tail -1
moefabric gate "$SOURCE/configs/scale-65536.yaml" "$@" --json 2>/dev/null | grep rack_bytes
moefabric perf alltoall "$SOURCE/topologies/htsim-fat-tree.topo" --sizes 1KiB:2KiB 2>&1 | tail -1
