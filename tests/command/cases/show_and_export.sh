# SPDX-License-Identifier: GPL-3.0-or-later
# A stored result prints the table that its run printed; its tables come out as CSV and as JSON.
moefabric compare "$SOURCE/configs/single-flow.yaml" --quiet --output result.h5 > first.txt || exit
moefabric show result.h5 > again.txt || exit
cmp first.txt again.txt && echo "same table"
moefabric export result.h5 --folder tables --quiet || exit
ls tables
head -n 2 tables/messages.csv
grep -c "" tables/runs.csv
grep "tx_bytes_phy" tables/counters.csv | head -n 2
moefabric export result.h5 --json | python3 -c '
import json, sys
result = json.load(sys.stdin)
print(result["title"], [run["messages"]["bytes"] for run in result["runs"]])'
# a folder that is there already is not touched
moefabric export result.h5 --folder tables
echo "exit $?"
find . -name "*part*"
moefabric export result.h5
echo "exit $?"
moefabric show "$SOURCE/configs/single-flow.yaml"
echo "exit $?"
# traffic beside what is measured is read again as well
moefabric run "$SOURCE/configs/single-flow.yaml" --quiet --set traffic.bytes=16KiB --output beside.h5 \
    --set 'background=[{name: other, pattern: ring, bytes: 4 KiB, group: 4}]' >/dev/null && moefabric show beside.h5 | tail -n 1 | cut -c1-60
