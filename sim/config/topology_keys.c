// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The key tables of topology files. Sources are spelled out in `doc`: they are what `moefabric explain` prints.
 */
#include "config/key.h"
#include "config/topology.h"

#define UET_HTSIM "ultraethernet/uet-htsim 40ccb05"
#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)
#define SECTION(table) .keys = table, .n_keys = sizeof table / sizeof table[0]

static const char *const link_layers[] = {"ethernet", "infiniband", NULL};
static const char *const plane_failovers[] = {"hardware", "software", NULL};
static const char *const watchdog_actions[] = {"drop", "forward", "alert", NULL};
static const char *const plane_choices[] = {"packet", "queue_pair", NULL};
static const char *const wirings[] = {"rack", "rail", NULL};

static const struct key file_keys[] = {
    {"name", KEY_TEXT, .required = true, .doc = "Name of the topology, for reports.", FIELD(topology, name)},
    {"racks", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", "1",
     .doc = "NVLink domains: racks or nodes. A configuration's section `cluster` overrides it.",
     FIELD(topology, racks)},
    {"gpus_used", KEY_QUANTITY, QUANTITY_COUNT, "0", "1024", "0",
     .doc = "GPUs used of each domain; 0 = all of nvlink.gpus. A configuration's section `cluster` overrides it.",
     FIELD(topology, gpus_used)},
};

static const struct key gpu_keys[] = {
    {"base_latency", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "Software of a phase (launch of its kernel, synchronisation of its blocks, last flags) before its first "
            "byte can move. Acts, as all of this section, under traffic.kernel: platform.",
     FIELD(topology_gpu, base_latency_ps)},
    {"kernel_floor", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "The shortest time that a phase takes at a rank, however little is sent.",
     FIELD(topology_gpu, kernel_floor_ps)},
    {"message_cost", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "What a GPU, or the thread that works for it, takes to hand a message to its NIC, one after the other "
            "(NVIDIA nccl src/graph/tuning.cc: 1.0 us). Direct dispatch and combine hand over every token copy by "
            "itself.",
     FIELD(topology_gpu, message_cost_ps)},
    {"routing_map_cost", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 ms", "0",
     .doc = "What a streaming multiprocessor (SM) takes for one (token, rank) pair of the routing map; a phase begins "
            "with the scan of tokens × ranks of the group, shared out over traffic.sms.",
     FIELD(topology_gpu, routing_map_ps)},
    {"sm_copy_rate", KEY_REAL, QUANTITY_BYTE_RATE, NULL, "1 TB/s", "0",
     .doc = "Bytes that one SM copies to other GPUs over NVLink, or within its own; 0 = not limiting.",
     FIELD(topology_gpu, sm_copy_bytes_per_s)},
    {"sm_reduce_rate", KEY_REAL, QUANTITY_BYTE_RATE, NULL, "1 TB/s", "0",
     .doc = "Bytes that one SM reads and sums up in a combine; 0 = not limiting.",
     FIELD(topology_gpu, sm_reduce_bytes_per_s)},
};

static const struct key nvlink_keys[] = {
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1", .doc = "GPU places of an NVLink domain; 1 = no NVLink.",
     FIELD(topology_nvlink, gpus)},
    {"chips", KEY_QUANTITY, QUANTITY_COUNT, "0", "1024", "0",
     .doc = "NVSwitch chips of a domain (NVL72: 9 trays of 2, NVIDIA DGX GB200 documentation).",
     FIELD(topology_nvlink, chips)},
    {"links_per_gpu", KEY_QUANTITY, QUANTITY_COUNT, "0", "1024", "0",
     .doc = "NVLinks of a GPU, spread over the chips as evenly as they go: one each on NVL72; 18 over 4 chips are 5, "
            "4, 4, 5.",
     FIELD(topology_nvlink, links_per_gpu)},
    {"link_rate", KEY_QUANTITY, QUANTITY_RATE, NULL, "8 Tb/s", "0",
     .doc = "Raw rate of one NVLink and direction: 50 GB/s for NVLink 5, 25 GB/s for NVLink 4 (NVIDIA).",
     FIELD(topology_nvlink, link_rate_bits_per_s)},
    {"usable_fraction", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.80",
     .doc = "Share of link_rate that carries payload: 0.802 for NVLink 5, 0.824 for NVLink 4 (NVIDIA nccl "
            "src/graph/topo.h, SM100_NVLINK_BW, "
            "SM90_NVLINK_BW); DeepEP reaches up to 0.82.",
     FIELD(topology_nvlink, usable_fraction)},
    {"latency_up", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "100 us", "300 ns",
     .doc = "GPU to chip (estimate, no primary figure; the sum of up and down lies between NCCL's 0.6 us a hop and "
            "measured 0.72 us one way).",
     FIELD(topology_nvlink, latency_up_ps)},
    {"latency_down", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "100 us", "300 ns",
     .doc = "Chip to GPU (estimate, see latency_up).", FIELD(topology_nvlink, latency_down_ps)},
    {"record", KEY_QUANTITY, QUANTITY_BYTES, "64 B", "32 KiB", "4 KiB",
     .doc =
         "Largest piece that is simulated as one (a choice of the model; a token copy is never joined with the next).",
     FIELD(topology_nvlink, record_bytes)},
    {"credit_grain", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 MiB", "8 KiB",
     .doc = "Credits return in pieces of at least this (a choice of the model).",
     FIELD(topology_nvlink, credit_grain_bytes)},
    {"buffer", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "0",
     .doc = "Receive buffer of a link; 0 = 2 × round trip × rate (estimate, no primary figure).",
     FIELD(topology_nvlink, buffer_bytes)},
};

static const struct key nic_keys[] = {
    {"planes", KEY_QUANTITY, QUANTITY_COUNT, "1", "8", "1",
     .doc = "NIC ports of a GPU, each of the rate above in a fabric of its own, all alike (ConnectX-8: 2 x 400 or 4 x "
            "200 Gb/s; "
            "nic-configuration-operator, spectrum-x profiles).",
     FIELD(topology_nic, planes)},
    {"plane_choice", KEY_CHOICE, .names = plane_choices, .fallback = "packet",
     .doc = "Several planes: packet: each packet takes the port that is free first, of those that congestion control "
            "allows "
            "(hardware plane load balancing, arXiv:2605.21187; needs out_of_order); queue_pair: a queue pair keeps to "
            "one plane, in turn (software plane load balancing).",
     FIELD(topology_nic, plane_choice)},
    {"plane_failover", KEY_CHOICE, .names = plane_failovers, .fallback = "hardware",
     .doc = "Several planes: a plane that leads nowhere is left out by the NIC, 3 ms after it died, or by the "
            "communication "
            "library, after 1.08 s (arXiv:2605.21187: time to 75 % of the rate with 1 of 4 planes lost).",
     FIELD(topology_nic, plane_failover)},
    {"plane_failover_time", KEY_QUANTITY, QUANTITY_TIME, NULL, "281 s", "0",
     .doc = "In place of those times; 0 = theirs. A plane is used again as long after it is back.",
     FIELD(topology_nic, plane_failover_time_ps)},
    {"rate", KEY_QUANTITY, QUANTITY_RATE, "8 Mb/s", "6.4 Tb/s", .required = true, .doc = "Rate of one plane's port.",
     FIELD(topology_nic, rate_bits_per_s)},
    {"usable_fraction", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "1",
     .doc =
         "Share of the rate that transports reach, headers included. 1 unless a source says otherwise; ConnectX-7: "
         "0.989 "
         "(SimAI calbusbw.h: 48.5 of 50 GB/s are payload; with the headers, 4178 B of wire for 4096 B, that is 49.5).",
     FIELD(topology_nic, usable_fraction)},
    {"latency", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 ms", "500 ns",
     .doc = "Each way through the NIC (estimate, no primary figure; fits 3.6 us within a leaf, CPU to CPU, RoCE).",
     FIELD(topology_nic, latency_ps)},
    {"payload", KEY_QUANTITY, QUANTITY_BYTES, "64 B", "16 KiB", "4096 B",
     .doc = "Payload of a full packet: RoCE MTU 4096.", FIELD(topology_nic, payload_bytes)},
    {"header", KEY_QUANTITY, QUANTITY_BYTES, "0 B", "1 KiB", "82 B",
     .doc = "What a data packet adds on the wire: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, preamble 8, gap "
            "12 (IEEE 802.3; InfiniBand "
            "Architecture, annex RoCEv2).",
     FIELD(topology_nic, header_bytes)},
    {"control", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 KiB", "86 B",
     .doc = "Wire size of ACK, CNP and probe: the headers and AETH 4 (InfiniBand Architecture).",
     FIELD(topology_nic, control_bytes)},
    {"message_rate", KEY_REAL, QUANTITY_REAL, NULL, "1000000000000", "0",
     .doc = "Messages a second that the NIC starts at most; 0 = not limiting. Each of its data packets takes at least "
            "the inverse of it, which matters for messages of less than a packet.",
     FIELD(topology_nic, message_rate)},
    {"out_of_order", KEY_FLAG, .fallback = "true",
     .doc = "Packets may arrive in any order (direct data placement of Spectrum-X SuperNICs); else go-back-N.",
     FIELD(topology_nic, out_of_order)},
    {"retransmit_timeout", KEY_QUANTITY, QUANTITY_TIME, "1 us", "281 s", "4294967296 ns",
     .doc = "Without progress for so long: send again (4.096 us × 2^20, default of NVIDIA nccl NCCL_IB_TIMEOUT=20).",
     FIELD(topology_nic, retransmit_timeout_ps)},
    {"nack_interval", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "500 us",
     .doc = "Go-back-N: at most one NACK a sequence number in this time (HPCC ns-3 rdma-hw.cc).",
     FIELD(topology_nic, nack_interval_ps)},
    {"receive_rate", KEY_QUANTITY, QUANTITY_RATE, NULL, "6.4 Tb/s", "0",
     .doc = "Rate at which the host takes data from a plane's port (PCIe, C2C, memory); 0 = as it arrives. Below the "
            "port's rate the receive buffer fills; with PFC the NIC then pauses its leaf, else packets are discarded. "
            "A failure `slow_receive` does it to one NIC for a time.",
     FIELD(topology_nic, receive_rate_bits_per_s)},
    {"receive_buffer", KEY_QUANTITY, QUANTITY_BYTES, "64 B", "1 GiB", "1 MiB",
     .doc = "Receive buffer of a data class, where the host does not take data as it arrives (estimate: older "
            "ConnectX show a port buffer of 262016 B, half of it a class, in Mellanox' HowTo Tune Receive Buffers; "
            "mlnx_qos of a ConnectX-7 shows max_buffer_size=4151520).",
     FIELD(topology_nic, receive_buffer_bytes)},
    {"receive_headroom", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "0",
     .doc = "Part of receive_buffer that is kept for what is under way after a pause; 0 = automatic: (301 + 2.16 × "
            "metres of host_cable) × Gb/s + 2.72 × packet, in bytes (Linux drivers/net/ethernet/mellanox/mlx5/core/en/"
            "port_buffer.c, calculate_xoff), or what the latencies of the link let come, if that is more. The leaf is "
            "resumed 9216 B below (the same, MINIMUM_MAX_MTU).",
     FIELD(topology_nic, receive_headroom_bytes)},
};

/* Figures of a Spectrum-4 switch unless said otherwise. A spine takes the leaf's values where it gives none. */
static const struct key switch_keys[] = {
    {"model", KEY_TEXT, .doc = "Product, for the parts list.", FIELD(topology_switch, model)},
    {"ports", KEY_QUANTITY, QUANTITY_COUNT, "1", "4096", .required = true, .doc = "Ports of port_rate.",
     FIELD(topology_switch, ports)},
    {"port_rate", KEY_QUANTITY, QUANTITY_RATE, "8 Mb/s", "6.4 Tb/s", .required = true, .doc = "Rate of a port.",
     FIELD(topology_switch, port_rate_bits_per_s)},
    {"latency", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 ms", "600 ns",
     .doc = "Port to port (estimate, no primary figure for Spectrum-4; fits 5.6 us across leaves, CPU to CPU, RoCE).",
     FIELD(topology_switch, latency_ps)},
    {"cut_through", KEY_FLAG, .fallback = "true",
     .doc = "A packet is forwarded from its first bit (NVIDIA: Spectrum-4 is cut-through port to port); else from its "
            "last.",
     FIELD(topology_switch, cut_through)},
    {"lossless_pool", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "4 GB", "67737959 B",
     .doc = "Buffer shared by lossless traffic (SONiC sonic-buildimage device/mellanox SN5600, t0, 5 m cables: ingress "
            "lossless pool).",
     FIELD(topology_switch, lossless_pool_bytes)},
    {"lossy_pool", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "4 GB", "67737959 B",
     .doc = "Buffer shared by control and lossy traffic (estimate: as large as the lossless pool).",
     FIELD(topology_switch, lossy_pool_bytes)},
    {"lossless_alpha_shift", KEY_SIGNED, .minimum = "-8", .maximum = "7", .fallback = "0",
     .doc =
         "A lossless ingress may use 2^shift × the free pool before it pauses (SONiC SN5600 pg_profile_lookup.ini: 0).",
     FIELD(topology_switch, lossless_alpha_shift)},
    {"lossy_alpha_shift", KEY_SIGNED, .minimum = "-8", .maximum = "7", .fallback = "3",
     .doc = "A lossy queue may use 2^shift × the free pool before it drops (SONiC Mellanox q_lossy: 3).",
     FIELD(topology_switch, lossy_alpha_shift)},
    {"headroom", KEY_QUANTITY, QUANTITY_BYTES, NULL, "64 MiB", "231424 B",
     .doc =
         "Per ingress port: absorbs what is under way after a pause (SONiC SN5600 pg_profile_lookup.ini xoff: 400G, "
         "5 m 231424, 40 m 283648, "
         "300 m 677888). 0 = automatic: each port has the row of its speed (200G, 400G, 800G; the next up) and of its "
         "cable (the next length up; beyond 300 m on along the line through 40 m and 300 m), or what its latencies let "
         "come after a pause if that is more. `moefabric topology` prints both.",
     FIELD(topology_switch, headroom_bytes)},
    {"xon", KEY_QUANTITY, QUANTITY_BYTES, NULL, "64 MiB", "19456 B",
     .doc = "Below this a paused ingress resumes (SONiC SN5600 pg_profile_lookup.ini: 19456 at 400G).",
     FIELD(topology_switch, xon_bytes)},
    {"pfc", KEY_FLAG, .fallback = "true", .doc = "Priority flow control on the lossless class.",
     FIELD(topology_switch, pfc)},
    {"watchdog", KEY_FLAG, .fallback = "false",
     .doc =
         "PFC watchdog: a lossless queue that has been paused for watchdog_detection without a break is in a storm, in "
         "which watchdog_action says what is done, until it has not been paused for watchdog_restoration (SONiC's "
         "pfcwd; "
         "off, as there before it is started).",
     FIELD(topology_switch, watchdog)},
    {"watchdog_action", KEY_CHOICE, .fallback = "drop", .names = watchdog_actions,
     .doc = "PFC watchdog, what is done in a storm: drop: the queue is emptied and takes nothing. forward: it sends in "
            "spite of pauses, into buffers that may be full. alert: nothing, storms are counted (sonic-utilities "
            "pfcwd/main.py; drop is its default; sonic-net/sonic-mgmt 73245d1 docs/pfcwd/PFCWD_MMU_Change.md).",
     FIELD(topology_switch, watchdog_action)},
    {"watchdog_detection", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "281 s", "200 ms",
     .doc =
         "PFC watchdog: paused for so long is a storm (sonic-utilities pfcwd/main.py: DEFAULT_DETECTION_TIME = 200 ms; "
         "polled there every 200 ms, here at once).",
     FIELD(topology_switch, watchdog_detection_ps)},
    {"watchdog_restoration", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "281 s", "200 ms",
     .doc = "PFC watchdog: not paused for so long, the storm is over (sonic-utilities pfcwd/main.py: "
            "DEFAULT_RESTORATION_TIME = 200 ms).",
     FIELD(topology_switch, watchdog_restoration_ps)},
    {"ecn", KEY_FLAG, .fallback = "true", .doc = "Marks data packets by the depth of their egress queue.",
     FIELD(topology_switch, ecn)},
    {"ecn_minimum", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "159744 B",
     .doc = "Kmin: at or below nothing is marked (Cumulus Linux RoCE: 150 KB, which Spectrum-4 programs as 156 KiB).",
     FIELD(topology_switch, ecn_minimum_bytes)},
    {"ecn_maximum", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "1500000 B",
     .doc = "Kmax: above everything is marked (Cumulus Linux RoCE: 1.5 MB).",
     FIELD(topology_switch, ecn_maximum_bytes)},
    {"ecn_probability", KEY_REAL, QUANTITY_SHARE, "0", "1", "1",
     .doc = "Pmax: share that is marked at Kmax (Cumulus Linux RoCE: 100 %).", FIELD(topology_switch, ecn_probability)},
    {"queue_limit", KEY_QUANTITY, QUANTITY_BYTES, NULL, "4 GB", "0",
     .doc = "A lossy data queue of a port holds so much at most, whatever the pool says; 0 = the pool alone limits it.",
     FIELD(topology_switch, queue_limit_bytes)},
    {"trim", KEY_FLAG, .fallback = "false",
     .doc = "Data packets of lossy classes that find no room are cut to their header, which goes on with priority; the "
            "receiver answers it with a NACK (Cumulus Linux 5.15, Packet Trimming, Spectrum-4; NDP, SIGCOMM 2017). "
            "Needs transport.recovery: selective_repeat.",
     FIELD(topology_switch, trim)},
    {"trim_size", KEY_QUANTITY, QUANTITY_BYTES, "20 B", "4096 B", "256 B",
     .doc = "What is left of a trimmed packet on the wire (Cumulus Linux 5.15: 256 B, at most 1024 B; " UET_HTSIM
            ": 64 B).",
     FIELD(topology_switch, trim_size_bytes)},
    {"trim_queue_limit", KEY_QUANTITY, QUANTITY_BYTES, NULL, "4 GB", "0",
     .doc = "A control queue of a port that would hold more takes no header: it is dropped; 0 = 2 × queue_limit "
            "(" UET_HTSIM " compositequeue.cpp).",
     FIELD(topology_switch, trim_queue_limit_bytes)},
    {"trim_arriving", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.5",
     .doc = "Share of trims that hit the packet that arrives; the others hit the one that joined the queue last, whose "
            "place it takes (" UET_HTSIM " compositequeue.cpp).",
     FIELD(topology_switch, trim_arriving)},
    {"trim_priority", KEY_QUANTITY, QUANTITY_COUNT, "0", "1000000000", "100000",
     .doc = "Control packets, headers among them, that start for each data packet while both wait; 0 = always control "
            "first (" UET_HTSIM " compositequeue.cpp: 100,000 : 1).",
     FIELD(topology_switch, trim_priority)},
    {"power_typical", KEY_REAL, QUANTITY_POWER, NULL, "1 MW", "0",
     .doc = "Typical power of a switch, for the parts list; 0 = unknown.", FIELD(topology_switch, power_typical_watts)},
    {"power_maximum", KEY_REAL, QUANTITY_POWER, NULL, "1 MW", "0",
     .doc = "Largest power of a switch, for the parts list; 0 = unknown.", FIELD(topology_switch, power_maximum_watts)},
};

static const struct key infiniband_keys[] = {
    {"buffer", KEY_QUANTITY, QUANTITY_BYTES, NULL, "1 GiB", "0",
     .doc =
         "Receive buffer of a port for each virtual lane, which credits stand for; 0 = what a link needs to run at "
         "full rate: round trip × rate, one packet and one credit grain (estimate: those of Quantum switches are not "
         "public; larger ones spread congestion later).",
     FIELD(topology_infiniband, buffer_bytes)},
    {"credit_grain", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 MiB", "8 KiB",
     .doc =
         "Credits of a virtual lane return in pieces of at least this (a choice of the model; hardware counts blocks "
         "of 64 B and sends a flow-control packet at the latest every 65,536 symbol times: InfiniBand Architecture, "
         "volume 1, 7.9).",
     FIELD(topology_infiniband, credit_grain_bytes)},
};

static const struct key fabric_keys[] = {
    {"link_layer", KEY_CHOICE, .fallback = "ethernet", .names = link_layers,
     .doc =
         "What joins NICs and switches. ethernet: shared buffers, PFC, ECN; infiniband: credits of each virtual lane, "
         "nothing is dropped (section infiniband).",
     FIELD(topology_fabric, link_layer)},
    {"wiring", KEY_CHOICE, .fallback = "rack", .names = wirings,
     .doc =
         "rack: consecutive GPUs share a leaf; rail: GPUs with one index (modulo rails) of all domains share leaves.",
     FIELD(topology_fabric, wiring)},
    {"rails", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1",
     .doc = "Rail wiring: number of rails; divides the GPUs used of a domain.", FIELD(topology_fabric, rails)},
    {"crossed_gpus", KEY_TEXT,
     .doc =
         "GPUs whose NICs are mapped wrongly, in pairs of one NVLink domain that use each other's NIC: \"1, 2\" gives "
         "GPU 1 the NIC of GPU 2, on the rail of GPU 2, and the other way round (NCCL, UCX and DeepEP hybrid-ep take "
         "such "
         "a map from the PCIe tree or from NCCL_IB_HCA, UCX_NET_DEVICES, HYBRID_EP_NIC_MAPPING). Empty: every GPU has "
         "its own.",
     FIELD(topology_fabric, crossed_gpus)},
    {"leaf_downlinks", KEY_QUANTITY, QUANTITY_COUNT, "1", "4096", .required = true, .doc = "GPUs of a leaf.",
     FIELD(topology_fabric, leaf_downlinks)},
    {"leaf_uplinks", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096", "0",
     .doc = "Links of a leaf to all spines together; a multiple of spines.", FIELD(topology_fabric, leaf_uplinks)},
    {"spines", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096", "0",
     .doc = "Spine switches, with super-spines those of one pod; 0 = a single leaf.", FIELD(topology_fabric, spines)},
    {"super_spines", KEY_QUANTITY, QUANTITY_COUNT, "0", "16384", "0",
     .doc = "Switches that join the spines of all pods, with the figures of section `spine`; 0 = two tiers.",
     FIELD(topology_fabric, super_spines)},
    {"spine_uplinks", KEY_QUANTITY, QUANTITY_COUNT, "0", "4096", "0",
     .doc = "Three tiers: links of a spine to all its super-spines together; a multiple of super_spines ÷ "
            "super_spine_groups.",
     FIELD(topology_fabric, spine_uplinks)},
    {"pod_racks", KEY_QUANTITY, QUANTITY_COUNT, "0", "65536", "0",
     .doc = "Three tiers: racks of a pod (hosts, without NVLink), which leaves and spines of their own join; the last "
            "pod may have fewer.",
     FIELD(topology_fabric, pod_racks)},
    {"super_spine_groups", KEY_QUANTITY, QUANTITY_COUNT, "1", "4096", "1",
     .doc = "Three tiers: divides spines and super_spines. Of every pod the first spines ÷ groups spines are linked to "
            "the first group of super-spines, and so on; 1 = all to all; equal to spines: the classic fat tree.",
     FIELD(topology_fabric, super_spine_groups)},
    {"host_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", "5 m", .doc = "NIC to leaf (estimate: within a row).",
     FIELD(topology_fabric, host_cable_m)},
    {"spine_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", "20 m",
     .doc = "Leaf to spine (estimate: along a row).", FIELD(topology_fabric, spine_cable_m)},
    {"super_spine_cable", KEY_QUANTITY, QUANTITY_LENGTH, NULL, "10 km", "50 m",
     .doc = "Spine to super-spine (estimate: across rows).", FIELD(topology_fabric, super_spine_cable_m)},
    {"cable_latency", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 us", "5 ns", .doc = "Per metre of cable: light in fibre.",
     FIELD(topology_fabric, cable_latency_ps_per_m)},
    {"link_latency", KEY_QUANTITY, QUANTITY_TIME, NULL, "1 s", "0",
     .doc = "If given: the whole latency of every Ethernet link, in place of cable, NIC and switch latency (packet "
            "simulators give it so).",
     FIELD(topology_fabric, link_latency_ps)},
};

static const struct section sections[] = {
    {"", "What a cluster is made of.", SECTION(file_keys)},
    {"gpu", "Communication kernels on the GPU: what their software takes.", SECTION(gpu_keys),
     .offset = offsetof(struct topology, gpu)},
    {"nvlink", "One NVLink domain with its switch chips.", SECTION(nvlink_keys),
     .offset = offsetof(struct topology, nvlink)},
    {"nic", "The NIC of a GPU and its transport.", SECTION(nic_keys), .offset = offsetof(struct topology, nic)},
    {"leaf", "The switch that NICs are plugged into.", SECTION(switch_keys), .offset = offsetof(struct topology, leaf)},
    {"spine", "The switch that joins leaves, and the super-spine; where it gives no value it is as the leaf.",
     SECTION(switch_keys), .offset = offsetof(struct topology, spine), .amends = true},
    {"infiniband", "Credits of InfiniBand links (fabric.link_layer: infiniband).", SECTION(infiniband_keys),
     .offset = offsetof(struct topology, infiniband)},
    {"fabric", "How leaves, spines and super-spines are joined.", SECTION(fabric_keys),
     .offset = offsetof(struct topology, fabric)},
};

const struct schema *topology_keys(void) {
    static const struct schema schema = {"topology", sections, sizeof sections / sizeof sections[0]};
    return &schema;
}
