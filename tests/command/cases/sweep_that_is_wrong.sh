# SPDX-License-Identifier: GPL-3.0-or-later
write() {
    printf 'name: points\ntopology: leaf-spine-100g.yaml\ncluster: {racks: 16, gpus_used: 1}\ntraffic: {pattern: incast}\npolicies: ecmp+none\n%s\n' "$1" > points.yaml
}
try() {
    moefabric sweep points.yaml "$@"; echo "ends with $?"
}
write 'sweep: {grid: {traffic.sendrs: [1], bytes: [1 KB], traffic.seed: []}}'; try
write 'sweep: {grid: {traffic.senders: [1, 20]}}'; try --index 1
write 'sweep: {}'; try
write 'sweep: {grid: {traffic.seed: {from: 1, to: 1000, step: 1}, traffic.bytes: {from: 1 KB, to: 1 MB, step: 1 KB}, traffic.jitter: {from: 1 ns, to: 1 us, step: 1 ns}}}'; try
write ''; try
write 'sweep: {grid: {traffic.senders: [1, 2]}}'
try --index 2
try --set traffic.senders=3
try --shard 3/2
try --index 1 --shard 1/2
try --jobs 0
try --output points.yaml
cp "$SOURCE/topologies/leaf-spine-100g.yaml" .; try --output leaf-spine-100g.yaml; rm leaf-spine-100g.yaml
moefabric check points.yaml > out.txt; echo "ends with $?"
echo "no folder" >points.points; try --quiet; rm points.points
mkdir points.h5; try --quiet
