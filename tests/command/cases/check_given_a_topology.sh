# SPDX-License-Identifier: GPL-3.0-or-later
cd "$SOURCE" || exit
moefabric check topologies/hgx-h100-roce.yaml
code=$?
moefabric run configs/validation/alltoall-busbw.yaml
exit $code
