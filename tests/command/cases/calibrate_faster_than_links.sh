# SPDX-License-Identifier: GPL-3.0-or-later
# A log that is faster than the links can be is refused as such, whatever the search tries on its way; one at their very rate is not.
topology="$SOURCE/topologies/hgx-h200.yaml"
perf() { moefabric perf alltoall "$topology" --set cluster.racks=1 --set 'policies=[adaptive+none]' --sizes 256KiB:32MiB \
    --set topology.gpu.base_latency=5us --set topology.gpu.kernel_floor=0us "$@"; }
calibrate() { moefabric calibrate "$topology" "$1" --set cluster.racks=1 --set 'policies=[adaptive+none]' --set topology.gpu.kernel_floor=0us >fit.txt; echo "exit $?"; }
perf --set topology.nvlink.usable_fraction=1 >peak.log
calibrate peak.log
grep -o '^nvlink.usable_fraction *[0-9.]*' fit.txt
awk '/^#/ { print; next } { $6 /= 2; print }' peak.log >fast.log
calibrate fast.log
