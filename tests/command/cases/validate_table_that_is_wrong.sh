# SPDX-License-Identifier: GPL-3.0-or-later
# All mistakes of all tables at once, at their places, before anything is simulated.
mkdir tables
cat > tables/1-rows.yaml << 'END'
table:
  title: rows with mistakes
  source: none, for this test
  set_up: none
  kind: hash_load
  quantity: slowdown
rows:
  - {id: one, what: good, flows: 4, uplinks: 4, published: 2.1, tolerance: 2 %}
  - {id: one, what: the same id, flows: 4, uplinks: 4, published: 2.1, tolerance: 2 %}
  - {id: two, what: no value, flows: 4, uplinks: 4, tolerance: 2 %}
  - {id: three, what: no number, flows: 4, uplinks: 4, published: about 2, tolerance: 2 %}
  - {id: four, what: no tolerance, flows: 4, uplinks: 4, published: 2.1}
  - {id: five, what: a key that is not there, flows: 4, uplink: 4, published: 2.1, tolerance: 2 %}
  - {id: six, what: no multiple, flows: 5, uplinks: 4, published: 2.1, tolerance: 2 %}
  - {id: seven, what: a name, flows: 4, uplinks: 4, quantity: slow, published: 2.1, tolerance: 2 %}
  - just a text
END
cat > tables/2-kind.yaml << 'END'
table: {title: no such kind, source: none, set_up: none, kind: completions}
rows:
  - {id: eight}
END
cat > tables/3-setup.yaml << END
table:
  title: set-ups with mistakes
  source: none, for this test
  set_up: none
  kind: completion
  configuration: ../packet-peer.yaml
  unit: us
  published: 1
  tolerance: 1 %
rows:
  - {id: nine, what: no such key, set: [traffic.pattern=single, traffic.byte=4 KiB]}
  - {id: ten, what: no such unit, set: ["traffic.bytes=4 Kb"]}
  - {id: eleven, what: two policies, set: ["policies=[ecmp+none, adaptive+none]"]}
  - {id: twelve, what: no such file, configuration: nowhere.yaml}
  - {id: thirteen, what: too few destinations, destinations: [1, 0]}
  - {id: fourteen, what: two to one, set: [cluster.racks=3], destinations: [1, 2, 1]}
  - {id: fifteen, what: no list, set: traffic.pattern=single}
END
cat > tables/4-parts.yaml << 'END'
tables: {title: misspelt}
rows: []
END
sed "s|topology: .*|topology: $SOURCE/topologies/leaf-spine-400g.yaml|" "$SOURCE/configs/validation/set-ups/packet-peer.yaml" > packet-peer.yaml
moefabric validate tables/1-rows.yaml 2> errors
echo "ended with $?"
moefabric validate tables
