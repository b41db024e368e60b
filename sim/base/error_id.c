// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"

static const struct error_id_entry entries[] = {
    {ERROR_ID_YAML_SYNTAX,
     "The file is not YAML: check colons, brackets, quotes and that items of one level start in one column."},
    {ERROR_ID_YAML_TAB, "A line is indented with a tab; YAML allows spaces only."},
    {ERROR_ID_YAML_ALIAS, "Anchors (&name), aliases (*name) and merge keys (<<) are not read: write the values out."},
    {ERROR_ID_YAML_DOCUMENTS, "A file holds one document; text after a second `---` would be ignored."},
    {ERROR_ID_YAML_TAG, "Tags (!name) are not read: the key decides the type of its value."},
    {ERROR_ID_YAML_DEPTH, "The file is nested deeper, or holds more items, than any configuration needs."},
    {ERROR_ID_KEY_UNKNOWN, "There is no such key in this section; `moefabric explain SECTION` lists them."},
    {ERROR_ID_KEY_DUPLICATE, "A key is given twice in one section; which one is meant?"},
    {ERROR_ID_KEY_MISSING, "A key without default is not given."},
    {ERROR_ID_VALUE_TYPE, "A value has the wrong form: a list, a mapping, a single value, true or false is needed."},
    {ERROR_ID_VALUE_RANGE, "A value lies outside the range that the key allows."},
    {ERROR_ID_VALUE_NAME, "A value is none of the names that the key allows."},
    {ERROR_ID_VALUE_LENGTH, "A text or a list is longer or shorter than the key allows."},
    {ERROR_ID_NUMBER, "A number cannot be read."},
    {ERROR_ID_NUMBER_NEGATIVE, "A quantity is negative where only zero and more make sense."},
    {ERROR_ID_NUMBER_OVERFLOW, "A number is too large, or has too many digits, to be kept exactly."},
    {ERROR_ID_NUMBER_FRACTION, "A quantity is no whole number of its base unit (ps, B, b/s, m, pieces)."},
    {ERROR_ID_UNIT_MISSING, "A quantity lacks its unit."},
    {ERROR_ID_UNIT_UNKNOWN, "A unit is not known; units are case-sensitive, b is bits and B is bytes."},
    {ERROR_ID_UNIT_KIND, "The unit belongs to another kind of quantity (a time where a rate is needed, …)."},
    {ERROR_ID_POLICY, "A policy's short form cannot be read: "
                      "PATH[(QUEUE_PAIRS)]+CONGESTION[+split_messages][+early_pacing][+polarised][+global_context]."},
    {ERROR_ID_OVERRIDE, "An override is not of the form KEY=VALUE with a dotted key."},
    {ERROR_ID_FILE_KIND, "A file is of another kind than this command, or this key, takes."},
    {ERROR_ID_SWEEP,
     "A sweep is empty, too large, names a key twice, or gives it no values; `moefabric explain sweep`."},
    {ERROR_ID_CONFLICT_SCALE, "More GPUs are used than a domain has, or the numbers of GPUs do not fit each other."},
    {ERROR_ID_CONFLICT_PORTS, "A switch has fewer ports than its links need."},
    {ERROR_ID_CONFLICT_SPINES,
     "Uplinks cannot be spread evenly over the spines, or there are none where there must be."},
    {ERROR_ID_CONFLICT_RAILS, "The rails do not divide the GPUs evenly."},
    {ERROR_ID_CONFLICT_NVLINK, "NVLink figures contradict each other (links, chips, GPUs, buffers)."},
    {ERROR_ID_CONFLICT_ECN, "ECN's minimum is above its maximum."},
    {ERROR_ID_CONFLICT_BUFFER, "Buffer figures of a switch contradict each other."},
    {ERROR_ID_CONFLICT_RATE, "A link would run at a rate or a latency that cannot be simulated."},
    {ERROR_ID_CONFLICT_MODEL, "Figures of the model contradict each other (experts, top_k, groups)."},
    {ERROR_ID_CONFLICT_EXPERTS, "The experts or the GPUs cannot be divided by the expert parallelism."},
    {ERROR_ID_CONFLICT_TRAFFIC, "The traffic pattern does not fit the GPUs that there are."},
    {ERROR_ID_CONFLICT_POLICIES, "Two policies have one name, or a policy asks for what its parts cannot do."},
    {ERROR_ID_CONFLICT_CONTROL, "Figures of a congestion controller or a path policy contradict each other."},
    {ERROR_ID_CONFLICT_FAILURES,
     "Something is to fail that is not there, cannot fail, or at times that contradict each other."},
    {ERROR_ID_CONFLICT_RECORD, "Series of something that is not there are to be recorded, at times that contradict "
                               "each other, or more than fits."},
    {ERROR_ID_SIZE,
     "What a cluster is to reach and what it may draw and cost contradict each other, or no design does both; "
     "`moefabric explain size`."},
    {ERROR_ID_UNSUPPORTED, "This can be described, but this version does not simulate it."},
    {ERROR_ID_MODEL_INCOMPLETE, "Without a preset hidden, experts and top_k of the model must all be given."},
    {ERROR_ID_MATRIX, "A connection matrix (.cm file) is malformed, or asks for what is not simulated."},
    {ERROR_ID_EXPERT_LOAD,
     "A file of expert loads or of tokens' choices (CSV, NumPy, HDF5) is malformed, or does not fit the model."},
    {ERROR_ID_PLACEMENT, "A file of expert placements is malformed, or does not fit the model and the cluster."},
    {ERROR_ID_HTSIM_TOPOLOGY, "An htsim topology (.topo file) is malformed, or cannot be built as htsim would."},
    {ERROR_ID_WORKLOAD_TEXT, "A workload text of SimAI or ASTRA-sim is malformed, asks for what is not simulated, or "
                             "does not fit the cluster."},
    {ERROR_ID_HPCC_TOPOLOGY,
     "A topology of HPCC's ns-3 (topology.txt) is malformed, or no leaf-spine fabric or fat tree."},
    {ERROR_ID_LOG, "A log of a benchmark cannot be read: give what nccl-tests printed."},
    {ERROR_ID_USAGE, "The command line is not understood."},
    {ERROR_ID_RUN_STALLED,
     "Nothing was delivered for limits.stall_time, or nothing moves any more, although messages are on their way."},
    {ERROR_ID_RUN_LIMIT, "The limit of simulated time was reached before the work was done."},
    {ERROR_ID_RUN_WALL_TIME,
     "The limit of wall time was reached before the work was done; what is finished was saved."},
    {ERROR_ID_RUN_MEMORY, "The limit of memory was reached before the work was done; what is finished was saved."},
    {ERROR_ID_FILE_MISSING, "There is no such file."},
    {ERROR_ID_FILE_UNREADABLE, "A file cannot be read."},
    {ERROR_ID_FILE_DIRECTORY, "A file is needed where a directory was given."},
    {ERROR_ID_FILE_EMPTY, "A file holds nothing (or only comments)."},
    {ERROR_ID_FILE_BINARY, "A file is not text."},
    {ERROR_ID_FILE_SIZE, "A file is too large to be what it should be."},
    {ERROR_ID_FILE_UNWRITABLE, "A file cannot be written."},
    {ERROR_ID_FILE_PATH, "A path is too long."},
    {ERROR_ID_RESULT, "A result file is damaged, cut short or none of moefabric: run the configuration again."},
    {ERROR_ID_RESULT_NEWER, "A result file was written with a newer layout: read it with a newer moefabric."},
};

const struct error_id_entry *error_id_entries(size_t *count) {
    *count = sizeof entries / sizeof entries[0];
    return entries;
}

const struct error_id_entry *error_id_find(int id) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if ((int)entries[i].id == id) {
            return &entries[i];
        }
    }
    return NULL;
}
