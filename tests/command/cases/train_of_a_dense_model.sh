# SPDX-License-Identifier: GPL-3.0-or-later
# A model without experts: nothing is simulated, policies do not matter; keys and values where GPUs share a sequence.
cp "$SOURCE/configs/training-llama-3.1-405b.yaml" "$SOURCE/topologies/gb200-nvl72-spectrumx.yaml" .
moefabric train training-llama-3.1-405b.yaml -o step.json
python3 - <<'END'
import json
events = json.load(open("step.json"))["traceEvents"]
print(sorted({event["name"] for event in events if event["ph"] == "X"}))
END
moefabric train training-llama-3.1-405b.yaml --set training.context_exchange=all_gather --set training.gpus=320 -o step.json | grep 'exposed comm'
grep -c 'keys and values' step.json
# A stage of the embedding alone computes nothing: no clock makes it as slow as the others.
moefabric train training-llama-3.1-405b.yaml --set training.schedule=1f1b --set 'training.pipeline_layout="1,18,18,18,18,18,18,19"' > uneven.txt
grep -E '^step time|computing alike' uneven.txt
moefabric train training-llama-3.1-405b.yaml --set training.context_parallelism=3
moefabric train training-llama-3.1-405b.yaml --set training.tensor_parallelism=5 --set training.context_parallelism=1
moefabric train training-llama-3.1-405b.yaml --set traffic.pattern=moe
moefabric check training-llama-3.1-405b.yaml
