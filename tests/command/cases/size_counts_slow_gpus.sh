# SPDX-License-Identifier: GPL-3.0-or-later
# A design's training step is that of `train`: GPUs that are slow make it longer; those that do not exist cannot be.
cp "$SOURCE/configs/size-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
sized() {
    moefabric size size-deepseek-v3.yaml -q --json -o size.h5 --set size.time_to_train='1000 s' --set size.finalists=0 --set 'size.list=[{design.planes: 2}]' \
        --set 'size.grid={design.gpus: [2048]}' "$@" > told || echo "exit $?"
    sed -n 's/^ *"mean": //p' told
}
sized > plain
sized --set training.stragglers.slow_gpus=7 --set training.stragglers.slow_gpu_clock=0.5 > slow
sized --set training.stragglers.clock_deviation=0.05 > uneven
paste -d ' ' plain slow uneven | awk -F '[ ,]+' '{ printf "%.4g s, with a slow GPU %.4g s, with uneven clocks %.4g s\n", $1, $2, $3 }'
sized --set training.stragglers.slow_gpus=2048 --set training.stragglers.slow_gpu_clock=0.5
