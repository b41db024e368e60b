# SPDX-License-Identifier: GPL-3.0-or-later
cat > points.yaml <<'YAML'
name: points
topology: leaf-spine-100g.yaml
cluster: {racks: 16, gpus_used: 1, spines: 4, leaf_uplinks: 4}
traffic: {pattern: incast}
policies: [ecmp+none, ecmp+dcqcn]
sweep:
  grid:
    traffic.senders: [2, 99]
    traffic.bytes: {from: 64 KiB, to: 128 KiB, factor: 2}
YAML
moefabric sweep points.yaml --quiet; echo "ends with $?"
moefabric sweep points.yaml --quiet --output again.h5 > again.txt
cmp points.h5 again.h5 && moefabric show again.h5 | cmp - again.txt && echo "the same again"
moefabric sweep points.yaml --jobs 1 > second.txt
moefabric export points.h5 --folder tables
cut -d, -f1-3,5- tables/points.csv
cut -d, -f1-7 tables/runs.csv
moefabric show points.h5 --json | grep -A3 '"point": 3'
moefabric report points.h5
grep -c "worst_queue" points.html
moefabric diff points.h5 points.h5
