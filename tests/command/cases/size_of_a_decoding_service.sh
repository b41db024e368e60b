# SPDX-License-Identifier: GPL-3.0-or-later
# Decoding: tokens a second and GPU at a limit on the time of an output token; by the fluid model. Then what contradicts it.
try() {
    moefabric size "$SOURCE/configs/size-decode.yaml" --quiet --set size.finalists=0 -o out.h5 "$@"; echo "ends with $?"
}
try --set 'size.grid={traffic.tokens_per_gpu: [16, 32], decode.overlap: [true, false]}' --detail
try --set 'size.grid={traffic.tokens_per_gpu: [16]}' --set 'size.output_token_time=1 ms'
try --set 'size.grid={traffic.tokens_per_gpu: [16]}' --set decode.context=0 --set 'traffic.phases=[dispatch]'
