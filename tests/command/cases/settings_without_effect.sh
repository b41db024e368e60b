# SPDX-License-Identifier: GPL-3.0-or-later
# they are noted at their places, on standard error, and not under --quiet
set -e
{
    cat "$SOURCE/configs/single-flow.yaml"
    printf 'congestion:\n  spectrum_x:\n    delay_threshold: 9 us\n'
} > single.yaml
moefabric check single.yaml --set topology="$SOURCE/topologies/leaf-spine-100g.yaml" --set traffic.zipf_exponent=2 --json
moefabric run single.yaml --set topology="$SOURCE/topologies/leaf-spine-100g.yaml" --quiet --json > run.json
