# SPDX-License-Identifier: GPL-3.0-or-later
# The tables of switches and power in README.md and configs/README.md are what the program counts.
moefabric size "$SOURCE/configs/size-deepseek-v3.yaml" --list --json > list.json
python3 - "$SOURCE" <<'END'
import json, sys
rows = {}
for design in json.load(open("list.json"))["designs"]:
    sets = design["sets"]
    planes = int(sets["design.planes"])
    head = f"| {int(sets['design.gpus']):,} | {sets['design.nic_rate']}, {planes} plane{'s' if planes > 1 else ''} |"
    tiers = [design[tier] for tier in ("leaves", "spines", "super_spines") if design[tier] > 0]
    rows.setdefault(head, []).append(f" {' + '.join(map(str, tiers))}, {design['network_maximum_watts'] / 1000:.0f} kW |")
made = [head + "".join(cells) for head, cells in rows.items()]
for name in ("configs/README.md", "README.md"):
    written = [line.rstrip() for line in open(f"{sys.argv[1]}/{name}", encoding="utf-8") if " plane" in line and "kW |" in line]
    print(f"{name}: {len(written)} rows, {sum(line in made for line in written)} of them as counted")
    if name.startswith("configs"):
        print("\n".join(line for line in made if line not in written))
END
