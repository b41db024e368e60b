# SPDX-License-Identifier: GPL-3.0-or-later
# A log made of simulated times with known figures and noise of 1 % gives these figures back within 3 %; logs that say too little are refused.
topology="$SOURCE/topologies/hgx-h200.yaml"
moefabric perf alltoall "$topology" --set cluster.racks=1 --set 'policies=[adaptive+none]' --sizes 64KiB:64MiB \
    --set topology.nvlink.usable_fraction=0.7 --set topology.gpu.base_latency=12us --set topology.gpu.kernel_floor=0us > exact.log || exit
awk 'BEGIN { srand(7) } /^#/ { print; next } { $6 = sprintf("%.2f", $6 * (0.99 + 0.02 * rand())); print }' exact.log > noisy.log
moefabric calibrate "$topology" noisy.log --set cluster.racks=1 --set 'policies=[adaptive+none]' --output mine.yaml > fit.txt || exit
awk '/^nvlink.usable_fraction/ { good = $2 > 0.679 && $2 < 0.721; print "fraction within 3 %:", good ? "yes" : $0 }
     /^gpu.base_latency/ { good = $2 > 11.64 && $2 < 12.36; print "latency within 3 %:", good ? "yes" : $0 }
     /message_cost|sm_copy_rate/ { print }' fit.txt
# the file is a topology, with everything else as it was
moefabric topology mine.yaml > written.txt && grep -c calibrated mine.yaml
diff "$topology" mine.yaml | grep -c '^<'
# only large sizes: latency cannot be seen in them
grep -E '^#| (16777216|33554432|67108864) ' noisy.log > large.log
moefabric calibrate "$topology" large.log --set cluster.racks=1 --set 'policies=[adaptive+none]' --output none.yaml
echo "exit $?"
test -e none.yaml || echo "nothing written"
moefabric calibrate "$topology"
echo "exit $?"
