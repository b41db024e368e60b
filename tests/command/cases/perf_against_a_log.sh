# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep in the columns of nccl-tests; a log of theirs beside it; and logs that are none.
sweep() {
    moefabric perf alltoall hgx-h100-roce.yaml --set cluster.racks=2 "$@"
}
sweep --sizes 64KiB:256KiB
# what was just printed is a log: against itself the error is what printing with two decimals rounds off
sweep --sizes 64KiB:128KiB > own.log || exit
sweep --against own.log
moefabric perf dispatch hgx-h100-roce.yaml --set cluster.racks=2 --sizes 64
printf '# header\nprogram: hello\n  1048576 262144 float none -1 12.x 1 1\n' > broken.log
sweep --against broken.log
echo "exit $?"
# a line that was cut off does not take its times from the next one
printf '  1048576\n  2097152 524288 float none -1 12.5 1 1\n' > cut.log
sweep --against cut.log
echo "exit $?"
awk 'BEGIN { for (i = 1; i <= 65; i++) print i * 1024, i, "float none -1 12.5 1 1" }' > long.log
sweep --against long.log
echo "exit $?"
echo "nothing here" > empty.log
sweep --against empty.log
echo "exit $?"
sweep --sizes 4MiB:1MiB
echo "exit $?"
moefabric perf alltoal hgx-h100-roce.yaml
echo "exit $?"
moefabric perf alltoall
echo "exit $?"
