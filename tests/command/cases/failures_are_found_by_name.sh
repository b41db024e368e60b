# SPDX-License-Identifier: GPL-3.0-or-later
# What is to fail is looked up in the fabric before anything is simulated: typing mistakes, and what cannot fail, are told with the line.
cat > failing.yaml <<'END'
name: failing
topology: gb200-nvl72-spectrumx.yaml
cluster: {racks: 2, gpus_used: 8}
traffic: {pattern: permutation, bytes: 64 KiB}
failures:
  - {what: "leaf0:up1", action: down, at: 1 us, for: 2 us}
  - {what: "leaf0:up1 -> spine0", action: lossy, at: 0 s, loss: 1 %}
  - {what: gpu3, action: slow, at: 0 s, rate: 25 %}
  - {what: spien0, action: down, at: 1 us}
policies: [ecmp+none]
END
moefabric check failing.yaml || true
moefabric run failing.yaml --quiet --set 'failures=[{what: rack0.nvswitch3, action: down, at: 0 s}]' || true
moefabric run failing.yaml --quiet --set 'failures=[{what: elsewhere, action: down, at: 0 s}]' || true
moefabric check failing.yaml --set 'failures=[{what: leaf0, action: down, at: 1 us, rate: 10 %, every: 3 us}]' >/dev/null
moefabric explain MF-055
