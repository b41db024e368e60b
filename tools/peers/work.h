// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What every peer is given: hosts on a leaf-spine fabric, and who sends how much to whom. And what it reports.
 */
#ifndef MOEFABRIC_PEERS_WORK_H
#define MOEFABRIC_PEERS_WORK_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The figures of tests/benchmark/cases/leaf-spine.yaml.
constexpr std::uint64_t link_bits_per_s = 400'000'000'000;
constexpr std::uint64_t link_latency_ps = 500'000;
constexpr std::uint32_t payload_bytes = 4096; // of a full packet
constexpr std::uint32_t header_bytes = 64;    // added on the wire
constexpr std::uint32_t ack_bytes = 64;       // on the wire

struct Flow {
    std::uint32_t source, destination;
    std::uint64_t bytes;

    std::uint64_t packets() const {
        return (bytes + payload_bytes - 1) / payload_bytes;
    }
    std::uint64_t wire_bytes() const {
        return bytes + packets() * header_bytes;
    }
    // On the wire; the last packet of a flow may be short.
    std::uint32_t packet_bytes(std::uint64_t number) const;
};

struct Work {
    std::uint32_t hosts, per_leaf, spines;
    std::vector<Flow> flows;

    std::uint32_t leaves() const {
        return hosts / per_leaf;
    }
    std::uint32_t leaf_of(std::uint32_t host) const {
        return host / per_leaf;
    }
    std::uint64_t packets() const;
    // Data packets put on links; with an ACK a packet there are as many hops of ACKs.
    std::uint64_t data_hops() const;
};

// Reads `hosts H per_leaf P spines S`, then a line `source destination bytes` a flow. Ends the program where that cannot be done.
Work read_work(int argc, char **argv);

// The flows of one host, served packet by packet in turn, as moefabric's NIC serves its queue pairs.
class Turns {
  public:
    void add(std::size_t flow, std::uint64_t packets);
    bool empty() const {
        return left.empty();
    }
    // The flow whose turn it is, and the number of its packet.
    std::size_t next(std::uint64_t &number);

  private:
    struct Entry {
        std::size_t flow;
        std::uint64_t sent, packets;
    };
    std::vector<Entry> left;
    std::size_t turn = 0;
};

double cpu_seconds();

// One line `key value …`: simulated end, data and ACK hops (0 where the model has no packets), CPU time of the simulation, peak memory.
void report(double end_us, std::uint64_t data_hops, std::uint64_t ack_hops, double cpu_s);

#endif
