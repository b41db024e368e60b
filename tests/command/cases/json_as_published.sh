# SPDX-License-Identifier: GPL-3.0-or-later
# What is printed with --json is as results/json.schema.json says.
python3 -c 'import jsonschema' 2>/dev/null || { echo "needs python3-jsonschema"; exit 77; }
flow=$SOURCE/configs/single-flow.yaml gate=$SOURCE/configs/infiniband-moe.yaml
moefabric run "$flow" --quiet --json -o flow.h5 > comparison-run.json
moefabric compare "$SOURCE/configs/incast.yaml" --quiet --json --seed 1 -o incast.h5 > comparison-compare.json
moefabric run "$flow" --quiet --json --set limits.simulated_time=1us -o limit.h5 > comparison-limit.json 2> said
moefabric show incast.h5 --json --detail > comparison-show.json
moefabric check "$gate" --json > check.json 2> said
moefabric gate "$gate" --quiet --json --detail > gate.json
moefabric gate "$SOURCE/configs/measured-gate.yaml" --quiet --json > gate-layers.json
moefabric diff flow.h5 incast.h5 --json > diff.json
moefabric diff incast.h5 incast.h5 --json > diff-same.json
moefabric export incast.h5 --json > export.json
moefabric sweep "$flow" --quiet --json --set 'sweep={list: [{traffic.bytes: 1 MB}, {traffic.destination: 9999}]}' -o swept.h5 > sweep.json
moefabric show swept.h5 --json > sweep-show.json
moefabric topology "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" --json > topology.json
printf 'prices: {"NIC*": 1000}\nenergy: 0.1\n' > prices.yaml
moefabric topology "$SOURCE/topologies/leaf-spine-100g.yaml" --json --prices prices.yaml --time '2 d' > topology-priced.json
moefabric validate "$SOURCE/configs/validation" --only 'V9b.single.*' --quiet --json > validate.json
moefabric validate "$SOURCE/configs/validation" --only V4.nccl.8x8 --quiet --json > validate-later.json
moefabric train "$SOURCE/configs/training-deepseek-v3.yaml" --quiet --json --set cluster.gpus_used=8 --set traffic.expert_parallelism=8 \
    --set traffic.tokens_per_gpu=16 --set training.sequence=16 --set training.gpus=64 --set training.pipeline_parallelism=8 --set training.virtual_stages=1 \
    --set training.schedule=1f1b --set training.global_batch=64 --set seeds=2 --set 'policies=[ecmp+none, adaptive+none]' -o step.html > train.json
grep -c 'id="timeline-figure"' step.html
cp flow.run.json provenance.json
python3 - <<'END'
import glob, json, os
from jsonschema import Draft7Validator
with open(os.environ["SOURCE"] + "/results/json.schema.json") as text:
    schema = json.load(text)
Draft7Validator.check_schema(schema)
seen = set()
for path in sorted(glob.glob("*.json")):
    kind = path.split("-")[0].split(".")[0]
    if kind not in schema["definitions"]:
        continue # the provenance of other runs
    seen.add(kind)
    part = Draft7Validator({**schema, "oneOf": [{"$ref": "#/definitions/" + kind}]})
    with open(path) as text:
        document = json.load(text)
    for mistake in part.iter_errors(document):
        print(path, list(mistake.absolute_path), mistake.message[:200])
    assert part.is_valid(document) and not part.is_valid({**document, "no_such_member": 1}), path
assert seen == {choice["$ref"].split("/")[-1] for choice in schema["oneOf"]}, seen
END
