# SPDX-License-Identifier: GPL-3.0-or-later
mkdir result.h5
moefabric compare "$SOURCE/configs/quickstart-collision.yaml" --quiet --output result.h5
status=$?
find . -mindepth 1 -not -name result.h5
exit $status
