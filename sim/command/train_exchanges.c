// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/train_exchanges.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/line.h"
#include "base/memory.h"
#include "command/sweep_point.h"
#include "command/train_setup.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CACHE_LIMIT_BYTES = 1 << 20, PATH_SIZE = 4096, LINE_SIZE = 512 };

/* A policy's file. */
struct kept {
    char path[PATH_SIZE];
    bool found;
};

/* ---- what exchanges depend on ---- */

static uint64_t key_of(const struct experiment *experiment, uint32_t policy) {
    REQUIRE(experiment->network_model != EXPERIMENT_NETWORK_BOTH, "exchanges are kept of one model");
    struct experiment *copy = memory_allocate(1, sizeof *copy);
    char *resolved = NULL;
    *copy = *experiment;
    copy->name[0] = '\0';
    copy->network_model = batch_is_fluid(experiment, policy) ? EXPERIMENT_NETWORK_FLUID : EXPERIMENT_NETWORK_PACKET;
    copy->policies[0] = experiment->policies[policy];
    copy->n_policies = 1;
    memset(&copy->training, 0, sizeof copy->training);
    memset(&copy->size, 0, sizeof copy->size);
    const uint64_t key = sweep_point_hash(copy, &resolved);
    free(resolved);
    free(copy);
    return key;
}

/* ---- files ---- */

static bool refuse_line(const struct line *line, const char *path, struct error *error) {
    error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_RESULT, "this is not what --cache leaves of these seeds");
    error_hint(error, "delete the file: it is made anew");
    line_locate(line, path, 0, error);
    return false;
}

/* A comma and a number. */
static bool read_number(const char **at, double *number) {
    int end = 0;
    const bool good = sscanf(*at, ",%lf%n", number, &end) == 1 && isfinite(*number);
    *at += end;
    return good;
}

/* Does a line end with the hash of what precedes it? Then it is as it was written. Gives where the last comma is. */
static bool is_whole(const struct line *line, const char **comma) {
    const char *last = line->text + line->length;
    uint64_t hash;
    int end = 0;
    while (last > line->text && *last != ',') {
        last--;
    }
    *comma = last;
    return sscanf(last, ",%16" SCNx64 "%n", &hash, &end) == 1 && last + end == line->text + line->length &&
           hash == hash_bytes(0, line->text, (size_t)(last - line->text));
}

/* seed, of each phase a time in ps and bytes of the busiest GPU over NVLink and its NIC, load, hash of the line */
static bool read_line(const struct line *line, uint64_t seed, struct training_exchange *exchange) {
    const char *at = line->text, *comma;
    uint64_t of_seed;
    int end = 0;
    if (!is_whole(line, &comma)) {
        return false;
    }
    bool good = sscanf(at, "%" SCNu64 "%n", &of_seed, &end) == 1 && of_seed == seed;
    at += end;
    for (int phase = 0; phase < TRAINING_PHASES && good; phase++) {
        good = sscanf(at, ",%" SCNu64 "%n", &exchange->phase_ps[phase], &end) == 1;
        at += good ? end : 0;
        good =
            good && read_number(&at, &exchange->nvlink_bytes[phase]) && read_number(&at, &exchange->nic_bytes[phase]);
    }
    return good && read_number(&at, &exchange->expert_load) && at == comma;
}

static bool read_kept(struct kept *kept, const struct experiment *experiment, struct training_exchange *exchanges,
                      struct error *error) {
    struct file_text text;
    struct stat status;
    if (stat(kept->path, &status) != 0 && errno == ENOENT) {
        return file_check_writable(kept->path, error);
    }
    if (!file_read(kept->path, CACHE_LIMIT_BYTES, &text, error)) {
        return false;
    }
    struct line line = {.next = text.bytes};
    bool good = line_next(&line); // names of columns
    for (uint32_t seed = 0; seed < experiment->n_seeds && good; seed++) {
        good = line_next(&line) && read_line(&line, experiment->seeds[seed], &exchanges[seed]);
    }
    if (!good || line_next(&line)) {
        good = refuse_line(&line, kept->path, error);
    }
    kept->found = good;
    free(text.bytes);
    return good;
}

static void write_line(FILE *stream, uint64_t seed, const struct training_exchange *exchange) {
    char text[LINE_SIZE];
    int length = snprintf(text, sizeof text, "%" PRIu64, seed);
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        length += snprintf(text + length, sizeof text - (size_t)length, ",%" PRIu64 ",%.17g,%.17g",
                           exchange->phase_ps[phase], exchange->nvlink_bytes[phase], exchange->nic_bytes[phase]);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, ",%.17g", exchange->expert_load);
    fprintf(stream, "%s,%016" PRIx64 "\n", text, hash_bytes(0, text, (size_t)length));
}

static bool write_kept(const struct kept *kept, const struct experiment *experiment, const char *policy,
                       const struct training_exchange *exchanges, struct error *error) {
    struct file_writer writer = {0};
    if (!file_writer_open(&writer, kept->path, error)) {
        return false;
    }
    fprintf(writer.stream,
            "# %s, %s: times in ps, bytes over NVLink and NICs and tokens of the busiest GPU, tokens / mean\n"
            "seed",
            experiment->name, policy);
    for (int phase = 0; phase < TRAINING_PHASES; phase++) {
        const char *name = training_phase_names[phase];
        fprintf(writer.stream, ",%s,%s_nvlink,%s_nic", name, name, name);
    }
    fputs(",expert_load,hash\n", writer.stream);
    for (uint32_t seed = 0; seed < experiment->n_seeds; seed++) {
        write_line(writer.stream, experiment->seeds[seed], &exchanges[seed]);
    }
    return file_writer_commit(&writer, error);
}

static bool make_folder(const char *cache, struct error *error) {
    struct stat status;
    if (mkdir(cache, 0777) != 0 && errno != EEXIST) {
        return error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, cache,
                              "the folder of --cache cannot be made: %s", strerror(errno));
    }
    return (stat(cache, &status) == 0 && S_ISDIR(status.st_mode)) ||
           error_set_file(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNWRITABLE, cache,
                          "the folder of --cache cannot be made: there is something else of this name");
}

/* Reads what is there, and asks whether the rest can be written. */
static bool open_cache(const struct batch *batch, const char *cache, struct kept *kept,
                       struct training_exchange *exchanges, struct error *error) {
    const struct experiment *experiment = batch->experiment;
    if (!make_folder(cache, error)) {
        return false;
    }
    for (uint32_t p = 0; p < batch->n_policies; p++) {
        const int length = snprintf(kept[p].path, PATH_SIZE, "%s/exchanges-%016" PRIx64 ".csv", cache,
                                    key_of(experiment, batch->policies[p]));
        if (length >= PATH_SIZE) {
            return error_set(error, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_PATH,
                             "--cache: the folder's name is too long");
        }
        if (!read_kept(&kept[p], experiment, &exchanges[(size_t)p * experiment->n_seeds], error)) {
            return false;
        }
    }
    return true;
}

/* ---- simulating ---- */

static bool take(const struct experiment *experiment, const char *policy, struct measurement *const *measurements,
                 const struct training_exchange *loads, struct training_exchange *exchanges, struct error *error) {
    for (uint32_t seed = 0; seed < experiment->n_seeds; seed++) {
        exchanges[seed] = loads[seed];
        if (measurements[seed] == NULL || !train_setup_take(measurements[seed], &exchanges[seed])) {
            return error_set(error, EXIT_CODE_LIMIT, ERROR_ID_RUN_LIMIT,
                             "%s, seed %llu: the exchange was not finished, so no step can be made of it", policy,
                             (unsigned long long)experiment->seeds[seed]);
        }
    }
    return true;
}

/* The policies that no file has; places: which of the batch's they are. */
static bool simulate(const struct batch *missing, const uint32_t *places, const struct kept *kept, bool keeps,
                     struct training_exchange *exchanges, struct error *error) {
    const struct experiment *experiment = missing->experiment;
    struct training_exchange *loads = memory_allocate(experiment->n_seeds, sizeof *loads);
    struct batch_result result = {0};
    bool done = batch_run(missing, &result, error);
    if (done && result.exit_code == EXIT_CODE_INTERRUPTED) {
        done = error_set(error, EXIT_CODE_INTERRUPTED, ERROR_ID_RUN_LIMIT,
                         "interrupted: not all exchanges are finished, so no step can be made of them");
    }
    for (uint32_t seed = 0; seed < experiment->n_seeds && done; seed++) {
        done = train_setup_load(experiment, experiment->seeds[seed], &loads[seed], error);
    }
    for (uint32_t i = 0; i < missing->n_policies && done; i++) {
        const char *policy = experiment->policies[missing->policies[i]].name;
        struct training_exchange *of_policy = &exchanges[(size_t)places[i] * experiment->n_seeds];
        done =
            take(experiment, policy, result.measurements + (size_t)i * experiment->n_seeds, loads, of_policy, error) &&
            (!keeps || write_kept(&kept[places[i]], experiment, policy, of_policy, error));
    }
    batch_result_fini(&result);
    free(loads);
    return done;
}

bool train_exchanges_find(const struct batch *batch, const char *cache, struct training_exchange *exchanges,
                          struct error *error) {
    uint32_t policies[EXPERIMENT_COLUMNS], places[EXPERIMENT_COLUMNS];
    struct kept *kept = memory_allocate(batch->n_policies, sizeof *kept);
    struct batch missing = *batch;
    missing.policies = policies;
    missing.n_policies = 0;
    bool done = cache == NULL || open_cache(batch, cache, kept, exchanges, error);
    for (uint32_t p = 0; p < batch->n_policies && done; p++) {
        if (!kept[p].found) {
            places[missing.n_policies] = p;
            policies[missing.n_policies++] = batch->policies[p];
        }
    }
    done = done && (missing.n_policies == 0 || simulate(&missing, places, kept, cache != NULL, exchanges, error));
    free(kept);
    return done;
}
