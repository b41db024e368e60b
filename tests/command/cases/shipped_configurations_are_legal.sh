# SPDX-License-Identifier: GPL-3.0-or-later
for configuration in "$SOURCE"/configs/*.yaml; do
    moefabric check "$configuration" > /dev/null || echo "refused: $configuration"
done
