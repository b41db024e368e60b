# SPDX-License-Identifier: GPL-3.0-or-later
# One process, two ranks, and three ranks of two threads write the same bytes: a dispatch with the exchange of counts, dispatch and
# combine in two hops, a backward pass with acknowledgements, InfiniBand (whose credits are checked over all ranks), and runs that end at a limit of simulated time.
command -v mpirun > /dev/null || { echo "mpirun is not installed"; exit 77; }
ldd "$(command -v moefabric)" | grep -q libmpi || { echo "this build has no MPI"; exit 77; }
# MPI libraries leave memory to the end of the process
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

same_bytes() {
    moefabric run "$@" -o one.h5 > one.txt 2> one.err
    alone=$?
    mpirun -n 2 moefabric run "$@" --threads 1 -o two.h5 > two.txt 2> two.err
    cmp one.h5 two.h5 && cmp one.txt two.txt && cmp one.err two.err && echo "exit $alone, same bytes"
}

set -- "$SOURCE/configs/quickstart-incast.yaml" --set traffic.tokens_per_gpu=8 --policy 4 --seed 1 --quiet
same_bytes "$@"
mpirun -n 3 moefabric run "$@" --threads 2 -o three.h5 > three.txt && cmp one.h5 three.h5 && echo "same bytes with threads"
same_bytes "$@" --set traffic.algorithm=two_hop --set 'traffic.phases=[dispatch, combine]'
same_bytes "$@" --set traffic.tokens_per_gpu=2 --set traffic.algorithm=nccl_p2p --set 'traffic.phases=[dispatch, combine, combine_backward, dispatch_backward]'
same_bytes "$SOURCE/configs/infiniband-moe.yaml" --set traffic.tokens_per_gpu=2 --policy 1 --seed 1 --quiet
same_bytes "$SOURCE/configs/permutation.yaml" --policy 1 --seed 2 --quiet --set limits.simulated_time=300us
same_bytes "$SOURCE/configs/single-flow.yaml" --quiet --set limits.stall_time=1us
