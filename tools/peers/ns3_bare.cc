// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The work on ns-3's point-to-point devices alone: no stack, no routing, no statistics. Forwarding is a table look-up here.
 *
 * Kept as cheap as ns-3 allows: 12 bytes of header, payload that is never written, one drop-tail queue without end a
 * device, a random spine for every packet. A host puts its next packet into its device's queue when the one before starts.
 */
#include "work.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

#include <cstdio>
#include <memory>

using namespace ns3;

namespace {

constexpr uint32_t ppp_bytes = 2; // the device adds them

// Who sent it, where it goes, and whether it is an ACK.
class Label : public Header {
  public:
    uint32_t source = 0, destination = 0, ack = 0;

    static TypeId GetTypeId() {
        static TypeId id = TypeId("moefabric::Label").SetParent<Header>().AddConstructor<Label>();
        return id;
    }
    TypeId GetInstanceTypeId() const override {
        return GetTypeId();
    }
    uint32_t GetSerializedSize() const override {
        return 12;
    }
    void Serialize(Buffer::Iterator start) const override {
        start.WriteU32(source);
        start.WriteU32(destination);
        start.WriteU32(ack);
    }
    uint32_t Deserialize(Buffer::Iterator start) override {
        source = start.ReadU32();
        destination = start.ReadU32();
        ack = start.ReadU32();
        return 12;
    }
    void Print(std::ostream &) const override {
    }
};

Ptr<Packet> make_packet(uint32_t source, uint32_t destination, bool ack, uint32_t wire_bytes) {
    Label label;
    label.source = source;
    label.destination = destination;
    label.ack = ack;
    Ptr<Packet> packet = Create<Packet>(wire_bytes - ppp_bytes - label.GetSerializedSize());
    packet->AddHeader(label);
    return packet;
}

Ptr<PointToPointNetDevice> make_device(Ptr<Node> node, uint32_t port) {
    Ptr<PointToPointNetDevice> device = CreateObject<PointToPointNetDevice>();
    Ptr<DropTailQueue<Packet>> queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, UINT32_MAX));
    device->SetQueue(queue);
    device->SetDataRate(DataRate(link_bits_per_s));
    device->SetMtu(payload_bytes + header_bytes);
    device->SetAddress(Mac48Address::Allocate());
    device->SetNode(node);
    device->SetIfIndex(port);
    return device;
}

void connect(Ptr<PointToPointNetDevice> a, Ptr<PointToPointNetDevice> b) {
    Ptr<PointToPointChannel> channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(PicoSeconds(link_latency_ps)));
    a->Attach(channel);
    b->Attach(channel);
}

// Counts what arrived, and when the last of it did.
struct Arrivals {
    uint64_t data = 0, acks = 0;
    Time last;
};

class Host {
  public:
    Host(const Work &work, uint32_t number, Arrivals &arrivals) : work(work), number(number), arrivals(arrivals) {
        device = make_device(CreateObject<Node>(), 0);
        device->SetReceiveCallback(MakeCallback(&Host::receive, this));
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Host::began, this));
    }

    Ptr<PointToPointNetDevice> device;
    Turns turns;

    void send_next() {
        if (!turns.empty()) {
            uint64_t packet = 0;
            const Flow &flow = work.flows[turns.next(packet)];
            device->Send(make_packet(number, flow.destination, false, flow.packet_bytes(packet)),
                         device->GetBroadcast(), 0x0800);
        }
    }

  private:
    const Work &work;
    uint32_t number;
    Arrivals &arrivals;

    void began(Ptr<const Packet> packet) {
        if (packet->GetSize() != ack_bytes) {
            send_next();
        }
    }

    bool receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address &) {
        Label label;
        packet->PeekHeader(label);
        arrivals.last = Simulator::Now();
        if (label.ack) {
            arrivals.acks++;
        } else {
            arrivals.data++;
            device->Send(make_packet(number, label.source, true, ack_bytes), device->GetBroadcast(), protocol);
        }
        return true;
    }
};

class Switch {
  public:
    // Ports: of a leaf its hosts, then the spines; of a spine the leaves.
    Switch(const Work &work, bool leaf, uint32_t number) : work(work), leaf(leaf), number(number), state(number + 1) {
        const uint32_t n = leaf ? work.per_leaf + work.spines : work.leaves();
        Ptr<Node> node = CreateObject<Node>();
        for (uint32_t port = 0; port < n; port++) {
            ports.push_back(make_device(node, port));
            ports.back()->SetReceiveCallback(MakeCallback(&Switch::receive, this));
        }
    }

    std::vector<Ptr<PointToPointNetDevice>> ports;

  private:
    const Work &work;
    bool leaf;
    uint32_t number;
    uint64_t state;

    uint32_t draw() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state >> 33);
    }

    uint32_t port_to(uint32_t host) {
        if (!leaf) {
            return work.leaf_of(host);
        }
        return work.leaf_of(host) == number ? host % work.per_leaf : work.per_leaf + draw() % work.spines;
    }

    bool receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address &) {
        Label label;
        packet->PeekHeader(label);
        Ptr<PointToPointNetDevice> out = ports[port_to(label.destination)];
        out->Send(ConstCast<Packet>(packet), out->GetBroadcast(), protocol);
        return true;
    }
};

} // namespace

int main(int argc, char **argv) {
    const Work work = read_work(argc, argv);
    Time::SetResolution(Time::PS); // 83.2 ns a packet must not become 83
    Arrivals arrivals;
    std::vector<std::unique_ptr<Host>> hosts;
    std::vector<std::unique_ptr<Switch>> leaves, spines;
    for (uint32_t s = 0; s < work.spines; s++) {
        spines.push_back(std::make_unique<Switch>(work, false, s));
    }
    for (uint32_t l = 0; l < work.leaves(); l++) {
        leaves.push_back(std::make_unique<Switch>(work, true, l));
        for (uint32_t s = 0; s < work.spines; s++) {
            connect(leaves[l]->ports[work.per_leaf + s], spines[s]->ports[l]);
        }
    }
    for (uint32_t h = 0; h < work.hosts; h++) {
        hosts.push_back(std::make_unique<Host>(work, h, arrivals));
        connect(hosts[h]->device, leaves[work.leaf_of(h)]->ports[h % work.per_leaf]);
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
