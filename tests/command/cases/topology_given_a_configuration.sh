# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SOURCE" && moefabric topology configs/permutation.yaml
