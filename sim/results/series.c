// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/series.h"

#include <stdlib.h>

const struct series_column series_columns[SERIES_QUANTITIES] = {
    [SERIES_QUEUE_BYTES] = {"queue_bytes", "B", "Depth of the port's queue when the interval ends"},
    [SERIES_DEEPEST_BYTES] = {"deepest_bytes", "B", "Deepest queue of the port in the interval"},
    [SERIES_SENT_BYTES] = {"sent_bytes", "B",
                           "Put on the wire in the interval, headers included; x 8 / interval: the rate, over the "
                           "rate of the link: its utilisation"},
    [SERIES_PAUSED_PS] =
        {"paused_ps", "ps",
         "Time in the interval that the transmitter was paused, or (InfiniBand) packets waited and none had credit"},
    [SERIES_MARKS] = {"marks", "1", "Packets that got their congestion mark here in the interval"},
    [SERIES_DROPS] = {"drops", "1", "Packets dropped at this port in the interval, by the PFC watchdog too"},
};

const struct series_column series_pair_columns[SERIES_PAIR_QUANTITIES] = {
    [SERIES_PAIR_ALLOWED_BITS_PER_S] = {"allowed_bits_per_s", "bit/s",
                                        "Rate that the controller allows when the interval ends, at most that of the "
                                        "NIC; 0 = not in use yet"},
    [SERIES_PAIR_WINDOW_PACKETS] = {"window_packets", "1",
                                    "Packets that may be unacknowledged when the interval ends; 0 = any number, or "
                                    "not in use yet"},
    [SERIES_PAIR_SENT_PACKETS] = {"sent_packets", "1", "Data packets sent for the first time in the interval"},
};

void series_free(struct series *series) {
    if (series == NULL) {
        return;
    }
    for (int q = 0; q < SERIES_QUANTITIES; q++) {
        free(series->values[q]);
    }
    for (int q = 0; q < SERIES_PAIR_QUANTITIES; q++) {
        free(series->pair_values[q]);
    }
    free(series->links);
    free(series->pairs);
    free(series);
}
