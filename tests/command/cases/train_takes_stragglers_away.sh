# SPDX-License-Identifier: GPL-3.0-or-later
# What goes wrong in a step is taken away in turn: slow GPUs, clocks, stages, a NIC, rails, a hot expert; a list of slow GPUs that is wrong is refused.
cp "$SOURCE/configs/training-straggler.yaml" "$SOURCE/topologies/hgx-h100-roce.yaml" .
small() {
    moefabric train training-straggler.yaml -q --set cluster.racks=2 --set traffic.expert_parallelism=16 --set traffic.tokens_per_gpu=256 --set training.sequence=256 --set training.gpus=256 \
        "$@"
}
moefabric train training-straggler.yaml -q | sed -n '/step time with/,$p' # as shipped: it must fit the GPUs that it names
small --set training.stragglers.slow_gpu_clock=0.5 | sed -n '/step time with/,$p'
small --set training.stragglers.slow_gpus=1,300
echo "exit $?"
small --set training.stragglers.slow_gpu_clock='120 %'
echo "exit $?"
