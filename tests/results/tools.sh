#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Other programs can read what is written: HDF5's own tools the result, Python the JSON. Argument: the program write_samples.
set -eu
for tool in h5ls h5dump python3; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"

# A slash in a policy's name opens no group; every column is there with its length.
h5ls -r "$folder/result.h5" >"$folder/list"
grep -q '/runs/000_a_b.*/messages/posted_ps *Dataset {9}' "$folder/list"
grep -q '/runs/000_a_b.*/flows/slowdown *Dataset {7}' "$folder/list"
grep -q '/runs/000_a_b.*/totals/simulated_ps *Dataset {SCALAR}' "$folder/list"
grep -q '/runs/000_a_b.*/rack_bytes *Dataset {2, 2}' "$folder/list"
h5dump "$folder/result.h5" >"$folder/dump"
grep -q '10000064' "$folder/dump"
grep -q 'cluster: {racks: 2}' "$folder/dump"

for file in "$folder/result.run.json" "$folder/comparison.json"; do
    python3 -m json.tool "$file" >/dev/null
done
echo "read by h5ls, h5dump and python3"
