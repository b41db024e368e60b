// SPDX-License-Identifier: GPL-3.0-or-later
#include "feature_pairs.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RAREST_SHOWN = 24 };

/* Features that are counted in pairs. Left out are those that say almost the same as one of these. */
static const enum feature listed[] = {
    FEATURE_ECN_MARK,       FEATURE_MARKED_PROBE,
    FEATURE_LOSSLESS_DROP,  FEATURE_LOSSY_DROP,
    FEATURE_CONTROL_DROP,   FEATURE_PAUSE_SENT,
    FEATURE_TIMEOUT,        FEATURE_NACK,
    FEATURE_DUPLICATE,      FEATURE_REORDERING,
    FEATURE_NOTIFICATION,   FEATURE_PROBE_REPLY,
    FEATURE_PROBE_GIVEN_UP, FEATURE_LATE_ACKNOWLEDGEMENT,
    FEATURE_PACED,          FEATURE_EARLY_PACING,
    FEATURE_ROUND_TRIP,     FEATURE_TELEMETRY,
    FEATURE_PULL,           FEATURE_WINDOW_STALL,
    FEATURE_URGENT,         FEATURE_SECOND_CHANNEL,
    FEATURE_SERIES,         FEATURE_CREDIT_STALL,
    FEATURE_HELD_BACK,      FEATURE_QUEUE_PAIRS,
    FEATURE_ADAPTIVE,       FEATURE_ECMP,
    FEATURE_SPRAY_RANDOM,   FEATURE_SPRAY_ROUND_ROBIN,
    FEATURE_TWO_CHOICES,    FEATURE_DRILL,
    FEATURE_FLOWLET,        FEATURE_TURNS,
    FEATURE_THREE_TIERS,    FEATURE_SLOWER_WAY,
    FEATURE_FEWER_CABLES,   FEATURE_LOST_ON_DEAD_LINK,
    FEATURE_LOST_AT_RANDOM, FEATURE_SLOWED_LINK,
    FEATURE_DETOUR,         FEATURE_MANY_TIES,
    FEATURE_DEPENDENCY,     FEATURE_UNITS,
    FEATURE_LATER_START,
};

enum { LISTED = sizeof listed / sizeof *listed, PAIRS = LISTED * (LISTED - 1) / 2 };

#define BIT(feature) ((feature_bits)1 << FEATURE_##feature)

#define PATHS                                                                                                          \
    (BIT(ADAPTIVE) | BIT(ECMP) | BIT(SPRAY_RANDOM) | BIT(SPRAY_ROUND_ROBIN) | BIT(TWO_CHOICES) | BIT(DRILL) |          \
     BIT(FLOWLET))

/* A feature of one set and another one of the other never occur together. */
static const struct exclusion {
    feature_bits one, other;
    const char *reason;
} exclusions[] = {
    {PATHS, PATHS, "a run has one path policy"},
    {BIT(PACED), BIT(PULL), "the sender has no pace where the receiver has"},
    {BIT(TELEMETRY), BIT(PULL), "a run has one controller: telemetry, or pulls"},
    {BIT(ROUND_TRIP) | BIT(TELEMETRY) | BIT(PULL),
     BIT(NOTIFICATION) | BIT(PROBE_REPLY) | BIT(PROBE_GIVEN_UP) | BIT(EARLY_PACING) | BIT(MARKED_PROBE),
     "a run has one controller: some live on acknowledgements"},
    {BIT(NACK), BIT(REORDERING), "a run has one transport: go-back-N or placement in any order"},
};

static const char *exclusion_of(enum feature a, enum feature b) {
    for (size_t i = 0; i < sizeof exclusions / sizeof *exclusions; i++) {
        const struct exclusion *e = &exclusions[i];
        if ((e->one >> a & e->other >> b & 1) || (e->one >> b & e->other >> a & 1)) {
            return e->reason;
        }
    }
    return NULL;
}

/* One pair and its cases. */
struct pair {
    enum feature one, other;
    uint32_t cases;
};

static int by_cases(const void *a, const void *b) {
    const struct pair *one = a, *other = b;
    return (one->cases > other->cases) - (one->cases < other->cases);
}

/* The pairs that can occur, rarest first, in array[PAIRS]; returns how many. */
static int possible_pairs(const struct feature_pairs *pairs, struct pair *array) {
    int count = 0;
    for (int i = 0; i < LISTED; i++) {
        for (int j = i + 1; j < LISTED; j++) {
            if (exclusion_of(listed[i], listed[j]) == NULL) {
                array[count++] =
                    (struct pair){.one = listed[i], .other = listed[j], .cases = pairs->counts[listed[i]][listed[j]]};
            }
        }
    }
    qsort(array, (size_t)count, sizeof *array, by_cases);
    return count;
}

void feature_pairs_count(struct feature_pairs *pairs, feature_bits set) {
    pairs->cases++;
    for (int i = 0; i < FEATURES; i++) {
        for (int j = 0; j < FEATURES; j++) {
            pairs->counts[i][j] += (uint32_t)(set >> i & set >> j & 1);
        }
    }
}

/** The pairs that exclude each other for one reason. */
static int count_excluded(const struct exclusion *exclusion) {
    int count = 0;
    for (int i = 0; i < LISTED; i++) {
        for (int j = i + 1; j < LISTED; j++) {
            count += exclusion_of(listed[i], listed[j]) == exclusion->reason;
        }
    }
    return count;
}

void feature_pairs_print(FILE *stream, const struct feature_pairs *pairs, bool all) {
    struct pair array[PAIRS];
    const int count = possible_pairs(pairs, array);
    const int shown = all || count < RAREST_SHOWN ? count : RAREST_SHOWN;
    fprintf(stream, "# %d pairs of %d features can occur; the %d rarest in %" PRIu32 " cases\n", count, LISTED, shown,
            pairs->cases);
    for (int i = 0; i < shown; i++) {
        fprintf(stream, "# %6" PRIu32 " %s + %s\n", array[i].cases, feature_name(array[i].one),
                feature_name(array[i].other));
    }
    fprintf(stream, "# %d pairs cannot:\n", PAIRS - count);
    for (size_t i = 0; i < sizeof exclusions / sizeof *exclusions; i++) {
        fprintf(stream, "# %6d since %s\n", count_excluded(&exclusions[i]), exclusions[i].reason);
    }
    fflush(stream);
}

static bool impossible_pairs_absent(const struct feature_pairs *pairs) {
    bool absent = true;
    for (int i = 0; i < LISTED; i++) {
        for (int j = i + 1; j < LISTED; j++) {
            const char *reason = exclusion_of(listed[i], listed[j]);
            if (reason != NULL && pairs->counts[listed[i]][listed[j]] > 0) {
                fprintf(stderr, "occurred although %s: %s + %s\n", reason, feature_name(listed[i]),
                        feature_name(listed[j]));
                absent = false;
            }
        }
    }
    return absent;
}

bool feature_pairs_all_covered(const struct feature_pairs *pairs) {
    struct pair array[PAIRS];
    const int count = possible_pairs(pairs, array);
    int rare = 0;
    while (rare < count && array[rare].cases < FEATURE_PAIRS_LEAST_CASES) {
        fprintf(stderr, "in %" PRIu32 " cases only: %s + %s\n", array[rare].cases, feature_name(array[rare].one),
                feature_name(array[rare].other));
        rare++;
    }
    return impossible_pairs_absent(pairs) && rare == 0;
}
