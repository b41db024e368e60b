# SPDX-License-Identifier: GPL-3.0-or-later
# Logs in the forms of DeepEP's tests beside the simulation of them: normal kernels between nodes and within one, low-latency kernels; and logs that are none.
dispatch() {
    moefabric perf dispatch hgx-h100-quantum2.yaml --set 'policies=[adaptive+none]' --set cluster.racks=2 --set traffic.exchange_counts=false "$@"
}
printf '[config] num_tokens=64, hidden=7168, num_topk_groups=2, num_topk=8\n[tuning] SMs 24, NVL chunk 4, RDMA chunk 4: 20 + 99 us, 1.00 GB/s (RDMA), 2.00 GB/s (NVL) \n[tuning] Best dispatch (FP8): SMs 24, NVL chunk 20, RDMA chunk 16: 21 + 52 us, 18.10 GB/s (RDMA), 59.20 GB/s (NVL)\n[tuning] Best dispatch (BF16): SMs 24, NVL chunk 20, RDMA chunk 16: 21 + 77 us, 23.70 GB/s (RDMA), 77.50 GB/s (NVL)\n[tuning] Best combine: SMs 24, NVL chunk 4, RDMA chunk 16: 22 + 80 us, 22.90 GB/s (RDMA), 74.80 GB/s (NVL)\n' > normal.log
dispatch --against normal.log
moefabric perf combine hgx-h100-quantum2.yaml --set 'policies=[adaptive+none]' --set cluster.racks=2 --against normal.log --set traffic.exchange_counts=false --set 'traffic.phases=[combine]'
printf '[rank 0] Dispatch bandwidth: 63.00 GB/s, avg_t=118.00 us | Combine bandwidth: 74.00 GB/s, avg_t=195.00 us\n[rank 1] Dispatch bandwidth: 63.00 GB/s, avg_t=120.00 us | Combine bandwidth: 74.00 GB/s, avg_t=197.00 us\n' > low.log
dispatch --against low.log --sizes 128 --set traffic.algorithm=direct
dispatch --against low.log
echo "exit $?"
printf '[tuning] Best dispatch (FP8): SMs 16, NVL chunk 20, RDMA chunk 16: 43.24 GB/s (RDMA), 141.14 GB/s (NVL)\n' > old.log
dispatch --against old.log --sizes 64
echo "exit $?"
echo nothing > empty.log
dispatch --against empty.log --sizes 64
echo "exit $?"
# neighbours of a node, in the columns of sendrecv_perf
moefabric perf sendrecv hgx-h200.yaml --set 'policies=[adaptive+none]' --set cluster.racks=1 --sizes 4KiB:64KiB
