# SPDX-License-Identifier: GPL-3.0-or-later
# Series: what is recorded is in the result file and, if asked for, in a CSV; names are looked up, and what does not fit is refused.
set -e
cat > series.yaml << 'YAML'
name: series
topology: leaf-spine-100g.yaml
cluster: {racks: 20}
traffic: {pattern: incast, senders: 4, destination: 0, bytes: 1 MB}
record: {interval: 20 us, links: [to_hosts, "leaf1:up0"], pairs: ["gpu1 -> gpu0"], quantities: [queue, rate, pauses]}
policies: [ecmp+dcqcn]
YAML
moefabric check series.yaml | grep '^series'
moefabric run series.yaml --quiet --json --threads 1 --series one.csv -o one.h5 > /dev/null
moefabric run series.yaml --quiet --json --threads 3 --series three.csv -o three.h5 > /dev/null
cmp one.h5 three.h5
cmp one.csv three.csv
head -n 1 one.csv
grep '^40000000,60000000,leaf0 → gpu0,' one.csv
grep '^40000000,60000000,gpu1 → gpu0 #0,sent' one.csv | sed 's/[0-9]*$/N/'
[ "$(cut -d, -f4 one.csv | sort -u | tr '\n' ' ')" = \
    'allowed_bits_per_s deepest_bytes paused_ps quantity queue_bytes rate_bits_per_s sent_bytes sent_packets utilisation window_packets ' ]
moefabric run series.yaml --set 'record.until=100 us' --json -o short.h5 2>&1 > /dev/null | grep '^note'
moefabric run series.yaml --set 'record.links=[uplinx]' --quiet || echo "exit $?"
moefabric run series.yaml --set 'record.links=["leaf0:up99"]' --quiet || echo "exit $?"
moefabric check series.yaml --set 'record.pairs=["gpu1 -> leaf0"]' || echo "exit $?"
moefabric check series.yaml --set 'record.until=1 us' --set 'record.from=2 us' || echo "exit $?"
moefabric check series.yaml --set 'limits.memory=100 KB' || echo "exit $?"
moefabric run series.yaml --set 'record.interval=0 s' --quiet --series none.csv || echo "exit $?"
moefabric check series.yaml --set 'record.interval=0 s' > /dev/null
[ ! -e none.csv ]
