# SPDX-License-Identifier: GPL-3.0-or-later
# A step of 8,192 GPUs, its causes and its timeline are the same for any number of threads.
for threads in 1 2 3; do
    moefabric train "$SOURCE/configs/training-deepseek-v3.yaml" -q --threads $threads --set training.gpus=8192 --set network_model=fluid \
        --set seeds=3 --set 'policies=[ecmp+none, adaptive+spectrum_x]' --set cluster.racks=8 --set cluster.gpus_used=8 -o step.json >table.$threads && mv step.json step.$threads
done
cmp table.1 table.2 && cmp table.1 table.3 && cmp step.1 step.2 && cmp step.1 step.3
sed -n '1p; /^step time /p' table.1
