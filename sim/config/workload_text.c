// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/workload_text.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 1 << 28, WORD_SIZE = 64, RANKS_MOST = 1 << 24, PS_PER_NS = 1000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LARGEST_TIME_PS ((UINT64_C(1) << 48) - 1)

static const char *const kinds[WORKLOAD_TEXT_KINDS] = {
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "DISTRIBUTED_INFERENCE",
};

static const char *const other_kinds[] = {"MICRO", "HYBRID_DLRM", "HYBRID_DLRM_ENHANCED", "HYBRID_CUSTOMIZED"};

/* What the parts of a kind's layers may communicate among: a group, or nothing. */
enum { NOTHING = PARALLEL_GROUPS };
static const uint8_t groups[WORKLOAD_TEXT_KINDS][WORKLOAD_TEXT_PARTS] = {
    [WORKLOAD_TEXT_DATA] = {NOTHING, NOTHING, PARALLEL_DATA},
    [WORKLOAD_TEXT_MODEL] = {PARALLEL_TENSOR, PARALLEL_TENSOR, NOTHING},
    [WORKLOAD_TEXT_HYBRID_DATA_MODEL] = {PARALLEL_TENSOR, PARALLEL_TENSOR, PARALLEL_DATA},
    [WORKLOAD_TEXT_HYBRID_MODEL_DATA] = {PARALLEL_DATA, PARALLEL_DATA, PARALLEL_TENSOR},
    [WORKLOAD_TEXT_HYBRID_TRANSFORMER] = {PARALLEL_TENSOR, PARALLEL_TENSOR, PARALLEL_DATA},
    [WORKLOAD_TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD] = {PARALLEL_TENSOR, PARALLEL_TENSOR, PARALLEL_DATA},
    [WORKLOAD_TEXT_DISTRIBUTED_INFERENCE] = {PARALLEL_TENSOR, NOTHING, NOTHING},
};

static const char *const parts[WORKLOAD_TEXT_PARTS] = {"the forward pass", "the gradient of the input",
                                                       "the gradient of the weights"};

/* The file being read, and how far. */
struct reading {
    const char *name;
    struct error_list *errors;
    struct workload_text *text;
    struct line line;
    size_t at; /* within the line */
    uint64_t said_layers, compute_ps;
    bool has_kind, has_count, is_known; /* is_known: of a kind that is simulated */
};

/* A word of the line in hand, as it stands there. */
struct word {
    const char *text;
    size_t length, column;
};

static bool report(struct reading *reading, size_t column, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool report(struct reading *reading, size_t column, const char *hint, const char *format, ...) {
    struct error error;
    char message[ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_WORKLOAD_TEXT, "%s", message);
    if (hint != NULL) {
        error_hint(&error, "%s", hint);
    }
    line_locate(&reading->line, reading->name, column, &error);
    error_list_add(reading->errors, &error);
    return false;
}

/* The next word of the line. False at its end, whose column the word then has. */
static bool take_word(struct reading *reading, struct word *word) {
    const char *text = reading->line.text;
    reading->at += strspn(text + reading->at, " \t\r");
    const bool ends = reading->at >= reading->line.length;
    *word = (struct word){.text = text + reading->at,
                          .length = ends ? 0 : strcspn(text + reading->at, " \t\r\n"),
                          .column = (ends ? reading->line.length : reading->at) + 1};
    reading->at += word->length;
    return !ends;
}

static bool is_word(const struct word *word, const char *text) {
    return strlen(text) == word->length && strncmp(word->text, text, word->length) == 0;
}

static int shown(const struct word *word) {
    return (int)number_smaller(word->length, WORD_SIZE);
}

/* Says that a word is none of some names, and which it may have been. */
static bool report_name(struct reading *reading, const struct word *word, const char *what, const char *const *names,
                        size_t n_names) {
    char text[WORD_SIZE], hint[ERROR_MESSAGE_SIZE] = "";
    snprintf(text, sizeof text, "%.*s", shown(word), word->text);
    const char *nearest = nearest_name(text, names, n_names);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, "did you mean %s?", nearest);
    }
    return report(reading, word->column, hint[0] != '\0' ? hint : NULL, "`%.*s` is no %s", shown(word), word->text,
                  what);
}

/* The whole number that a word is, at most `most`. */
static bool read_number(struct reading *reading, const struct word *word, const char *what, uint64_t most,
                        uint64_t *value) {
    if (word->length == 0) {
        return report(reading, word->column, NULL, "the line ends where %s is needed", what);
    }
    if (line_number(word->text, value) != word->length) {
        return report(reading, word->column, NULL, "%s is needed here, a whole number, not `%.*s`", what, shown(word),
                      word->text);
    }
    return *value <= most || report(reading, word->column, NULL, "%s is at most %" PRIu64 ", not %.*s", what, most,
                                    shown(word), word->text);
}

/* Words of a transformer's first line: a name with a colon, then a number. */
struct header {
    const char *name, *what;
    uint64_t least, most;
    const char *hint; /* why no more than `most` */
};

enum {
    HEADER_TENSOR,
    HEADER_EXPERT,
    HEADER_STAGES,
    HEADER_VIRTUAL,
    HEADER_ACCUMULATION,
    HEADER_GPUS,
    HEADER_CHECKPOINTS,
    HEADER_INITIATES,
    HEADER_STAGE_BYTES,
    HEADERS
};

static const struct header headers[HEADERS] = {
    [HEADER_TENSOR] = {"model_parallel_NPU_group:", "the size of a tensor group", 1, RANKS_MOST, NULL},
    [HEADER_EXPERT] = {"ep:", "the expert parallelism", 1, RANKS_MOST, NULL},
    [HEADER_STAGES] = {"pp:", "the number of pipeline stages", 1, 1, "pipelines of several stages are not simulated"},
    [HEADER_VIRTUAL] = {"vpp:", "the number of virtual stages", 1, UINT32_MAX, NULL},
    [HEADER_ACCUMULATION] = {"ga:", "the number of micro-batches", 1, UINT32_MAX, NULL},
    [HEADER_GPUS] = {"all_gpus:", "the number of GPUs", 1, RANKS_MOST, NULL},
    [HEADER_CHECKPOINTS] = {"checkpoints:", "the number of checkpoints", 0, 0,
                            "activations that are computed anew in the backward pass are not simulated"},
    [HEADER_INITIATES] = {"checkpoint_initiates:", "the number of layers that begin anew at a checkpoint", 0, 0,
                          "activations that are computed anew in the backward pass are not simulated"},
    [HEADER_STAGE_BYTES] = {"pp_comm:", "the bytes between pipeline stages", 0, UINT64_MAX, NULL},
};

/* `pp_comm` comes without colon and with a fraction too. Which header a word is; HEADERS = none. */
static size_t find_header(const struct word *word) {
    for (size_t i = 0; i < HEADERS; i++) {
        if (is_word(word, headers[i].name)) {
            return i;
        }
    }
    return is_word(word, "pp_comm") ? HEADER_STAGE_BYTES : HEADERS;
}

static bool read_header_value(struct reading *reading, size_t header, uint64_t *value) {
    const struct header *of = &headers[header];
    struct word word;
    take_word(reading, &word);
    if (header == HEADER_STAGE_BYTES && word.length > 2 && strncmp(word.text + word.length - 2, ".0", 2) == 0) {
        word.length -= 2;
    }
    if (!read_number(reading, &word, of->what, UINT64_MAX, value)) {
        return false;
    }
    if (*value < of->least || *value > of->most) {
        return report(reading, word.column, of->hint, "%s cannot be %.*s", of->what, shown(&word), word.text);
    }
    return true;
}

/* The rest of a transformer's first line. */
static void read_headers(struct reading *reading) {
    const char *names[HEADERS];
    uint64_t values[HEADERS] = {[HEADER_EXPERT] = 1};
    bool given[HEADERS] = {false};
    struct word word;
    for (size_t i = 0; i < HEADERS; i++) {
        names[i] = headers[i].name;
    }
    while (take_word(reading, &word)) {
        const size_t header = find_header(&word);
        if (header == HEADERS) {
            report_name(reading, &word, "setting of a transformer", names, HEADERS);
            return;
        }
        if (given[header]) {
            report(reading, word.column, NULL, "`%s` is given twice", headers[header].name);
        }
        given[header] = true;
        if (!read_header_value(reading, header, &values[header])) {
            return;
        }
    }
    if (!given[HEADER_TENSOR]) {
        report(reading, 1, "for example: HYBRID_TRANSFORMER model_parallel_NPU_group: 4",
               "a transformer's first line needs the size of its tensor groups");
        return;
    }
    reading->text->tensor = (uint32_t)values[HEADER_TENSOR];
    reading->text->expert = (uint32_t)values[HEADER_EXPERT];
    reading->text->all_gpus = (uint32_t)values[HEADER_GPUS];
    reading->text->parts = !given[HEADER_GPUS];
}

static bool is_transformer(const struct workload_text *text) {
    return text->kind == WORKLOAD_TEXT_HYBRID_TRANSFORMER ||
           text->kind == WORKLOAD_TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
}

static void read_kind(struct reading *reading) {
    struct word word;
    take_word(reading, &word);
    reading->has_kind = true;
    for (size_t i = 0; i < COUNT(other_kinds); i++) {
        if (is_word(&word, other_kinds[i])) {
            report(reading, word.column, NULL, "workloads of kind %s are not simulated", other_kinds[i]);
            return;
        }
    }
    for (size_t i = 0; i < WORKLOAD_TEXT_KINDS; i++) {
        if (is_word(&word, kinds[i])) {
            reading->text->kind = (enum workload_text_kind)i;
            reading->is_known = true;
        }
    }
    if (!reading->is_known) {
        report_name(reading, &word, "kind of parallelism", kinds, WORKLOAD_TEXT_KINDS);
        return;
    }
    reading->text->expert = 1;
    reading->text->parts = true;
    if (is_transformer(reading->text)) {
        read_headers(reading);
    } else if (take_word(reading, &word)) {
        report(reading, word.column, NULL, "the first line of kind %s is only that, not `%.*s`",
               kinds[reading->text->kind], shown(&word), word.text);
    }
}

static void read_count(struct reading *reading) {
    struct word word;
    take_word(reading, &word);
    reading->has_count = true;
    if (read_number(reading, &word, "the number of layers", WORKLOAD_TEXT_LAYERS, &reading->said_layers) &&
        take_word(reading, &word)) {
        report(reading, word.column, NULL, "the second line is the number of layers alone");
    }
}

static bool read_operation(struct reading *reading, const struct word *word, enum parallel_operation *operation,
                           size_t *suffix) {
    static const char *const names[PARALLEL_OPERATIONS] = {"NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER",
                                                           "ALLTOALL"};
    static const char *const suffixes[] = {"", "_EP", "_DP_EP"};
    char name[WORD_SIZE];
    for (size_t o = 0; o < PARALLEL_OPERATIONS; o++) {
        for (size_t s = 0; s < (o == PARALLEL_NONE ? 1 : COUNT(suffixes)); s++) {
            snprintf(name, sizeof name, "%s%s", names[o], suffixes[s]);
            if (is_word(word, name)) {
                *operation = (enum parallel_operation)o;
                *suffix = s;
                return true;
            }
        }
    }
    if (word->length == 0) {
        return report(reading, word->column, NULL, "the line ends where a collective is needed");
    }
    if (word->length >= 17 && strncmp(word->text, "ALLREDUCEALLTOALL", 17) == 0) {
        return report(reading, word->column, "write two layers: one with ALLREDUCE, one with ALLTOALL",
                      "the collective %.*s is not simulated", shown(word), word->text);
    }
    return report_name(reading, word, "collective", names, PARALLEL_OPERATIONS);
}

/* Among whom a collective of a layer's part is. */
static bool read_group(struct reading *reading, const struct word *word, enum workload_text_part part, size_t suffix,
                       struct workload_text_phase *phase) {
    static const uint8_t suffixed[] = {NOTHING, PARALLEL_EXPERT, PARALLEL_EXPERT_DATA};
    const enum workload_text_kind kind = reading->text->kind;
    if (groups[kind][part] == NOTHING) {
        return report(reading, word->column, NULL, "%s has no collectives in %s: %.*s would be passed over",
                      kinds[kind], parts[part], shown(word), word->text);
    }
    if (suffix > 0 && !is_transformer(reading->text)) {
        return report(reading, word->column, NULL, "%s has no groups of experts: only transformers have", kinds[kind]);
    }
    phase->group = (enum parallel_group)(suffix > 0 ? suffixed[suffix] : groups[kind][part]);
    return true;
}

static bool read_phase(struct reading *reading, enum workload_text_part part, struct workload_text_phase *phase) {
    struct word word, name;
    uint64_t time_ns;
    size_t suffix = 0;
    take_word(reading, &word);
    if (!read_number(reading, &word, "a compute time in ns", LARGEST_TIME_PS / PS_PER_NS, &time_ns)) {
        return false;
    }
    phase->compute_ps = time_ns * PS_PER_NS;
    reading->compute_ps += phase->compute_ps;
    if (reading->compute_ps > LARGEST_TIME_PS) {
        return report(reading, word.column, NULL, "up to here computing takes longer than the 281 s of a run");
    }
    take_word(reading, &name);
    if (!read_operation(reading, &name, &phase->operation, &suffix)) {
        return false;
    }
    take_word(reading, &word);
    if (!read_number(reading, &word, "a number of bytes", WORKLOAD_TEXT_LARGEST_BYTES, &phase->bytes)) {
        return false;
    }
    if (phase->operation == PARALLEL_NONE || phase->bytes == 0) {
        phase->operation = PARALLEL_NONE;
        phase->bytes = 0;
        return true;
    }
    return read_group(reading, &name, part, suffix, phase);
}

static bool is_dependency(const struct word *word) {
    uint64_t ignored;
    const size_t sign = word->length > 0 && word->text[0] == '-';
    return word->length > sign && line_number(word->text + sign, &ignored) == word->length - sign;
}

static void add_layer(struct workload_text *text, const struct workload_text_layer *layer) {
    if (text->n_layers == text->layer_capacity) {
        text->layer_capacity = text->layer_capacity ? 2 * text->layer_capacity : 64;
        text->layers = memory_resize(text->layers, text->layer_capacity, sizeof *text->layers);
    }
    text->layers[text->n_layers++] = *layer;
}

static void read_layer(struct reading *reading) {
    struct workload_text_layer layer = {.line = reading->line.number};
    struct word word;
    uint64_t ignored;
    if (reading->text->n_layers == reading->said_layers) {
        report(reading, 1, NULL, "the second line says %" PRIu64 " layers: this is one more", reading->said_layers);
    }
    add_layer(reading->text, &layer); // counted, even if it cannot be read
    take_word(reading, &word);        // its name
    take_word(reading, &word);
    if (!is_dependency(&word)) {
        report(reading, word.column, "a layer is NAME DEPENDENCY, three times TIME_NS COLLECTIVE BYTES, UPDATE_NS",
               word.length == 0 ? "the line ends where a dependency is needed" : "a dependency is a whole number");
        return;
    }
    for (int part = 0; part < WORKLOAD_TEXT_PARTS; part++) {
        if (!read_phase(reading, (enum workload_text_part)part, &layer.phases[part])) {
            return;
        }
    }
    take_word(reading, &word);
    if (read_number(reading, &word, "the time of the update in ns", UINT64_MAX, &ignored) &&
        take_word(reading, &word)) {
        report(reading, word.column, NULL, "a layer is 12 words");
    }
    reading->text->layers[reading->text->n_layers - 1] = layer;
}

static void check_whole(struct reading *reading) {
    const struct workload_text *text = reading->text;
    if (!reading->has_kind || !reading->has_count || text->n_layers == 0) {
        reading->line = (struct line){0};
        report(reading, 0, NULL,
               "the file has no layers: a workload is its kind, the number of layers, and the layers");
    } else if (text->n_layers < reading->said_layers) {
        report(reading, 1, NULL, "the second line says %" PRIu64 " layers, the file ends after %" PRIu32,
               reading->said_layers, text->n_layers);
    }
}

bool workload_text_read_text(const char *name, const char *bytes, struct workload_text *text,
                             struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    struct reading reading = {.name = name, .errors = errors, .text = text, .line = {.next = bytes}};
    for (; line_next(&reading.line); reading.at = 0) {
        if (!reading.has_kind) {
            read_kind(&reading);
        } else if (!reading.is_known) {
            break; // what its lines mean is not known either
        } else if (!reading.has_count) {
            read_count(&reading);
        } else {
            read_layer(&reading);
        }
    }
    if (errors->count + errors->dropped == before) {
        check_whole(&reading);
    }
    return errors->count + errors->dropped == before;
}

bool workload_text_read(const char *path, struct workload_text *text, struct error_list *errors) {
    struct file_text file;
    struct error error;
    if (!file_read(path, FILE_LIMIT_BYTES, &file, &error)) {
        error_list_add(errors, &error);
        return false;
    }
    const bool good = workload_text_read_text(path, file.bytes, text, errors);
    free(file.bytes);
    return good;
}

uint32_t workload_text_tensor(const struct workload_text *text, uint32_t n_ranks, uint32_t domain_ranks) {
    switch (text->kind) {
    case WORKLOAD_TEXT_DATA:
        return 1;
    case WORKLOAD_TEXT_MODEL:
    case WORKLOAD_TEXT_DISTRIBUTED_INFERENCE:
        return n_ranks;
    case WORKLOAD_TEXT_HYBRID_DATA_MODEL:
    case WORKLOAD_TEXT_HYBRID_MODEL_DATA:
        return domain_ranks;
    default:
        return text->tensor;
    }
}

/* An all-gather of parts ends with as many of them as the group has ranks. */
static void check_gathers(struct reading *reading, uint64_t tensor, uint64_t n_ranks) {
    const struct workload_text *text = reading->text;
    const uint64_t data = n_ranks / tensor;
    const uint64_t ranks[PARALLEL_GROUPS] = {[PARALLEL_TENSOR] = tensor,
                                             [PARALLEL_DATA] = data,
                                             [PARALLEL_EXPERT] = text->expert,
                                             [PARALLEL_EXPERT_DATA] = data / text->expert};
    for (uint32_t i = 0; text->parts && i < text->n_layers; i++) {
        for (int part = 0; part < WORKLOAD_TEXT_PARTS; part++) {
            const struct workload_text_phase *phase = &text->layers[i].phases[part];
            const uint64_t n = ranks[phase->group];
            if (phase->operation == PARALLEL_ALL_GATHER && phase->bytes > WORKLOAD_TEXT_LARGEST_BYTES / n) {
                reading->line.number = text->layers[i].line;
                report(reading, 0, NULL, "ALLGATHER of %" PRIu64 " B of each of %" PRIu64 " GPUs is more than 2^40 B",
                       phase->bytes, n);
            }
        }
    }
}

bool workload_text_check(const struct workload_text *text, const char *name, uint32_t n_ranks, uint32_t domain_ranks,
                         struct error_list *errors) {
    const unsigned before = errors->count + errors->dropped;
    const uint32_t tensor = workload_text_tensor(text, n_ranks, domain_ranks);
    struct workload_text same = *text; // a reading may change its text: this one does not
    struct reading reading = {.name = name, .errors = errors, .text = &same, .line = {.number = 1}};
    if (text->all_gpus != 0 && text->all_gpus != n_ranks) {
        report(&reading, 0, NULL, "the workload is made for %" PRIu32 " GPUs (all_gpus), the cluster has %" PRIu32,
               text->all_gpus, n_ranks);
    } else if (n_ranks % tensor != 0) {
        report(&reading, 0, NULL,
               "tensor groups of %" PRIu32 " GPUs (model_parallel_NPU_group) do not divide the %" PRIu32
               " GPUs of the cluster",
               tensor, n_ranks);
    } else if (n_ranks / tensor % text->expert != 0) {
        report(&reading, 0, NULL,
               "an expert parallelism of %" PRIu32 " (ep) does not divide the %" PRIu32 " tensor groups of %" PRIu32
               " GPUs",
               text->expert, n_ranks / tensor, tensor);
    } else {
        check_gathers(&reading, tensor, n_ranks);
    }
    return errors->count + errors->dropped == before;
}

void workload_text_fini(struct workload_text *text) {
    free(text->layers);
    *text = (struct workload_text){0};
}
