// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bench_network [OPTIONS] CONFIG\n"
    "\n"
    "Simulates the policies of a configuration with its first seed and prints how fast that was.\n"
    "\n"
    "options:\n"
    "  --set KEY=VALUE   change a key of the configuration; may be repeated\n"
    "  --policy NAME     only this policy\n"
    "  --threads LIST    numbers of threads, each a row (default: 1)\n"
    "  --runs N          take the median of so many runs (default: 5)\n"
    "  --once            one run, in this process, for valgrind and perf; prints `key value` pairs\n"
    "  --fluid           --once by the fluid model\n"
    "  --work            no run: print who sends how much to whom, for other simulators\n";

static bool read_threads(char *list, struct bench_options *options) {
    options->n_threads = 0;
    for (char *rest = NULL, *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        const long threads = strtol(word, NULL, 10);
        if (threads < 1 || threads > 256 || options->n_threads == BENCH_THREAD_COUNTS) {
            return false;
        }
        options->threads[options->n_threads++] = (uint32_t)threads;
    }
    return options->n_threads > 0;
}

static bool read_option(int option, struct bench_options *options) {
    switch (option) {
    case 's':
        if (options->n_overrides == BENCH_OVERRIDES) {
            return false;
        }
        options->overrides[options->n_overrides++] = optarg;
        return true;
    case 'p':
        options->policy = optarg;
        return true;
    case 't':
        return read_threads(optarg, options);
    case 'r':
        options->runs = (uint32_t)strtoul(optarg, NULL, 10);
        return options->runs >= 1 && options->runs <= BENCH_RUNS_LIMIT;
    case 'o':
        options->once = true;
        return true;
    case 'f':
        options->once = options->fluid = true;
        return true;
    case 'w':
        options->work = true;
        return true;
    default:
        return false;
    }
}

static bool read_all(struct bench_options *options, int argc, char **argv) {
    static const struct option known[] = {
        {"set", required_argument, NULL, 's'},     {"policy", required_argument, NULL, 'p'},
        {"threads", required_argument, NULL, 't'}, {"runs", required_argument, NULL, 'r'},
        {"once", no_argument, NULL, 'o'},          {"fluid", no_argument, NULL, 'f'},
        {"work", no_argument, NULL, 'w'},          {0},
    };
    *options = (struct bench_options){.threads = {1}, .n_threads = 1, .runs = 5};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (!read_option(option, options)) {
            return false;
        }
    }
    options->path = optind + 1 == argc ? argv[optind] : NULL;
    return options->path;
}

bool bench_options_read(struct bench_options *options, int argc, char **argv) {
    const bool good = read_all(options, argc, argv);
    if (!good) {
        fputs(usage, stderr);
    }
    return good;
}
