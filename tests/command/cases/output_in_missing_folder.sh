# SPDX-License-Identifier: GPL-3.0-or-later
# found before anything is simulated
moefabric compare "$SOURCE/configs/quickstart-collision.yaml" --quiet --output nowhere/result.h5
status=$?
find . -mindepth 1
exit $status
