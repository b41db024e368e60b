# SPDX-License-Identifier: GPL-3.0-or-later
# A search writes a file that runs take, the same one every time; the fullest GPU has less to do. Wrong files are refused with their place.
config="$SOURCE/configs/placement-replicas.yaml"
small() { moefabric place "$config" --quiet --set traffic.tokens_per_gpu=32 --steps 300 --batches 2 -o "$1"; }
small one.csv | sed -n '/placement /,/found /p'
small two.csv >/dev/null
cmp one.csv two.csv && head -n 3 one.csv && wc -l <one.csv
load() { moefabric check "$config" "$@" | grep -o "GPUs: .*"; }
load --set placement.kind=contiguous --set placement.redundant_experts=0
load
load --set placement.kind=file --set placement.redundant_experts=0 --set "placement.file=$PWD/one.csv"
sed -i 's/^0,3,0,.*/0,3,0,32/' one.csv
load --set placement.kind=file --set placement.redundant_experts=0 --set "placement.file=$PWD/one.csv" || echo "exit $?"
moefabric place "$config" --set traffic.pattern=permutation --quiet || echo "exit $?"
moefabric place "$config" --set placement.redundant_experts=7 --quiet || echo "exit $?"
moefabric place "$config" --steps 0 || echo "exit $?"
