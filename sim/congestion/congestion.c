// SPDX-License-Identifier: GPL-3.0-or-later
#include "congestion/congestion.h"

#include "base/error.h"
#include "congestion/dcqcn.h"
#include "congestion/hpcc.h"
#include "congestion/none.h"
#include "congestion/nscc.h"
#include "congestion/receiver_credit.h"
#include "congestion/spectrum_x.h"
#include "congestion/swift.h"
#include "congestion/timely.h"

/* The table of controllers: a new controller is one line here. */
static const struct congestion_controller *const controllers[CONGESTION_KINDS] = {
    [CONGESTION_NONE] = &none_controller,
    [CONGESTION_DCQCN] = &dcqcn_controller,
    [CONGESTION_SPECTRUM_X] = &spectrum_x_controller,
    [CONGESTION_TIMELY] = &timely_controller,
    [CONGESTION_SWIFT] = &swift_controller,
    [CONGESTION_NSCC] = &nscc_controller,
    [CONGESTION_HPCC] = &hpcc_controller,
    [CONGESTION_RECEIVER_CREDIT] = &receiver_credit_controller,
};

const struct congestion_controller *congestion_controller_of(enum congestion_kind kind) {
    REQUIRE((unsigned)kind < CONGESTION_KINDS, "congestion controller %d of %d", (int)kind, CONGESTION_KINDS);
    return controllers[kind];
}
