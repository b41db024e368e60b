// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Result files that somebody changed: the input is a list of changes (an object, what to do with it, a value) to a whole result. It is read as
 * a measurement that can be summed up, or refused with a number and a message. Bytes that are no HDF5 are the library's to refuse.
 */
#include "base/error.h"
#include "base/error_id.h"
#include "results/load.h"
#include "results/store.h"
#include "results/summary.h"
#include "sample.h"

#include "fuzz.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANGE_BYTES = 4, CHANGES = 8, NAME_SIZE = 256 };

/** Makes the file that is changed. */
static void make_result(const char *path) {
    static const struct store_header header = {.title = "t", .program_version = "0", .configuration = "name: x\n"};
    struct store *store = store_open(path, &header, NULL);
    struct measurement *measurement = sample_measurement("ecmp", 1, 1, false);
    REQUIRE(store != NULL && store_add_run(store, measurement, NULL) && store_commit(store, NULL), "no result");
    measurement_free(measurement);
}

/** Names of all objects, in the order of the file. */
struct names {
    char names[NAME_SIZE][NAME_SIZE];
    unsigned n;
};

static herr_t add_name(hid_t file, const char *name, const H5O_info_t *object, void *names_of) {
    struct names *names = names_of;
    (void)file;
    (void)object;
    if (names->n < NAME_SIZE) {
        snprintf(names->names[names->n++], NAME_SIZE, "%s", name);
    }
    return 0;
}

/** Puts a dataset of another type and extent in place of an object. */
static void replace(hid_t file, const char *name, unsigned value) {
    const hid_t types[] = {H5T_STD_U32LE, H5T_STD_U64LE, H5T_IEEE_F64LE, H5T_STD_I8BE, H5T_STD_REF_OBJ};
    const hsize_t extents[] = {value >> 4, value >> 6};
    const int n_dimensions = (int)(value % 3);
    const hid_t space = n_dimensions == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(n_dimensions, extents, NULL);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, name, types[value % 5], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
}

/** Writes one number over a dataset's first values. */
static void overwrite(hid_t file, const char *name, unsigned value) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    uint64_t *numbers = calloc(points > 0 ? (size_t)points : 1, sizeof *numbers);
    for (hssize_t i = 0; i < points; i++) {
        numbers[i] = value < 128 ? value : UINT64_MAX - value;
    }
    H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    free(numbers);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void change(hid_t file, const struct names *names, const uint8_t *bytes) {
    const char *name = names->names[bytes[0] % names->n], *other = names->names[bytes[2] % names->n];
    const unsigned value = bytes[3];
    switch (bytes[1] % 6) {
    case 0:
        H5Ldelete(file, name, H5P_DEFAULT);
        break;
    case 1:
        replace(file, name, value);
        break;
    case 2:
        overwrite(file, name, value);
        break;
    case 3:
        H5Ldelete(file, name, H5P_DEFAULT);
        H5Lcreate_hard(file, other, file, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
    case 4:
        H5Ldelete(file, name, H5P_DEFAULT);
        H5Lcreate_external("/etc/hostname", "/", file, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
    default:
        H5Adelete_by_name(file, name, value % 2 ? "seed" : "policy", H5P_DEFAULT);
    }
}

static void change_all(const char *path, const uint8_t *data, size_t size) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    REQUIRE(file >= 0, "the whole result is none");
    struct names *names = calloc(1, sizeof *names);
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_name, names, H5O_INFO_BASIC);
    for (size_t i = 0; i + CHANGE_BYTES <= size && i < CHANGES * CHANGE_BYTES; i += CHANGE_BYTES) {
        change(file, names, data + i);
    }
    free(names);
    H5Fclose(file);
    H5Pclose(access);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char folder[] = "/tmp/moefabric-fuzz-XXXXXX", path[64];
    struct error error = {0};
    REQUIRE(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof path, "%s/r.h5", folder);
    make_result(path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    change_all(path, data, size);
    struct load *load = load_read(path, &error);
    if (load != NULL) {
        for (uint32_t i = 0; i < load->n_runs; i++) {
            struct summary *summary = summary_create(load->runs[i]);
            summary_free(summary);
        }
    } else {
        REQUIRE((error.id == ERROR_ID_RESULT || error.id == ERROR_ID_RESULT_NEWER) && error.message[0] != '\0',
                "refused without number or message: %s", error.message);
    }
    load_free(load);
    unlink(path);
    rmdir(folder);
    return 0;
}
