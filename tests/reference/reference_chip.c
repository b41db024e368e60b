// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_chip.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

struct chip_port {
    struct reference_queue queue;
    uint64_t depth; /* accepted and not fully sent */
};

struct reference_chip {
    uint32_t device;
    uint16_t n_ports;
    struct chip_port *ports;
};

struct reference_chip *reference_chip_create(struct reference_world *world, uint32_t device) {
    struct reference_chip *chip = memory_allocate(1, sizeof *chip);
    chip->device = device;
    chip->n_ports = (uint16_t)world->fabric->devices[device].n_ports;
    chip->ports = memory_allocate(chip->n_ports, sizeof *chip->ports);
    return chip;
}

void reference_chip_free(struct reference_chip *chip) {
    if (chip == NULL) {
        return;
    }
    for (uint16_t port = 0; port < chip->n_ports; port++) {
        reference_queue_free(&chip->ports[port].queue);
    }
    free(chip->ports);
    free(chip);
}

static void choose(struct reference_world *world, struct reference_chip *chip, uint16_t port) {
    struct reference_transmitter *transmitter = reference_world_transmitter(world, chip->device, port);
    if (transmitter->busy || chip->ports[port].queue.count == 0 ||
        !reference_world_has_credit(world, chip->device, port)) {
        return;
    }
    const struct reference_queued queued = reference_queue_pop(&chip->ports[port].queue);
    transmitter->credit_bytes -= queued.packet.size_bytes;
    reference_world_start(world, chip->device, port, &queued);
}

static void sent(struct reference_world *world, struct reference_chip *chip, uint16_t port) {
    const struct reference_queued queued = reference_world_sent(world, chip->device, port);
    chip->ports[port].depth -= queued.packet.size_bytes;
    reference_world_return_credit(world, chip->device, queued.ingress, queued.packet.size_bytes);
    choose(world, chip, port);
}

static void arrive(struct reference_world *world, struct reference_chip *chip, const struct reference_step *step) {
    const struct fabric_route route = fabric_chip_route_to(world->fabric, chip->device, step->packet.destination);
    const uint16_t egress = (uint16_t)(route.first_port + step->port % route.count);
    struct chip_port *to = &chip->ports[egress];
    to->depth += step->packet.size_bytes;
    reference_queue_push(&to->queue, &(struct reference_queued){.packet = step->packet, .ingress = step->port});
    reference_world_deepen(world, chip->device, egress, to->depth);
    choose(world, chip, egress);
}

uint64_t reference_chip_bytes(const struct reference_chip *chip, uint16_t port) {
    return chip->ports[port].depth;
}

void reference_chip_step(struct reference_world *world, struct reference_chip *chip,
                         const struct reference_step *step) {
    switch (step->kind) {
    case REFERENCE_STEP_SENT:
        sent(world, chip, step->port);
        break;
    case REFERENCE_STEP_CREDIT:
        reference_world_transmitter(world, chip->device, step->port)->credit_bytes += step->value;
        choose(world, chip, step->port);
        break;
    case REFERENCE_STEP_PACKET:
        arrive(world, chip, step);
        break;
    default:
        BUG("a chip has no step of kind %d", (int)step->kind);
    }
}
