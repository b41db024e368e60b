# SPDX-License-Identifier: GPL-3.0-or-later
set -e
for preset in deepseek-v3 qwen2-57b-a14b flux.1; do
    moefabric explain $preset | sed "/is a value of/,\$d"
done
