# SPDX-License-Identifier: GPL-3.0-or-later
# Limits of wall time and memory end a study early with exit code 5 and leave nothing half-written.
for limit in 'wall_time=1ns' 'memory=1MB'; do
    moefabric compare "$SOURCE/configs/permutation.yaml" --quiet --set "limits.$limit" -o out.h5
    echo "exit $?"
done
ls
