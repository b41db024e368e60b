# SPDX-License-Identifier: GPL-3.0-or-later
# What a GPU of a design holds is what `train` says, with popular experts and with less kept of a layer; a design whose GPUs overflow misses that limit.
cp "$SOURCE/configs/size-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
both() {
    moefabric size size-deepseek-v3.yaml -q --json -o size.h5 --set size.time_to_train='1000 s' --set size.seeds=1 --set size.finalists=0 \
        --set 'size.list=[{design.planes: 2}]' --set 'size.grid={design.gpus: [2048]}' "$@" > told
    moefabric train size-deepseek-v3.yaml -q --set design.gpus=2048 --set design.planes=2 --set seeds=1 --set network_model=fluid "$@" > step
    awk '/gpu_memory_bytes/ { printf "size %.1f GB", $2 / 1e9 } /^memory/ { printf ", train %s GB\n", $2 }' told step
}
both
both --set traffic.gate=hot_expert
both --set training.recompute=layers
moefabric size size-deepseek-v3.yaml -q -o size.h5 --set size.finalists=0 --set 'size.list=[{design.planes: 2}]' --set 'size.grid={design.gpus: [2048]}' \
    --set size.time_to_train='1000 s' --set size.memory='70 %' --set traffic.gate=hot_expert 2> told | grep 'misses'; sed -n 's|.*error|error|p' told
