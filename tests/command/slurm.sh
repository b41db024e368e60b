#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The Slurm example of configs/README.md on this machine: a controller and one node in a folder of their own, a sweep as an array with a task a point, and the
# job that puts the points together. The result has the bytes of a sweep without Slurm. Debian: slurm-wlm and munge; daemons must be started by root.
#
#     slurm.sh PROGRAM CONFIG        exit code 77 (skipped) where Slurm or munge is not installed, or this is not root
set -eu
program=$(realpath "$1") config=$(realpath "$2")
PATH=$(dirname "$program"):$PATH:/usr/sbin:/sbin
export PATH
for tool in munged slurmctld slurmd sbatch sinfo squeue; do
    command -v "$tool" >/dev/null || { echo "skipped: there is no $tool (Debian: slurm-wlm, munge)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: Slurm's daemons are started by root"; exit 77; }

work=$(mktemp -d /tmp/moefabric-slurm-XXXXXX)
pids=
# Ends what was started here, newest first, and takes the folder away.
clean_up() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
chmod 755 .
mkdir spool state points

# A key and a socket of its own for munge, so that a system that has one is left alone.
dd if=/dev/urandom of=munge.key bs=1024 count=1 2>munge.txt
chmod 400 munge.key
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" >munged.txt 2>&1 &
pids="$! $pids"

host=$(hostname -s) processors=$(nproc)
cat >slurm.conf <<END
ClusterName=moefabric
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$processors State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
SLURM_CONF=$work/slurm.conf
export SLURM_CONF

# Waits up to a minute for a command to succeed.
await() {
    tries=0
    until "$@" >await.txt 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 120 ] || { echo "$* did not come about:"; cat await.txt slurmctld.txt slurmd.txt 2>/dev/null; exit 1; }
        sleep 0.5
    done
}
is_idle() { sinfo --noheader --format=%t | grep -q idle; }
is_over() { [ -z "$(squeue --noheader)" ]; }

await test -S munge.socket
slurmctld -D -c >slurmctld.txt 2>&1 &
pids="$! $pids"
slurmd -D >slurmd.txt 2>&1 &
pids="$! $pids"
await is_idle

moefabric sweep "$config" --quiet --output "$work/alone.h5" >alone.txt
points=$(moefabric sweep "$config" --list --output "$work/sweep.h5" | tail -n +3 | wc -l)
# shellcheck disable=SC2016 # the variable is for the task
array=$(sbatch --parsable --output="$work/task-%a.txt" --array=0-$((points - 1)) --cpus-per-task=1 --export=ALL --wrap \
    "moefabric sweep $config --index \$SLURM_ARRAY_TASK_ID --threads 1 --quiet --output $work/sweep.h5")
sbatch --parsable --output="$work/merge.txt" --dependency=afterany:"$array" --wrap \
    "moefabric sweep $config --jobs 1 --output $work/sweep.h5" >merge-id.txt
await is_over
[ -f sweep.h5 ] || { echo "no result came:"; cat task-*.txt merge.txt slurmctld.txt slurmd.txt; exit 1; }
grep -q "$points of $points points have been run before" merge.txt || { echo "the array did not run all points:"; cat merge.txt task-*.txt; exit 1; }
cmp alone.h5 sweep.h5
echo "an array of $points tasks and the sweep alone gave the same bytes"
