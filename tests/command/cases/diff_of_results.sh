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
# a policy that only one of them has is told of from either side
moefabric run "$SOURCE/configs/single-flow.yaml" --quiet --output other.h5 --set "policies=[ecmp+dcqcn]" > other.txt || exit
moefabric diff before.h5 other.h5 | grep "only in"
known_to() {
    moefabric diff "$1" "$2" --json | python3 -c '
import json, sys
print([(policy["policy"], policy["in_first"], policy["in_second"]) for policy in json.load(sys.stdin)["policies"]])'
}
known_to before.h5 other.h5
known_to other.h5 before.h5
moefabric diff before.h5
echo "exit $?"
moefabric diff before.h5 missing.h5
echo "exit $?"
