# SPDX-License-Identifier: GPL-3.0-or-later
# Each kind of tolerance, a little inside and a little outside. 44.6842 us is what the flow takes.
cat > table.yaml << END
table:
  title: a flow within a leaf
  source: none, for this test
  set_up: one flow of 2 MiB
  note: this value is wrong on purpose
  kind: completion
  configuration: $SOURCE/configs/validation/set-ups/packet-peer.yaml
  unit: us
  set: [traffic.pattern=single, traffic.destination=1]
rows:
  - {id: exact.in, what: last digit right, published: 44.6842, tolerance: exact}
  - {id: exact.out, what: last digit wrong, published: 44.6843, tolerance: exact}
  - {id: share.in, what: just within a share, published: 45.13, tolerance: 1 %}
  - {id: share.out, what: just beyond a share, published: 45.14, tolerance: 1 %}
  - {id: absolute.in, what: just within a distance, published: 44.18, tolerance: 0.505}
  - {id: absolute.out, what: just beyond a distance, published: 44.18, tolerance: 0.504}
  - {id: receiver, what: not the sender's time, published: 44.6842, tolerance: exact, side: receiver}
  - {id: unfinished, what: stopped by a limit, published: 44.6842, tolerance: exact, set: [limits.simulated_time=40 us]}
  - {id: later, what: not possible yet, published: 1, tolerance: exact, needs: a feature that is not there}
END
moefabric validate table.yaml --quiet
echo "ended with $?"
moefabric validate table.yaml --quiet --only '*.in' > /dev/null
echo "ended with $?"
moefabric validate table.yaml --quiet --only later > /dev/null
