# SPDX-License-Identifier: GPL-3.0-or-later
# Four figures from three logs with noise of 1 %: all-to-alls on 2 and 6 nodes tell what each message takes from what a phase takes, DeepEP's tests what an SM copies. One row does not fit.
topology="$SOURCE/topologies/hgx-h100-roce.yaml"
perf() { moefabric perf "$1" "$topology" --set cluster.gpus_used=4 --set cluster.rails=4 \
    --set topology.gpu.base_latency=9us --set topology.gpu.message_cost=1us --set topology.gpu.kernel_floor=0us \
    --set topology.nic.usable_fraction=0.82 --set topology.gpu.sm_copy_rate=11GB/s --set "cluster.racks=$2" --sizes "$3" "$4" "$5"; }
noisy() { awk -v seed="$1" 'BEGIN { srand(seed) } /^#/ { print; next } { $6 = sprintf("%.2f", $6 * (0.99 + 0.02 * rand())); print }'; }
perf alltoall 2 64KiB:4MiB --seed 1 | noisy 3 >two.log || exit
perf alltoall 6 128KiB:2MiB --seed 1 | noisy 5 >six.log || exit
echo '[config] num_tokens=128, hidden=7168, num_topk=8' >deepep.log
for sms in 8 12 16; do
    perf dispatch 1 128:128 --set traffic.sms=$sms | awk -v sms=$sms -v factor="1.00$sms" '!/^#/ {
        printf "[tuning] Best dispatch (FP8): SMs %d, NVL chunk 8: %.2f us, 1.00 GB/s (NVL)\n", sms, $2 * factor }' >>deepep.log || exit
done
awk '$1 == 1048576 { $6 = 2 * $6 } { print }' two.log >odd.log
calibrate() { moefabric calibrate "$topology" "$@" --set cluster.gpus_used=4 --set cluster.rails=4 \
    --set topology.gpu.kernel_floor=0us --set cluster.racks=1; }
calibrate odd.log six.log deepep.log --output mine.yaml >fit.txt || exit
grep -o 'odd.log:.*left out' fit.txt | sed 's/ \{2,\}.*  /: /'
grep stays fit.txt | sed 's/ \{2,\}/ /g'
awk 'function near(what, found, known) { good = found > 0.97 * known && found < 1.03 * known; print what ":", good ? "within 3 %" : found " for " known }
     /^nic.usable/ { near("NIC", $2, 0.82) } /^gpu.base/ { near("base latency", $2, 9) }
     /^gpu.message/ { near("a message", $2, 1) } /^gpu.sm_copy/ { near("an SM", $2, 11) }' fit.txt
grep -c '# calibrated' mine.yaml && moefabric topology mine.yaml >/dev/null && echo "a topology"
moefabric calibrate "$topology" two.log --set cluster.gpus_used=3 --set cluster.rails=3
echo "exit $?"
