# SPDX-License-Identifier: GPL-3.0-or-later
# Flows in place of packets: alone, beside packets, in what reads results, and where the model ends.
cat > small.yaml <<'YAML'
name: small
topology: leaf-spine-100g.yaml
cluster: {racks: 16, leaf_downlinks: 4, leaf_uplinks: 2, spines: 2}
traffic: {pattern: permutation, bytes: 1 MB}
policies: [ecmp+none, adaptive+none]
YAML
moefabric run small.yaml --model fluid --policy 1 -q -o fluid.h5 | grep -E 'rank time max|worst queue|fluid model'
moefabric run small.yaml --model fluid --policy 1 --threads 3 -q -o again.h5 >first.txt && cmp fluid.h5 again.h5 && echo same bytes
moefabric run small.yaml --policy 1 -q -o packet.h5 >second.txt
echo "diff: $(moefabric diff packet.h5 fluid.h5 | grep -c network_model)"
moefabric compare small.yaml --set network_model=both -q -o both.h5 | head -8 | grep -vE '^$|─'
moefabric show both.h5 | head -1
moefabric report both.h5 -q 2>/dev/null && test -s both.html && echo report
moefabric export both.h5 --folder tables -q && wc -l < tables/flows.csv
moefabric run small.yaml --policy 1 --model both -q
echo "exit $?"
moefabric run small.yaml --policy 1 --model smoke -q
echo "exit $?"
moefabric run small.yaml --policy 1 --model fluid -q --set 'failures=[{what: "leaf0:up0", action: down, at: 1 us}]'
echo "exit $?"
moefabric run small.yaml --policy 1 --model fluid -q --set 'failures=[{what: gpu0, action: stop_send, at: 0 s, for: 1 us}]'
echo "exit $?"
moefabric run small.yaml --policy 1 --model fluid --set 'record.interval=1 us' -o recorded.h5 >third.txt 2>notes.txt
grep note: notes.txt
