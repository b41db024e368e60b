# SPDX-License-Identifier: GPL-3.0-or-later
# One NVLink domain: nothing crosses the fabric, and there are figures all the same.
moefabric run "$SOURCE/configs/permutation.yaml" --set topology=gb200-nvl72-spectrumx.yaml --set cluster.racks=1 \
    --set cluster.gpus_used=8 --policy 1 --seed 1 --quiet --output result.h5
