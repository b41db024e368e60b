# SPDX-License-Identifier: GPL-3.0-or-later
# Each exit code of the manual page, once.
ends() {
    name=$1
    shift
    "$@" > out 2> err
    echo "$name: $?, standard error: $(grep -c . err) lines"
}
flow=$SOURCE/configs/single-flow.yaml
ends "all went well" moefabric run "$flow" --quiet -o r.h5
ends "no such option" moefabric run "$flow" --nonsense
ends "a value out of range" moefabric check "$flow" --set cluster.racks=0
ends "no such file" moefabric show nothing.h5
ends "a limit that the configuration states" moefabric run "$flow" --quiet --set limits.simulated_time=1us -o limit.h5
cat > missed.yaml <<'END'
table: {title: t, source: s, set_up: u, kind: eplb, tolerance: exact, replicas: 16, groups: 4, nodes: 2, gpus: 8}
rows:
  - {id: X, what: w, quantity: node_load, index: 0, published: 1, loads: [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86]}
END
ends "a value that missed its tolerance" moefabric validate missed.yaml --quiet
ends "interrupted" timeout --preserve-status -s INT 2 moefabric run "$SOURCE/configs/permutation.yaml" --policy 1 --quiet --set traffic.bytes=1GiB --set limits.simulated_time=10s -o INT.h5
moefabric reference | sed -n '/^## Exit codes/,/^## Keys/p' | sed -n 's/^| \([0-9]*\) |.*/\1/p' | tr '\n' ' '
