# SPDX-License-Identifier: GPL-3.0-or-later
# A NIC at a quarter of its rate, packets that a lossy link loses, a leaf that is gone for good: each shows in the table, the last as a stall.
flow="$SOURCE/configs/single-flow.yaml"
moefabric run "$flow" --quiet --set seeds=1 | grep "message time max"
moefabric run "$flow" --quiet --set seeds=1 --set 'failures=[{what: gpu0, action: slow, at: 0 s, rate: 25 %}]' | grep "message time max"
moefabric run "$flow" --quiet --set seeds=1 --set transport.retransmit_timeout=100us \
    --set 'failures=[{what: gpu0, action: lossy, at: 0 s, loss: 10 %}]' | grep -c "lost on links"
moefabric run "$flow" --quiet --set seeds=1 --set transport.retransmit_timeout=10us --set limits.stall_time=20ms \
    --set 'failures=[{what: gpu0, action: down, at: 1 us}]' >/dev/null || echo "exit $?"
# a GPU that is late by 1 ms, with all that it sends
moefabric run "$flow" --quiet --set seeds=1 --set 'failures=[{what: gpu0, action: stop_send, at: 0 s, for: 1 ms}]' | grep -E "simulated time|message time max"
for place in nic0 leaf0; do
    moefabric run "$flow" --quiet --set seeds=1 --set "failures=[{what: $place, action: stop_send, at: 0 s, for: 1 ms}]" 2>&1 | grep -E "error|hint" || true
done
# a leaf without a cable to any spine: no packet has a way to it, once routing knows
moefabric run "$SOURCE/configs/permutation.yaml" --quiet --set seeds=1 --set traffic.bytes=16KiB --set "policies=[adaptive+none]" \
    --set topology=leaf-spine-400g.yaml --set transport.retransmit_timeout=10us --set path.convergence=20us --set limits.stall_time=20ms \
    --set 'failures=[{what: leaf1, action: down, at: 0 s}]' 2>&1 >/dev/null | grep -o "[0-9]* packets knew no way" || true
