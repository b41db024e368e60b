# SPDX-License-Identifier: GPL-3.0-or-later
# What is written never takes the place of what it is made from, by whatever name; nor does one output take that of another.
cat > small.yaml <<END
name: small
topology: $SOURCE/topologies/gb200-nvl72-spectrumx.yaml
cluster: {racks: 4, gpus_used: 4}
model: {preset: gpt-oss-20b}
traffic: {tokens_per_gpu: 8}
policies: [ecmp+none]
seeds: [1]
record: {interval: 10 us}
END
moefabric place small.yaml --steps 20 --quiet --output experts.csv > place.out || exit
{ cat small.yaml; echo 'placement: {kind: file, file: experts.csv}'; } > placed.yaml
moefabric run small.yaml --quiet --output small.h5 > run.out || exit
cp small.h5 small.html
ln -s small.h5 link.h5
cat small.yaml small.h5 experts.csv | cksum > before
moefabric report small.h5 --output small.h5
moefabric report small.h5 --output link.h5
moefabric report small.html
moefabric report small.h5 --output ''
moefabric place small.yaml --steps 20 --quiet --output ./small.yaml
moefabric place placed.yaml --steps 20 --quiet --output experts.csv
moefabric run placed.yaml --quiet --output experts.csv
moefabric run small.yaml --quiet --output new.h5 --series ./new.h5
cat small.yaml small.h5 experts.csv | cksum | cmp - before && echo untouched; ls new.h5 2>/dev/null
mkfifo pipe.h5 pipe.npy
moefabric show pipe.h5
moefabric gate small.yaml --set traffic.gate=measured --set gate.file=pipe.h5
moefabric gate small.yaml --set traffic.gate=measured --set gate.file=pipe.npy
exit 0
