// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/store_part.h"

enum { DEFLATE_LEVEL = 4 }; /* of 9: most of the gain comes from the shuffle before it */

hid_t store_part_type(enum column_type type, size_t size_bytes, bool in_memory) {
    switch (type) {
    case COLUMN_UINT32:
        return H5Tcopy(in_memory ? H5T_NATIVE_UINT32 : H5T_STD_U32LE);
    case COLUMN_UINT64:
        return H5Tcopy(in_memory ? H5T_NATIVE_UINT64 : H5T_STD_U64LE);
    case COLUMN_DOUBLE:
        return H5Tcopy(in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE);
    case COLUMN_TEXT:
        break;
    }
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, size_bytes);
    H5Tset_strpad(text, H5T_STR_NULLPAD);
    H5Tset_cset(text, H5T_CSET_UTF8);
    return text;
}

bool store_part_text(hid_t object, const char *name, const char *text) {
    const hid_t type = store_part_type(COLUMN_TEXT, H5T_VARIABLE, true);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

bool store_part_number(hid_t object, const char *name, uint64_t value) {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return done;
}

hid_t store_part_group(hid_t parent, const char *name) {
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(properties, false);
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

hid_t store_part_dataset(hid_t parent, const char *name, hid_t type, int n_dimensions, const hsize_t *dimensions,
                         const hsize_t *largest_chunk) {
    hsize_t chunk[2] = {0, 0}, cells = n_dimensions > 0 ? 1 : 0;
    for (int i = 0; i < n_dimensions; i++) {
        chunk[i] = dimensions[i] < largest_chunk[i] ? dimensions[i] : largest_chunk[i];
        cells *= dimensions[i];
    }
    const hid_t space = n_dimensions == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(n_dimensions, dimensions, NULL);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, false);
    H5Pset_fill_time(properties,
                     H5D_FILL_TIME_ALLOC); /* the unused end of the last chunk is zero, not what memory held */
    if (cells > 0) {
        H5Pset_chunk(properties, n_dimensions, chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, DEFLATE_LEVEL);
    }
    const hid_t dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return dataset;
}

hid_t store_part_file(const char *path) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_obj_track_times(creation, false);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, false, true);
#endif
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    return file;
}
