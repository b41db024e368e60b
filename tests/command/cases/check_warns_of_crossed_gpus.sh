# SPDX-License-Identifier: GPL-3.0-or-later
# A GPU on a wrong rail is warned of with what it costs; check tells what each rail's NICs send and which NIC each GPU has.
moefabric check "$SOURCE/configs/rails-protect.yaml" --set cluster.racks=4 --set traffic.tokens_per_gpu=16 --set cluster.crossed_gpus='"1, 2"' | sed -n '/^  rail /,/NICs/p'
moefabric check "$SOURCE/configs/rails-protect.yaml" --set cluster.racks=4 --set traffic.tokens_per_gpu=16 --set cluster.crossed_gpus='"1, 2"' --json 2>/dev/null |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["nics"][:4], sep="\n")'
