// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Random spray: every packet draws its port.
 */
#ifndef MOEFABRIC_PATH_SPRAY_RANDOM_H
#define MOEFABRIC_PATH_SPRAY_RANDOM_H

#include "path/path.h"

/**
 * The policy `spray_random`.
 *
 * A packet that may be re-ordered goes to one of the candidates, uniformly at random and independent of load: the n-th such choice of a
 * switch is `hash_draw(hash_stream(seed, HASH_PURPOSE_PATH, device, 0), n)`, n from 0. Other packets take the port that `ecmp` gives
 * them (ordered traffic).
 *
 * Source: random packet spraying (Dixit, Prakash, Hu, Kompella: On the Impact of Packet Spraying in Data Center Networks, INFOCOM 2013).
 *
 * Approximations: the packet simulator htsim sprays at the sender, which gives each packet another entropy value of a limited set
 * (ultraethernet/uet-htsim 40ccb05, uec_mp.cpp); here the switch draws.
 */
extern const struct path_policy spray_random_policy;

#endif
