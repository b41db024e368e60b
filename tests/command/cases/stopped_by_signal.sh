# SPDX-License-Identifier: GPL-3.0-or-later
# A signal stops the runs under way, and what there is so far is saved:
# for SIGTERM, and for SIGINT, which a shell keeps from what it runs in the background.
moefabric compare "$SOURCE/configs/permutation.yaml" --quiet --threads 1 --set traffic.bytes=1GiB --set limits.simulated_time=10s \
    -o TERM.h5 >TERM.out &
# not before the program has asked for the signal (bit of its number in the mask of caught ones), where that can be seen
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$!/status")
    [ $((0x${caught:-0} & 0x4000)) -eq $((0x4000)) ] && break
    sleep 0.2
done
sleep 0.3
kill -s TERM $!
wait $!
echo "TERM: exit $?"
h5dump -A -g /runs TERM.h5 | grep -c 'ATTRIBUTE "outcome"'
ls
rm -f TERM.*
# shells ignore SIGINT for background jobs, and what was ignored stays so: `timeout` sends it to a job in the foreground
timeout --preserve-status -s INT 3 moefabric compare "$SOURCE/configs/permutation.yaml" --quiet --threads 1 --set traffic.bytes=1GiB \
    --set limits.simulated_time=10s -o INT.h5 >INT.out
echo "INT: exit $?"
h5dump -A -g /runs INT.h5 | grep -c 'ATTRIBUTE "outcome"'
ls
