# SPDX-License-Identifier: GPL-3.0-or-later
# Goodput with failures, checkpoints and spares, the same twice; what does not fit is refused at its place.
cp "$SOURCE/configs/goodput-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
small() {
    moefabric train goodput-deepseek-v3.yaml -q --set cluster.gpus_used=8 --set traffic.expert_parallelism=8 --set traffic.tokens_per_gpu=256 \
        --set training.sequence=256 --set training.pipeline_parallelism=16 --set training.virtual_stages=1 "$@"
}
told() {
    small "$@" | sed -n '/^failures/,$p'
}
told --set training.failures.runs=200 > once
told --set training.failures.runs=200 > again
cmp once again && cat once
told --set training.failures.rates=rsc1 --set training.failures.warm_spares=0 --set training.failures.repair='1 h' --set training.checkpoint.interval='30 min' \
    --set training.steps=0 | sed -n '1,2p;/^goodput/,/^interruptions/p'
told --set training.failures.repair='2 d' --set training.failures.warm_spares=8 --set training.failures.runs=100 | grep '^spares are scarce'
refused() {
    small "$@" > /dev/null
    echo "exit $?"
}
refused --set training.failures.gpu_mtbf='-1 h'
refused --set training.failures.gpu_mtbf='1 hour'
refused --set training.failures.warm_spares=8196
refused --set training.failures.warm_spares=6
refused --set training.failures.host_gpus=1024 --set training.gpus=512
refused --set training.failures.warm_restart='1 h'
refused --set training.checkpoint.interval='2 s'
refused --set training.checkpoint.interval='30 d'
refused --set training.failures.rates=llama4
refused --set training.failures.software_mtbf='10 h' --set training.checkpoint.interval='1 h'
