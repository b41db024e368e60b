// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The work on ns-3's UDP and IPv4: sockets, global routing with a random one of equal paths for every packet, no queue
 * discipline above the devices. Packets are as long on the wire as everywhere else: the payload makes up for short headers.
 */
#include "work.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/udp-socket-factory.h"

#include <cstdio>
#include <memory>

using namespace ns3;

namespace {

constexpr uint32_t ppp_bytes = 2, stack_bytes = ppp_bytes + 20 + 8; // PPP, IPv4, UDP
constexpr uint16_t port = 4791;

// Counts what arrived, and when the last of it did.
struct Arrivals {
    uint64_t data = 0, acks = 0;
    Time last;
};

class Host {
  public:
    Host(const Work &work, const std::vector<Ipv4Address> &addresses, Ptr<Node> node, Arrivals &arrivals)
        : work(work), addresses(addresses), arrivals(arrivals) {
        socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        socket->SetRecvCallback(MakeCallback(&Host::receive, this));
    }

    Turns turns;

    void watch(Ptr<NetDevice> device) {
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Host::began, this));
    }

    void send_next() {
        if (!turns.empty()) {
            uint64_t packet = 0;
            const Flow &flow = work.flows[turns.next(packet)];
            send(InetSocketAddress(addresses[flow.destination], port), flow.packet_bytes(packet));
        }
    }

  private:
    const Work &work;
    const std::vector<Ipv4Address> &addresses;
    Arrivals &arrivals;
    Ptr<Socket> socket;

    void send(const Address &to, uint32_t wire_bytes) {
        socket->SendTo(Create<Packet>(wire_bytes - stack_bytes), 0, to);
    }

    void began(Ptr<const Packet> packet) {
        if (packet->GetSize() != ack_bytes) {
            send_next();
        }
    }

    void receive(Ptr<Socket>) {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from)) {
            arrivals.last = Simulator::Now();
            if (packet->GetSize() == ack_bytes - stack_bytes) {
                arrivals.acks++;
            } else {
                arrivals.data++;
                send(from, ack_bytes);
            }
        }
    }
};

PointToPointHelper make_links() {
    PointToPointHelper links;
    links.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link_bits_per_s)));
    links.SetDeviceAttribute("Mtu", UintegerValue(payload_bytes + header_bytes));
    links.SetChannelAttribute("Delay", TimeValue(PicoSeconds(link_latency_ps)));
    links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                   QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, UINT32_MAX)));
    return links;
}

} // namespace

int main(int argc, char **argv) {
    const Work work = read_work(argc, argv);
    Time::SetResolution(Time::PS);
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(true));
    NodeContainer host_nodes(work.hosts), leaves(work.leaves()), spines(work.spines);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    PointToPointHelper links = make_links();
    Ipv4AddressHelper subnets("10.0.0.0", "255.255.255.252");
    NetDeviceContainer devices, host_devices;
    std::vector<Ipv4Address> addresses;
    const auto join = [&](Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer pair = links.Install(a, b);
        const Ipv4Address address = subnets.Assign(pair).GetAddress(0);
        subnets.NewNetwork();
        devices.Add(pair);
        return std::make_pair(pair.Get(0), address);
    };
    for (uint32_t h = 0; h < work.hosts; h++) {
        const auto [device, address] = join(host_nodes.Get(h), leaves.Get(work.leaf_of(h)));
        host_devices.Add(device);
        addresses.push_back(address);
    }
    for (uint32_t l = 0; l < work.leaves(); l++) {
        for (uint32_t s = 0; s < work.spines; s++) {
            join(leaves.Get(l), spines.Get(s));
        }
    }
    TrafficControlHelper().Uninstall(devices); // addresses bring a queue discipline that drops
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Arrivals arrivals;
    std::vector<std::unique_ptr<Host>> hosts;
    for (uint32_t h = 0; h < work.hosts; h++) {
        hosts.push_back(std::make_unique<Host>(work, addresses, host_nodes.Get(h), arrivals));
        hosts.back()->watch(host_devices.Get(h));
    }
    for (size_t f = 0; f < work.flows.size(); f++) {
        hosts[work.flows[f].source]->turns.add(f, work.flows[f].packets());
    }
    for (auto &host : hosts) {
        Simulator::ScheduleNow(&Host::send_next, host.get());
    }
    const double begin_s = cpu_seconds();
    Simulator::Run();
    const double cpu_s = cpu_seconds() - begin_s;
    if (arrivals.data != work.packets() || arrivals.acks != work.packets()) {
        std::fprintf(stderr, "of %lu packets %lu arrived, and %lu ACKs\n", work.packets(), arrivals.data,
                     arrivals.acks);
        return 1;
    }
    report(static_cast<double>(arrivals.last.GetPicoSeconds()) * 1e-6, work.data_hops(), work.data_hops(), cpu_s);
    Simulator::Destroy();
    return 0;
}
