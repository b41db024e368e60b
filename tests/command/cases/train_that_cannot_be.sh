# SPDX-License-Identifier: GPL-3.0-or-later
# A step that cannot be is refused before anything is simulated, with the arithmetic.
cp "$SOURCE/configs/training-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
refused() {
    moefabric train training-deepseek-v3.yaml -q "$@"
    echo "exit $?"
}
refused --set training.gpus=2047
refused --set training.global_batch=1000
refused --set traffic.tokens_per_gpu=1024
refused --set training.gpu=h100 --set training.precision=fp8 --set training.expert_precision=nvfp4
refused --set training.pipeline_layout=auto,4
refused --set training.pipeline_parallelism=1 --set training.gpus=512 --set training.gpu=h100 --set training.virtual_stages=1 \
    --set training.precision=fp8 --set training.expert_precision=fp8
refused --set training.gpu=h100
refused --set training.tensor_parallelism=128 --set traffic.tokens_per_gpu=32
refused --set model.top_k=4
refused --set traffic.phases=[dispatch]
refused --set model.preset=qwen3-30b-a3b
refused --set training.global_batch=0
refused --set training.gpu=gb400
refused --set training.gradient_sms=131 --set traffic.kernel=platform --set traffic.sms=17
refused -o /nowhere/step.json
cp "$SOURCE/configs/single-flow.yaml" .
cp "$SOURCE/topologies/"*.yaml .
moefabric train single-flow.yaml --quiet # there is no section to point at
echo "exit $?"
