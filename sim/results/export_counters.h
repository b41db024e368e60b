// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What NICs and ports counted, under the names that a Linux host with an NVIDIA NIC gives such counters, for comparing a simulated
 * cluster with a real one.
 */
#ifndef MOEFABRIC_RESULTS_EXPORT_COUNTERS_H
#define MOEFABRIC_RESULTS_EXPORT_COUNTERS_H

#include "results/measurement.h"

#include <stdio.h>

/**
 * Writes lines `POLICY,SEED,PLACE,COUNTER,VALUE` without a heading. PLACE is gpuN for counters of a NIC, else the link whose transmitter counted.
 *
 * Of a NIC (/sys/class/infiniband/DEVICE/ports/1/hw_counters): np_cnp_sent and rp_cnp_handled (congestion notifications sent as receiver,
 * acted on as sender), out_of_sequence (data packets that were not the next one), duplicate_request (data packets that were there
 * already), roce_adp_retrans (here: all data packets sent again; the hardware counts retransmissions of its adaptive kind). Of a port of the
 * fabric (ethtool -S): tx_bytes_phy, tx_packets_phy, rx_prio3_pause (pauses obeyed), rx_prio3_pause_duration (microseconds under pause, as in
 * the mlx5 driver), tx_discards_phy (packets dropped for want of buffer); of InfiniBand links that ever waited for credit
 * port_xmit_wait (/sys/class/infiniband/DEVICE/ports/1/counters; here in nanoseconds, the hardware's ticks are not public). Names: Linux kernel, Documentation/networking/device_drivers/ethernet/mellanox/mlx5,
 * and NVIDIA's page on RDMA hardware counters.
 */
void export_counters(const struct measurement *measurement, FILE *stream);

#endif
