# SPDX-License-Identifier: GPL-3.0-or-later
# NICs that cannot place packets out of order, under policies that let them overtake: all three commands say so, and --quiet does not.
config="$SOURCE/configs/permutation.yaml"
set -- --set topology=hgx-h100-roce.yaml --set traffic.bytes=64KiB --set seeds=1 --set limits.simulated_time=1ms
moefabric check "$config" "$@" --set "policies=[adaptive+none]" 2>&1 >/dev/null | grep note
moefabric run "$config" "$@" --set "policies=[spray_random+none]" --output run.h5 2>&1 >/dev/null | grep note
moefabric compare "$config" "$@" --set "policies=[ecmp+none,adaptive+none]" --output compare.h5 2>&1 >/dev/null | grep note
moefabric run "$config" "$@" --set "policies=[adaptive+none]" --quiet --output run.h5 2>&1 >/dev/null | grep -c note || true
