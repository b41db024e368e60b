// SPDX-License-Identifier: GPL-3.0-or-later
#include "work.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

std::uint32_t Flow::packet_bytes(std::uint64_t number) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(payload_bytes, bytes - number * payload_bytes)) +
           header_bytes;
}

std::uint64_t Work::packets() const {
    std::uint64_t sum = 0;
    for (const Flow &flow : flows) {
        sum += flow.packets();
    }
    return sum;
}

std::uint64_t Work::data_hops() const {
    std::uint64_t sum = 0;
    for (const Flow &flow : flows) {
        sum += flow.packets() * (leaf_of(flow.source) == leaf_of(flow.destination) ? 2 : 4);
    }
    return sum;
}

Work read_work(int argc, char **argv) {
    Work work{};
    std::string word[3];
    std::ifstream file(argc == 2 ? argv[1] : "");
    if (!(file >> word[0] >> work.hosts >> word[1] >> work.per_leaf >> word[2] >> work.spines) || word[0] != "hosts" ||
        word[1] != "per_leaf" || word[2] != "spines") {
        std::fprintf(stderr, "usage: %s WORK: a file that begins with `hosts H per_leaf P spines S`\n", argv[0]);
        std::exit(2);
    }
    for (Flow flow{}; file >> flow.source >> flow.destination >> flow.bytes;) {
        work.flows.push_back(flow);
    }
    if (!file.eof() || work.flows.empty()) {
        std::fprintf(stderr, "%s: a flow is `source destination bytes`\n", argv[1]);
        std::exit(2);
    }
    return work;
}

void Turns::add(std::size_t flow, std::uint64_t packets) {
    left.push_back({flow, 0, packets});
}

std::size_t Turns::next(std::uint64_t &number) {
    turn = turn < left.size() ? turn : 0;
    Entry &entry = left[turn];
    const std::size_t flow = entry.flow;
    number = entry.sent++;
    if (entry.sent == entry.packets) {
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(turn));
    } else {
        turn++;
    }
    return flow;
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Largest resident size of this program; getrusage would count the one that started it too.
static double peak_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kilobytes = 0;
        if (word == "VmHWM:" && status >> kilobytes) {
            return kilobytes * 1024e-6;
        }
    }
    return 0;
}

void report(double end_us, std::uint64_t data_hops, std::uint64_t ack_hops, double cpu_s) {
    std::printf("hops %llu data_hops %llu cpu_s %.6f end_us %.6f peak_mb %.1f\n",
                static_cast<unsigned long long>(data_hops + ack_hops), static_cast<unsigned long long>(data_hops),
                cpu_s, end_us, peak_mb());
}
