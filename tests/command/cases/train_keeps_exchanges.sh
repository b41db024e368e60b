# SPDX-License-Identifier: GPL-3.0-or-later
# With --cache exchanges are simulated once: by policy, whatever the step is, and with other traffic again. A file that is not as it was left is refused.
cp "$SOURCE/configs/training-deepseek-v3.yaml" "$SOURCE/topologies/gb300-nvl72-spectrumx.yaml" .
of() {
    moefabric train training-deepseek-v3.yaml -q --cache kept --set cluster.gpus_used=8 --set traffic.expert_parallelism=8 \
        --set traffic.tokens_per_gpu=64 --set training.sequence=64 --set training.gpus=512 --set training.pipeline_parallelism=16 \
        --set training.virtual_stages=2 --set training.global_batch=2048 --set seeds=2 --set 'policies=[ecmp+none, adaptive+none]' "$@"
}
count() { find kept -name 'exchanges-*.csv' | wc -l; }
of --policy 1 --json >first.json
count
of --policy 1 --json >again.json
cmp first.json again.json && count
of --json >both.json
count
of --set training.gpus=1024 --set training.global_batch=4096 >more.txt
count
of --set seeds=3 >other.txt
count
rm -r kept && of >/dev/null
file=$(find kept -name "exchanges-*.csv" | sort | head -n 1)
cp "$file" whole
sed '3s/,[0-9]*,/,1000000000000,/' whole >"$file" && of 2>&1 | sed 's/exchanges-[0-9a-f]*/exchanges-HASH/; s/^    .*,.*/    …/'
head -c -4 whole >"$file" && of 2>&1 | sed -n 's/exchanges-[0-9a-f]*/exchanges-HASH/p'
of --set network_model=both
of --cache training-deepseek-v3.yaml
echo $?
of --cache none/kept
