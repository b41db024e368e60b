# SPDX-License-Identifier: GPL-3.0-or-later
# A job on unequal parts of racks: a placement for each of two layers, in YAML and in CSV alike, that runs take; what is wrong has its place.
config="$SOURCE/configs/measured-gate.yaml"
of_job() {
    command=$1 && shift
    moefabric "$command" "$config" --set 'traffic.gpus="0-4, 8-9, 16-21, 24-26"' --set traffic.algorithm=pxn \
        --set traffic.tokens_per_gpu=32 "$@"
}
small() { of_job place --quiet --set placement.redundant_experts=16 --steps 100 --batches 1 "$@"; }
small --layers 1,3 -o two.yaml | sed -n 3,7p
small --layers 1,3 -o two.csv >/dev/null
sed 1,2d two.yaml | cut -c 1-4
run() { of_job check --set placement.kind=file --set gate.layer=3 --set "placement.layer=$1" --set "placement.file=$PWD/$2"; }
run 3 two.yaml >yaml.txt && run 3 two.csv >csv.txt && cmp yaml.txt csv.txt && grep -o 'job  .*' yaml.txt
run 2 two.yaml || echo "exit $?"
sed -i '3s/\[/[x, /' two.yaml
run 3 two.yaml || echo "exit $?"
small --layers 0-x || echo "exit $?"
of_job check --set traffic.algorithm=two_hop || echo "exit $?"
of_job check --set traffic.expert_parallelism=3 || echo "exit $?"
