// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/store_axis.h"

#include "base/error.h"
#include "base/memory.h"
#include "results/store_part.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_ROWS = 32768 };

/** An attribute of one value or a row of them, already in the form that it has in the file. */
static bool put_attribute(hid_t object, const char *name, hid_t type, hsize_t n, const void *values) {
    const hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

/** A text as the specification wants it: of its own length, ended by NUL. */
static bool put_fixed_text(hid_t object, const char *name, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    const bool done = put_attribute(object, name, type, 0, text);
    H5Tclose(type);
    return done;
}

bool store_axis_begin(struct store_axis *axis, hid_t group, const char *name) {
    *axis = (struct store_axis){.scale = H5Dopen2(group, name, H5P_DEFAULT)};
    return axis->scale >= 0 && H5Rcreate(&axis->reference, group, name, H5R_OBJECT, H5I_INVALID_HID) >= 0 &&
           put_fixed_text(axis->scale, "CLASS", "DIMENSION_SCALE") && put_fixed_text(axis->scale, "NAME", name);
}

/** Writes an arithmetic row a step at a time. */
static bool write_count(hid_t dataset, uint64_t from, uint64_t step, uint64_t n) {
    uint64_t *values = memory_allocate(n < STEP_ROWS ? n : STEP_ROWS, sizeof *values);
    const hid_t file_space = H5Dget_space(dataset);
    bool done = file_space >= 0;
    for (hsize_t first = 0; done && first < n; first += STEP_ROWS) {
        const hsize_t count = n - first < STEP_ROWS ? n - first : STEP_ROWS;
        const hid_t memory_space = H5Screate_simple(1, &count, NULL);
        for (hsize_t i = 0; i < count; i++) {
            values[i] = from + (first + i) * step;
        }
        done = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
               H5Dwrite(dataset, H5T_NATIVE_UINT64, memory_space, file_space, H5P_DEFAULT, values) >= 0;
        H5Sclose(memory_space);
    }
    H5Sclose(file_space);
    free(values);
    return done;
}

bool store_axis_count(struct store_axis *axis, hid_t group, const char *name, const char *units, const char *long_name,
                      uint64_t from, uint64_t step, uint64_t n) {
    const hsize_t extent = n, chunk = STEP_ROWS;
    const hid_t dataset = store_part_dataset(group, name, H5T_STD_U64LE, 1, &extent, &chunk);
    const bool done = dataset >= 0 && store_part_text(dataset, "units", units) &&
                      store_part_text(dataset, "long_name", long_name) && write_count(dataset, from, step, n);
    return H5Dclose(dataset) >= 0 && done && store_axis_begin(axis, group, name);
}

bool store_axis_attach(struct store_axis *const *axes, int n_dimensions, hid_t group, const char *name) {
    const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT), type = H5Tvlen_create(H5T_STD_REF_OBJ);
    hvl_t lists[STORE_AXIS_DIMENSIONS];
    memset(lists, 0, sizeof lists);
    bool done = dataset >= 0;
    for (int i = 0; done && i < n_dimensions; i++) {
        struct store_axis *axis = axes[i];
        REQUIRE(axis->n_users < STORE_AXIS_USERS, "more than %d datasets have one axis", STORE_AXIS_USERS);
        struct store_axis_user *user = &axis->users[axis->n_users++];
        user->dimension = (uint32_t)i;
        lists[i] = (hvl_t){.len = 1, .p = &axis->reference};
        done = H5Rcreate(&user->dataset, group, name, H5R_OBJECT, H5I_INVALID_HID) >= 0;
    }
    done = done && put_attribute(dataset, "DIMENSION_LIST", type, (hsize_t)n_dimensions, lists);
    H5Tclose(type);
    H5Dclose(dataset);
    return done;
}

/** Both ends of what attaches a dataset: names and order of the members are those of the library. */
static bool put_users(const struct store_axis *axis) {
    const size_t size = sizeof(hobj_ref_t) + sizeof(uint32_t); /* packed: no padding reaches the file */
    char *packed = memory_allocate(axis->n_users, size);
    const hid_t type = H5Tcreate(H5T_COMPOUND, size);
    H5Tinsert(type, "dataset", 0, H5T_STD_REF_OBJ);
    H5Tinsert(type, "dimension", sizeof(hobj_ref_t), H5T_NATIVE_UINT32);
    for (uint32_t i = 0; i < axis->n_users; i++) {
        memcpy(packed + i * size, &axis->users[i].dataset, sizeof(hobj_ref_t));
        memcpy(packed + i * size + sizeof(hobj_ref_t), &axis->users[i].dimension, sizeof(uint32_t));
    }
    const bool done = put_attribute(axis->scale, "REFERENCE_LIST", type, axis->n_users, packed);
    H5Tclose(type);
    free(packed);
    return done;
}

bool store_axis_end(struct store_axis *axis) {
    if (axis->scale <= 0) {
        return true;
    }
    const bool done = axis->n_users == 0 || put_users(axis);
    return H5Dclose(axis->scale) >= 0 && done;
}
