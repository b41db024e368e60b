# SPDX-License-Identifier: GPL-3.0-or-later
# What a changed setting did: keys that differ, and each policy's numbers side by side.
moefabric compare "$SOURCE/configs/single-flow.yaml" --quiet --output before.h5 > before.txt || exit
moefabric compare "$SOURCE/configs/single-flow.yaml" --quiet --output after.h5 --set traffic.bytes=4MB > after.txt || exit
moefabric diff before.h5 before.h5
echo "--"
moefabric diff before.h5 after.h5 | head -n 12
echo "--"
moefabric diff before.h5 after.h5 --json | python3 -c '
import json, sys
difference = json.load(sys.stdin)
print(difference["configuration"], [(policy["policy"], policy["same_traffic"]) for policy in difference["policies"]])'
moefabric diff before.h5
echo "exit $?"
moefabric diff before.h5 missing.h5
echo "exit $?"
