# SPDX-License-Identifier: GPL-3.0-or-later
# A design of fewer GPUs than train cannot be: its step would be that of a larger one.
cp "$SOURCE/configs/size-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
sized() {
    moefabric size size-deepseek-v3.yaml -q -o size.h5 --set size.finalists=0 --set 'size.list=[{design.planes: 2}]' "$@"
    echo "exit $?"
}
sized --set training.gpus=4096 --set 'size.grid={design.gpus: [2048, 4096]}' --detail | sed -n 's/ *(.*//; /^designs/p; /^ *[0-9]/p; /^exit/p'
sized --set training.gpus=2048 --set 'size.grid={design.oversubscription: [1, 2]}' # the cluster that is simulated is one rack
