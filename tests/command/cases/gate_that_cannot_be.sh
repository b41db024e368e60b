# SPDX-License-Identifier: GPL-3.0-or-later
# mistakes of gates and their files have a place, or say what does not fit
cp "$SOURCE/tests/workload/data/expert_frequency.csv" good.csv
sed 's/0,3,0.13192/0,3,-0.1/' good.csv > negative.csv
sed 's/^1,.*//' good.csv > hole.csv
sed 's/\(2,0,\)[0-9.]*/\1nan/' good.csv > nan.csv
cat > gate.yaml << END
name: wrong
topology: gb200-nvl72-spectrumx.yaml
cluster: {racks: 2, gpus_used: 4}
model: {hidden: 2880, experts: 8, top_k: 2}
traffic: {gate: measured, tokens_per_gpu: 10}
gate: {file: good.csv}
policies: [ecmp+none]
END
for wrong in gate.file=negative.csv gate.file=hole.csv gate.file=nan.csv gate.file=missing.csv gate.layer=3 gate.domain=verse \
    model.top_k=4 model.experts=16 gate.micro_batches=11 traffic.gate=trace traffic.pattern=incast; do
    moefabric gate gate.yaml --quiet --set "$wrong"
    echo "$wrong: $?"
done
