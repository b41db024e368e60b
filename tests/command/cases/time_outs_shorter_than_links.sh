# SPDX-License-Identifier: GPL-3.0-or-later
# Time-outs that end before anything can have come back, and a window of selective repeat without it: no use, no harm, the same for any number of threads.
cat > small.yaml <<END
name: small
topology: $SOURCE/topologies/gb200-nvl72-spectrumx.yaml
cluster: {racks: 4, gpus_used: 4}
traffic: {pattern: permutation, bytes: 16 KiB}
policies: [ecmp+none]
seeds: [1]
END
for setting in transport.retransmit_timeout=100ns transport.short_timeout=50ns transport.bandwidth_delay_window=1; do
    moefabric run small.yaml --quiet --threads 1 --set "$setting" --output one.h5 --json > one.json || exit
    moefabric run small.yaml --quiet --threads 2 --set "$setting" --output two.h5 --json > two.json || exit
    cmp one.h5 two.h5 && echo "$setting: the same"
done
