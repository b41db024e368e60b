# SPDX-License-Identifier: GPL-3.0-or-later
# Two packets that end with a token of 14,336 B (BF16) hold 6,144 B at least, and never the 8 KiB that the receiver waits for.
check() {
    moefabric check "$SOURCE/configs/quickstart-incast.yaml" --set traffic.tokens_per_gpu=8 --set traffic.combine_type=bf16 \
        --set 'traffic.phases=[combine]' --set traffic.exchange_counts=false --set 'policies=[ecmp+none]' \
        --set transport.window="$1" --set transport.acknowledge="$2" >out.txt
    echo "exit $?"
}
check '8 KiB' '8 KiB'
check '8 KiB' '6 KiB'
