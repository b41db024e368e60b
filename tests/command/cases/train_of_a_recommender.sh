# SPDX-License-Identifier: GPL-3.0-or-later
# A recommender's step: its vectors' exchange is simulated, what contradicts its tables is refused where it stands.
cp "$SOURCE/configs/training-dlrm-dcnv2.yaml" "$SOURCE/topologies/gb200-nvl72-spectrumx.yaml" "$SOURCE/topologies/hgx-h100-quantum2.yaml" .
moefabric train training-dlrm-dcnv2.yaml -q -o step.json
python3 - <<'END'
import json
events = json.load(open("step.json"))["traceEvents"]
print(sum(event["ph"] == "X" for event in events), "parts of a step")
END
moefabric train training-dlrm-dcnv2.yaml -q --json > step.json
python3 - <<'END'
import json
step = json.load(open("step.json"))["policies"][0]
print("samples a second", round(64 * step["tokens_per_second_and_gpu"] * step["seconds"]["step"]))
END
echo; echo "by packets, and with a GPU at half its clock"
moefabric train training-dlrm-dcnv2.yaml -q --set network_model=packet | grep '^step time  '
moefabric train training-dlrm-dcnv2.yaml -q --set training.stragglers.slow_gpus=3 --set training.stragglers.slow_gpu_clock=0.5 | grep -A 3 '^step time with'
refused() {
    moefabric train training-dlrm-dcnv2.yaml -q "$@"
    echo "exit $?"
}
refused --set training.pipeline_parallelism=2
refused --set training.tensor_parallelism=2 --set training.context_parallelism=2
refused --set training.sequence=512 --set training.micro_batch=4
refused --set traffic.expert_parallelism=8
refused --set traffic.gpus=0-7
refused --set traffic.pattern=ring
refused --set traffic.bytes=1MiB
refused --set training.copied_tables=8MB --set traffic.bytes=1MiB
refused --set training.copied_tables=1TB
refused --set training.gpus=128
refused --set training.global_batch=135169
refused --set topology=hgx-h100-quantum2.yaml --set training.gpu=h100 --set training.expert_precision=bf16 --set cluster.racks=1 --set cluster.gpus_used=2 \
    --set cluster.rails=2 --set traffic.bytes=449839104B
sed '/^training:/i size: {step_time: 1 ms, grid: {cluster.racks: [1, 2]}}' training-dlrm-dcnv2.yaml > size.yaml
moefabric size size.yaml -q
echo "exit $?"
moefabric check training-dlrm-dcnv2.yaml --set training.kernels=fused --set training.schedule=1f1b > /dev/null
