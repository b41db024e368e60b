// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/provenance.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

/** Characters that a shell takes as they are. */
static const char plain_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+:,@%";

/** Appends an argument so that a shell would read the same: in single quotes unless all its characters are plain. Returns the new end. */
static char *append_argument(char *end, const char *argument) {
    if (argument[0] != '\0' && argument[strspn(argument, plain_characters)] == '\0') {
        return stpcpy(end, argument);
    }
    *end++ = '\'';
    for (; *argument != '\0'; argument++) {
        if (*argument == '\'') {
            end = stpcpy(end, "'\\''");
        } else {
            *end++ = *argument;
        }
    }
    return stpcpy(end, "'");
}

static char *join_arguments(int n_arguments, char *const *arguments) {
    size_t size = 1;
    for (int i = 0; i < n_arguments; i++) {
        size += 4 * strlen(arguments[i]) + 3; /* a quote takes four bytes; two quotes and a blank around */
    }
    char *line = memory_allocate(size, 1), *end = line;
    for (int i = 0; i < n_arguments; i++) {
        if (i > 0) {
            *end++ = ' ';
        }
        end = append_argument(end, arguments[i]);
    }
    return line;
}

struct provenance provenance_start(const char *version, int n_arguments, char *const *arguments) {
    struct provenance provenance = {.version = version,
                                    .command_line = join_arguments(n_arguments, arguments),
                                    .started = time(NULL),
                                    .threads = 1};
    struct utsname machine;
    if (uname(&machine) == 0) {
        snprintf(provenance.host, sizeof provenance.host, "%.120s (%.60s, %.60s)", machine.nodename, machine.sysname,
                 machine.machine);
    }
    clock_gettime(CLOCK_MONOTONIC, &provenance.started_clock);
    return provenance;
}

static double seconds(struct timeval time_value) {
    return (double)time_value.tv_sec + 1e-6 * (double)time_value.tv_usec;
}

void provenance_stop(struct provenance *provenance) {
    struct timespec now;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &now);
    provenance->wall_s = (double)(now.tv_sec - provenance->started_clock.tv_sec) +
                         1e-9 * (double)(now.tv_nsec - provenance->started_clock.tv_nsec);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        provenance->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
        provenance->peak_memory_bytes = (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB: getrusage(2) */
    }
}

char *provenance_path(const char *result_path) {
    static const char ending[] = ".run.json";
    size_t length = strlen(result_path);
    if (length > 3 && strcmp(result_path + length - 3, ".h5") == 0) {
        length -= 3;
    }
    char *path = memory_allocate(length + sizeof ending, 1);
    memcpy(path, result_path, length);
    memcpy(path + length, ending, sizeof ending);
    return path;
}

static void put_text(struct json *json, const char *name, const char *text) {
    json_member_text(json, name, text);
}

static void put_whole(struct json *json, const char *name, uint64_t value) {
    json_member_whole(json, name, value);
}

static void put_number(struct json *json, const char *name, double value) {
    json_member_number(json, name, value);
}

static void put_facts(const struct provenance *provenance, const char *result_path, FILE *stream) {
    char started[32];
    struct tm parts;
    struct json json = json_begin(stream);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&provenance->started, &parts));
    json_object(&json);
    put_text(&json, "program", "moefabric");
    put_text(&json, "version", provenance->version);
    put_text(&json, "commit", provenance->commit);
    put_text(&json, "compiler", provenance->compiler);
    put_text(&json, "command_line", provenance->command_line);
    put_text(&json, "result", result_path);
    put_text(&json, "started", started);
    put_text(&json, "host", provenance->host);
    put_whole(&json, "threads", provenance->threads);
    put_whole(&json, "exit_code", (uint64_t)provenance->exit_code);
    put_number(&json, "wall_s", provenance->wall_s);
    put_number(&json, "cpu_s", provenance->cpu_s);
    put_whole(&json, "peak_memory_bytes", provenance->peak_memory_bytes);
    put_whole(&json, "simulated_ps", provenance->simulated_ps);
    put_whole(&json, "data_hops", provenance->data_hops);
    put_whole(&json, "control_hops", provenance->control_hops);
    put_number(&json, "hops_per_cpu_s", (double)(provenance->data_hops + provenance->control_hops) / provenance->cpu_s);
    json_object_end(&json);
    json_end(&json);
}

bool provenance_write(const struct provenance *provenance, const char *result_path, struct error *error) {
    struct file_writer writer = {0};
    char *path = provenance_path(result_path);
    const bool opened = file_writer_open(&writer, path, error);
    free(path);
    if (!opened) {
        return false;
    }
    put_facts(provenance, result_path, writer.stream);
    return file_writer_commit(&writer, error);
}

void provenance_free(struct provenance *provenance) {
    free(provenance->command_line);
    provenance->command_line = NULL;
}
