# SPDX-License-Identifier: GPL-3.0-or-later
# A run in which nothing arrives for limits.stall_time ends as stalled, says what it knows, and says so in the result.
moefabric run "$SOURCE/configs/single-flow.yaml" --quiet --set limits.stall_time=1us -o out.h5 >out.txt
echo "exit $?"
h5dump -a "/runs/$(h5ls out.h5/runs | cut -d' ' -f1)/diagnosis" out.h5 | grep -o 'gpu[^"]*'
