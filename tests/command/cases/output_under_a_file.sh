# SPDX-License-Identifier: GPL-3.0-or-later
echo kept > file
moefabric compare "$SOURCE/configs/quickstart-collision.yaml" --quiet --output file/result.h5
status=$?
cat file
exit $status
