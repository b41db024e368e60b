# SPDX-License-Identifier: GPL-3.0-or-later
# Files larger, deeper or fuller than SECURITY.md allows are refused at once, with the right number.
python3 - <<'END'
begin = "name: a\ntopology: leaf-spine-100g.yaml\npolicies: [ecmp+none]\n"
open("large.yaml", "w").write(begin + "# " + "x" * (1 << 20) + "\n")
open("deep.yaml", "w").write(begin + "traffic: " + "[" * 17 + "]" * 17 + "\n")
open("full.yaml", "w").write(begin + "seeds: [" + "1, " * 20001 + "1]\n")
open("long.log", "w").write("# " + "x" * (1 << 26) + "\n")
END
for file in large deep full; do
    moefabric check $file.yaml
    echo "exit $?"
done
moefabric perf alltoall hgx-h100-roce.yaml --sizes 1MiB:1MiB --against long.log
echo "exit $?"
set --
while [ $# -lt 130 ]; do
    set -- "$@" --set seeds=1
done
moefabric check full.yaml "$@"
echo "exit $?"
