# SPDX-License-Identifier: GPL-3.0-or-later
# destinations of the benchmark gate are those of its definition; drawn tokens have the imbalance of a measured file, where it is given
set -e
moefabric validate --only 'V1.EP16.*' --quiet
moefabric validate --only 'V1.deepseek.EP16.*' --quiet
cat > table.yaml << END
table:
  title: example
  source: made up
  set_up: three layers of 8 experts, top-2
  kind: measured_load
  reference: measurement
  tolerance: 1 %
  data: expert_frequency.csv
  top_k: 2
rows:
  - {id: experts, what: layer furthest from the file, gpus: 0, quantity: furthest}
  - {id: gpus, what: median layer, gpus: 4, quantity: median, published: 1.161}
  - {id: wrong, what: worst layer, gpus: 4, quantity: worst, published: 1.2}
END
moefabric validate table.yaml --quiet
moefabric validate table.yaml --quiet --data "$SOURCE/tests/workload/data" && exit 1
moefabric validate table.yaml --quiet --data /nowhere || echo "ends with $?"
