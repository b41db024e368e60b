// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The work on SimGrid's flow model: max-min fair rates on a two-level fat tree, no packets, no acknowledgements.
 *
 * The model is set to share bandwidth alone: no TCP corrections of bandwidth and latency, no window, no reverse traffic.
 * Which spine a flow takes is SimGrid's static rule (D-mod-k), so where flows collide differs from hashing.
 */
#include "work.h"

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

namespace {

void build(const Work &work, std::vector<sg4::Host *> &hosts) {
    const auto make_host = [&hosts](sg4::NetZone *zone, const std::vector<unsigned long> &, unsigned long id) {
        sg4::Host *host = zone->create_host("host-" + std::to_string(id), 1e9);
        hosts.push_back(host);
        return std::make_pair(host->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint *>(nullptr));
    };
    const sg4::FatTreeParams shape(2, {work.per_leaf, work.leaves()}, {1, work.spines}, {1, 1});
    sg4::create_fatTree_zone("fabric", nullptr, shape, sg4::ClusterCallbacks(make_host),
                             static_cast<double>(link_bits_per_s) / 8, static_cast<double>(link_latency_ps) * 1e-12,
                             sg4::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
}

void send_all(const Work &work, const std::vector<sg4::Host *> &hosts) {
    std::vector<sg4::CommPtr> flows;
    for (const Flow &flow : work.flows) {
        flows.push_back(sg4::Comm::sendto_async(hosts[flow.source], hosts[flow.destination], flow.wire_bytes()));
    }
    sg4::Comm::wait_all(flows);
}

} // namespace

int main(int argc, char **argv) {
    sg4::Engine engine(&argc, argv);
    const Work work = read_work(argc, argv);
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/bandwidth-factor:1");
    sg4::Engine::set_config("network/latency-factor:1");
    sg4::Engine::set_config("network/weight-S:0");
    sg4::Engine::set_config("network/TCP-gamma:0");
    sg4::Engine::set_config("network/crosstraffic:0");
    std::vector<sg4::Host *> hosts;
    build(work, hosts);
    sg4::Actor::create("all", hosts[0], [&work, &hosts] { send_all(work, hosts); });
    const double begin_s = cpu_seconds();
    engine.run();
    report(sg4::Engine::get_clock() * 1e6, 0, 0, cpu_seconds() - begin_s);
    return 0;
}
