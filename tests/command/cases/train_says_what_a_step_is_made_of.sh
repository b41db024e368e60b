# SPDX-License-Identifier: GPL-3.0-or-later
# A small step: what it is made of, two policies side by side, and its timeline up to the last gradients.
cp "$SOURCE/configs/training-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
moefabric train training-deepseek-v3.yaml -q -o step.json --set cluster.gpus_used=8 --set traffic.expert_parallelism=8 \
    --set traffic.tokens_per_gpu=64 --set training.sequence=64 --set training.gpus=512 --set training.pipeline_parallelism=16 \
    --set training.virtual_stages=2 --set training.global_batch=2048 --set seeds=2 --set 'policies=[ecmp+none, adaptive+spectrum_x]'
# two passes at once: what of the exchanges is hidden there
moefabric train training-deepseek-v3.yaml -q --set cluster.gpus_used=8 --set traffic.expert_parallelism=8 \
    --set traffic.tokens_per_gpu=64 --set training.sequence=64 --set training.gpus=512 --set training.pipeline_parallelism=16 \
    --set training.virtual_stages=2 --set training.global_batch=2048 --set training.schedule=1f1b_overlap \
    --set 'policies=[adaptive+none]' --json | grep hidden
python3 - <<'END'
import json
events = json.load(open("step.json"))["traceEvents"]
spans = [event for event in events if event["ph"] == "X"]
print(len({span["pid"] for span in spans}), "stages", sorted({span["name"] for span in spans}))
busy = sum(span["dur"] for span in spans if span["tid"] == 0) / 16
end = max(span["ts"] + span["dur"] for span in spans)
print(f"computing {100 * busy / end:.0f} % of the timeline")
END
