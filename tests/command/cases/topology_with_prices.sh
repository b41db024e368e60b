# SPDX-License-Identifier: GPL-3.0-or-later
# What parts cost by a file of one's own, and the energy of a training.
cat > prices.yaml <<END
currency: credits
prices:
  "Ethernet switch*": 1000
  "optical module of a switch*": 12.5
  "warp core": 1
energy: 0.1
overhead: 1.25
END
moefabric topology "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" --prices prices.yaml --time "54 d" | sed -n '/^  parts/,/^$/p'
sed -i 's/12.5/dear/; s/overhead: 1.25/overhed: 1/' prices.yaml
moefabric topology "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" --prices prices.yaml; echo "ends with $?"
moefabric topology "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" --prices nowhere.yaml; echo "ends with $?"
moefabric topology "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" --time "9 parsecs"; echo "ends with $?"
