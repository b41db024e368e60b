# SPDX-License-Identifier: GPL-3.0-or-later
# every mistake at once, nothing simulated, nothing written
moefabric run "$SOURCE/configs/single-flow.yaml" --set traffic.bytes=3Gb --set traffic.bites=1KiB --set topology.nic.rate=fast
status=$?
find . -mindepth 1
exit $status
