# SPDX-License-Identifier: GPL-3.0-or-later
# A set-up of the packet peer as htsim has it, .topo and .cm, gives what it gives as YAML: flow by flow.
set -e
base="$SOURCE/configs/validation/set-ups/packet-peer.yaml"
compare() { # NAME HOSTS, then what makes the traffic in YAML
    name=$1
    hosts=$2
    shift 2
    moefabric run "$base" --quiet --json -o yaml.h5 --set "cluster.racks=$hosts" "$@" > /dev/null
    moefabric run "$base" --quiet --json -o htsim.h5 --set "cluster.racks=$hosts" --set topology=htsim-leaf-spine.topo \
        --set traffic.pattern=connection_matrix --set "traffic.matrix=$PWD/$name.cm" > /dev/null
    python3 - "$name" << 'END'
import re
import subprocess
import sys

flows = []
for name in ("yaml.h5", "htsim.h5"):
    columns = {}
    for column in ("source", "destination", "bytes", "posted_ps", "completed_ps", "acknowledged_ps"):
        dump = subprocess.run(["h5dump", "-w", "0", "-y", "-d", f"/runs/000_ecmp+none_seed1/messages/{column}", name],
                              check=True, capture_output=True, text=True).stdout
        columns[column] = [int(number) for number in re.findall(r"\d+", dump.split("DATA {")[1].split("ATTRIBUTE")[0])]
    flows.append(columns)
assert flows[0] == flows[1]
print(sys.argv[1], len(flows[0]["bytes"]), "flows, the last acknowledged after", max(flows[0]["acknowledged_ps"]) / 1e6, "us")
END
}
command -v h5dump > /dev/null || { echo "skipped: no h5dump"; exit 77; }
printf 'Nodes 128\nConnections 1\n0->127 start 0 size 4096\n' > single.cm
compare single 128 --set traffic.pattern=single --set traffic.source=0 --set traffic.destination=127 --set 'traffic.bytes=4 KiB'
printf 'Nodes 65\nConnections 64\n' > incast.cm
for host in $(seq 0 63); do echo "$host->64 start 0 size 65536"; done >> incast.cm
compare incast 65 --set traffic.pattern=incast --set traffic.senders=64 --set traffic.destination=64 --set 'traffic.bytes=64 KiB'
moefabric check "$base" --set topology=htsim-fat-tree.topo --set 'traffic.bytes=8 KiB' | head -n 1
printf 'Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 400\nRadix_Dwn 4\n' > broken.topo
moefabric topology broken.topo || echo "exit $?"
printf 'Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 0\n' > broken.topo
moefabric check "$base" --set "topology=$PWD/broken.topo" || echo "exit $?"
moefabric explain MF-065
