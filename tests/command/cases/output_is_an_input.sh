# SPDX-License-Identifier: GPL-3.0-or-later
# A result never replaces the file that it is made from, under whatever name.
cp "$SOURCE/configs/single-flow.yaml" "$SOURCE/topologies/leaf-spine-100g.yaml" .
ln -s single-flow.yaml link.yaml
for name in single-flow.yaml ./single-flow.yaml leaf-spine-100g.yaml ''; do
    moefabric run link.yaml --quiet --output "$name"
    echo "exit $?"
done
cmp single-flow.yaml "$SOURCE/configs/single-flow.yaml" && cmp leaf-spine-100g.yaml "$SOURCE/topologies/leaf-spine-100g.yaml" && ls
