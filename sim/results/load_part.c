// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/load_part.h"

#include "base/memory.h"

#include <string.h>

hid_t load_part_open(hid_t parent, const char *name, H5I_type_t kind) {
    const hid_t object =
        H5Lexists(parent, name, H5P_DEFAULT) > 0 ? H5Oopen(parent, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (object >= 0 && H5Iget_type(object) != kind) {
        H5Oclose(object);
        return H5I_INVALID_HID;
    }
    return object;
}

bool load_part_is_absent(hid_t group, const char *name) {
    return H5Lexists(group, name, H5P_DEFAULT) == 0;
}

bool load_part_number(hid_t object, const char *name, uint64_t *value) {
    const hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const bool done =
        type >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Aread(attribute, H5T_NATIVE_UINT64, value) >= 0;
    H5Tclose(type);
    H5Aclose(attribute);
    return done;
}

char *load_part_text(hid_t object, const char *name) {
    const hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    char *text = NULL, *copy = NULL;
    if (type >= 0 && H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, type, &text) >= 0 && text != NULL) {
        copy = memory_allocate(strlen(text) + 1, 1);
        strcpy(copy, text);
        H5free_memory(text);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return copy;
}

/*
 * Is what a dataset holds in this file, and all of it? A forged one may name other files of the machine, and HDF5 1.10 reads
 * beyond a compact one that is smaller than its extent.
 */
static bool is_whole(hid_t dataset, hid_t stored) {
    const hid_t properties = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
    const H5D_layout_t layout = H5Pget_layout(properties);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    const bool here = layout != H5D_LAYOUT_ERROR && layout != H5D_VIRTUAL && H5Pget_external_count(properties) == 0;
    const bool fits =
        layout != H5D_COMPACT || (points >= 0 && (hsize_t)points <= H5Dget_storage_size(dataset) / H5Tget_size(stored));
    H5Sclose(space);
    H5Pclose(properties);
    return here && fits;
}

bool load_part_is_of_type(hid_t dataset, enum column_type type) {
    const hid_t stored = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(stored);
    const bool fits = type == COLUMN_TEXT     ? class == H5T_STRING && H5Tis_variable_str(stored) == 0
                      : type == COLUMN_DOUBLE ? class == H5T_FLOAT
                                              : class == H5T_INTEGER;
    const bool whole = fits && is_whole(dataset, stored);
    H5Tclose(stored);
    return whole;
}

hid_t load_part_file(const char *path) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, false, true);
#endif
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}
