# SPDX-License-Identifier: GPL-3.0-or-later
# One process, two ranks, and three ranks of two threads write the same bytes.
command -v mpirun > /dev/null || { echo "mpirun is not installed"; exit 77; }
ldd "$(command -v moefabric)" | grep -q libmpi || { echo "this build has no MPI"; exit 77; }
set -- "$SOURCE/configs/quickstart-incast.yaml" --set traffic.tokens_per_gpu=8 --policy 4 --seed 1 --quiet
moefabric run "$@" -o one.h5 > one.txt
# MPI libraries leave memory to the end of the process
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
mpirun -n 2 moefabric run "$@" --threads 1 -o two.h5 > two.txt
mpirun -n 3 moefabric run "$@" --threads 2 -o three.h5 > three.txt
cmp one.h5 two.h5 && cmp one.h5 three.h5 && cmp one.txt two.txt && echo "same bytes"
