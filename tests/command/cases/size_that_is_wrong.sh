# SPDX-License-Identifier: GPL-3.0-or-later
# Mistakes of a sizing, all at once and each at its place; targets that cannot be reached say what makes it so.
write() {
    printf 'name: fabric\ntopology: leaf-spine-100g.yaml\ncluster: {racks: 8}\ntraffic: {pattern: ring, bytes: 1 KiB}\npolicies: [ecmp+none]\nsize:\n' > size.yaml
    for line in "$@"; do printf '  %s\n' "$line" >> size.yaml; done
}
try() {
    moefabric size size.yaml --quiet "$@"; echo "ends with $?"
}
space='grid: {design.oversubscription: [1, 2]}'
write 'all_to_all_p99: 1 ms'; try                                                       # no space
write 'all_to_all_p99: 1 ms' 'grid: {design.planes: []}'; try                           # an empty one
write "$space"; try                                                                     # no target
write 'all_to_all_p99: 1 ms' 'grid:' '  design.gpus: {from: 1, to: 1000, step: 1}' '  design.planes: [1, 2, 4, 8]' \
    '  traffic.bytes: {from: 1 KiB, to: 250000 KiB, step: 1 KiB}'; try                  # 10^9 points
write 'all_to_all_p99: 1 ms' 'step_time: 1 s' 'power: 1 kW' 'rack_power: 2 kW' 'budget: 10' 'racks: 4' "$space"; try --set design.gpus=8
write 'all_to_all_p99: 1 ms' 'grid: {design.planes: [3, 5]}'; try                       # none can be built
write 'all_to_all_p99: 1 us' "$space"; try                                              # the target itself
write 'all_to_all_p99: 1 ms' 'racks: 3' 'grid: {design.gpus: [4, 8]}'; try              # a limit
write 'all_to_all_p99: 1 ms' "$space"; try --set design.oversubscription=2              # varied and given
try --set 'policies=[ecmp+none, adaptive+none]'
try --output size.yaml
