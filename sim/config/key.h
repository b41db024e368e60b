// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Key tables: what a section of a file may hold, and where each value goes in a struct. One table makes the reader,
 * the writer, `explain` and the JSON Schema, so that none of them can differ from the others.
 */
#ifndef MOEFABRIC_CONFIG_KEY_H
#define MOEFABRIC_CONFIG_KEY_H

#include "base/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_type {
    KEY_QUANTITY, /**< whole number of a base unit → uint32_t or uint64_t */
    KEY_SIGNED,   /**< whole number that may be negative → int32_t */
    KEY_REAL,     /**< quantity that may have a fraction → double */
    KEY_FLAG,     /**< true or false → bool */
    KEY_CHOICE,   /**< one of names → enum with values 0, 1, … in their order */
    KEY_TEXT,     /**< text → char array; one of names where there are any */
    KEY_SET,      /**< list of names → consecutive bools in their order */
    KEY_NAMES, /**< list of texts, or one → array of char[KEY_NAME_SIZE], with its length at count_offset; may be empty */
    KEY_NUMBERS,     /**< list of counts, or n for 1 … n → uint64_t array, with its length at count_offset */
    KEY_TOPOLOGY,    /**< name of a topology file, or a topology; read by experiment_file.c */
    KEY_POLICIES,    /**< list of policies, short or long; read by experiment_file.c */
    KEY_FAILURES,    /**< list of failures; read by experiment_file.c */
    KEY_BACKGROUNDS, /**< list of traffic beside what is measured; read by experiment_file.c */
    KEY_AXES,        /**< mapping of dotted keys to their values; read by sweep.c */
    KEY_POINTS,      /**< list of mappings of dotted keys to a value; read by sweep.c */
};

enum {
    KEY_LINE_SIZE = 17408, /* 64 names of 127 bytes, all of them quotes */
    KEY_NAME_SIZE = 128
};

/** One key. */
struct key {
    const char *name;
    enum key_type type;
    enum quantity_kind kind; /**< KEY_QUANTITY, KEY_REAL */
    const char *minimum,
        *maximum;             /**< as a file would say them; NULL = no limit but the type's (real numbers: from 0) */
    const char *fallback;     /**< the default as YAML; NULL = none: the field stays as it is (zero) */
    bool required;            /**< must be in the file */
    const char *doc;          /**< what it means and where the default is from, in sentences */
    size_t offset, size;      /**< of the field in the section's base struct */
    const char *const *names; /**< NULL-terminated; KEY_CHOICE, KEY_SET, KEY_TEXT */
    size_t count_offset;      /**< KEY_NUMBERS, KEY_NAMES: of a uint32_t */
};

/** One section: the keys of a mapping. */
struct section {
    const char *path; /**< dotted, "" for the file itself */
    const char *doc;  /**< one sentence */
    const struct key *keys;
    size_t n_keys;
    size_t offset; /**< of the keys' base struct in the schema's */
    bool
        amends; /**< sets only what is given, over values that another section has set: no defaults, nothing required */
    bool listed;  /**< describes each item of a list of this path, not a section of the file */
    bool plans;   /**< plans several configurations, and is part of none of them: left out of what is resolved */
    bool derives; /**< works out values of other sections: left out of what is resolved, where those stand */
};

/** All sections of a kind of file. */
struct schema {
    const char *title; /**< "configuration", "topology" */
    const struct section *sections;
    size_t n_sections;
};

/** Sections of a topology file; base struct topology. */
const struct schema *topology_keys(void);

/** Sections of a configuration file; base struct experiment. */
const struct schema *experiment_keys(void);

/** The section of exactly this path, or NULL. */
const struct section *key_section(const struct schema *schema, const char *path);

/** Is path a mere prefix of sections, such as `congestion` of `congestion.dcqcn`? */
bool key_is_group(const struct schema *schema, const char *path);

/** The key of this name in a section, or NULL. */
const struct key *key_find(const struct section *section, const char *name);

/** Is the value of a key read and written by code of its own, not by its type? */
bool key_is_special(const struct key *key);

/** What a key allows, for people: "a time from 0 to 1 s", "one of ecmp, adaptive". Returns buffer (KEY_LINE_SIZE). */
char *key_allows(char *buffer, const struct key *key);

/** Writes the value of a key in base (the section's struct) as YAML that reads back to the same. Returns buffer (KEY_LINE_SIZE). */
char *key_print(char *buffer, const struct key *key, const void *base);

#endif
