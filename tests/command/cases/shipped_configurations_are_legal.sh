# SPDX-License-Identifier: GPL-3.0-or-later
for configuration in "$SOURCE"/configs/*.yaml; do
    set --
    case $configuration in
    *scale-8192.yaml) set -- --set traffic.tokens_per_gpu=16 ;; # all its tokens take a minute to draw where sanitizers watch
    esac
    moefabric check "$configuration" "$@" > /dev/null || echo "refused: $configuration"
done
