// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/tensor.h"

#include "base/error_id.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "workload/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct tensor {
    char path[ERROR_FILE_SIZE];
    uint32_t n_dimensions;
    uint64_t shape[TENSOR_LARGEST_DIMENSIONS];
    struct npy array; /* .npy */
    void *mapped;
    size_t mapped_bytes;
    hid_t file, dataset; /* HDF5; else negative */
};

static bool refuse(struct error *error, const char *path, enum exit_code code, enum error_id id, const char *message) {
    return error_set_file(error, code, id, path, "%s", message);
}

bool tensor_is_named(const char *path) {
    return text_ends_with(path, ".npy") || text_ends_with(path, ".h5") || text_ends_with(path, ".hdf5");
}

/* Maps a whole file. False with *error. */
static bool map_file(struct tensor *tensor, struct error *error) {
    if (!file_check_readable(tensor->path, error)) {
        return false;
    }
    const int descriptor = open(tensor->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        return refuse(error, tensor->path, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNREADABLE, strerror(errno));
    }
    if (status.st_size == 0) {
        close(descriptor);
        return refuse(error, tensor->path, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_EMPTY, "the file is empty");
    }
    tensor->mapped_bytes = (size_t)status.st_size;
    tensor->mapped = mmap(NULL, tensor->mapped_bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (tensor->mapped == MAP_FAILED) {
        tensor->mapped = NULL;
        return refuse(error, tensor->path, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNREADABLE, strerror(errno));
    }
    return true;
}

static bool open_npy(struct tensor *tensor, struct error *error) {
    if (!map_file(tensor, error) ||
        !npy_parse(tensor->path, tensor->mapped, tensor->mapped_bytes, &tensor->array, error)) {
        return false;
    }
    tensor->n_dimensions = tensor->array.n_dimensions;
    memcpy(tensor->shape, tensor->array.shape, sizeof tensor->shape);
    return true;
}

/* The datasets of a file's root: how many, and the last one's name. */
struct found {
    unsigned count;
    char name[64];
};

static herr_t note_dataset(hid_t group, const char *name, const H5L_info_t *info, void *context) {
    struct found *found = context;
    H5O_info_t object;
    (void)info;
    if (H5Oget_info_by_name(group, name, &object, H5P_DEFAULT) >= 0 && object.type == H5O_TYPE_DATASET) {
        found->count++;
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    return 0;
}

static bool find_dataset(const struct tensor *tensor, const char *wanted, char *name, size_t size,
                         struct error *error) {
    struct found found = {0};
    if (wanted[0] != '\0') {
        snprintf(name, size, "%s", wanted);
        return true;
    }
    H5Literate(tensor->file, H5_INDEX_NAME, H5_ITER_INC, NULL, note_dataset, &found);
    if (found.count != 1) {
        refuse(error, tensor->path, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD,
               found.count == 0 ? "the file has no dataset at its root" : "the file has more than one dataset");
        if (error) {
            error_hint(error, "gate.dataset names it");
        }
        return false;
    }
    snprintf(name, size, "%s", found.name);
    return true;
}

static bool take_shape(struct tensor *tensor, struct error *error) {
    hsize_t lengths[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(tensor->dataset), type = H5Dget_type(tensor->dataset);
    const H5T_class_t class = H5Tget_class(type);
    const int n = H5Sget_simple_extent_dims(space, lengths, NULL);
    H5Sclose(space);
    H5Tclose(type);
    if (n < 0 || n > TENSOR_LARGEST_DIMENSIONS || (class != H5T_INTEGER && class != H5T_FLOAT)) {
        return refuse(error, tensor->path, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD,
                      "the dataset is no array of whole or real numbers");
    }
    tensor->n_dimensions = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        tensor->shape[i] = lengths[i];
    }
    return true;
}

static bool open_hdf5(struct tensor *tensor, const char *dataset, struct error *error) {
    char name[64], message[128];
    if (!file_check_readable(tensor->path, error)) {
        return false;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    tensor->file = H5Fopen(tensor->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (tensor->file < 0) {
        return refuse(error, tensor->path, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD,
                      "this is no HDF5 file, or it is cut off");
    }
    if (!find_dataset(tensor, dataset, name, sizeof name, error)) {
        return false;
    }
    tensor->dataset = H5Dopen2(tensor->file, name, H5P_DEFAULT);
    if (tensor->dataset < 0) {
        snprintf(message, sizeof message, "the file has no dataset `%s`", name);
        return refuse(error, tensor->path, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, message);
    }
    return take_shape(tensor, error);
}

struct tensor *tensor_open(const char *path, const char *dataset, struct error *error) {
    struct tensor *tensor = memory_allocate(1, sizeof *tensor);
    snprintf(tensor->path, sizeof tensor->path, "%s", path);
    tensor->file = tensor->dataset = -1;
    if (!(text_ends_with(path, ".npy") ? open_npy(tensor, error) : open_hdf5(tensor, dataset, error))) {
        tensor_close(tensor);
        return NULL;
    }
    return tensor;
}

void tensor_close(struct tensor *tensor) {
    if (!tensor) {
        return;
    }
    if (tensor->mapped) {
        munmap(tensor->mapped, tensor->mapped_bytes);
    }
    if (tensor->dataset >= 0) {
        H5Dclose(tensor->dataset);
    }
    if (tensor->file >= 0) {
        H5Fclose(tensor->file);
    }
    free(tensor);
}

uint32_t tensor_shape(const struct tensor *tensor, uint64_t shape[TENSOR_LARGEST_DIMENSIONS]) {
    memcpy(shape, tensor->shape, sizeof tensor->shape);
    return tensor->n_dimensions;
}

/* Counts through the block like an odometer: the last dimension fastest. */
static void read_npy(const struct tensor *tensor, const uint64_t *first, const uint64_t *count, double *values) {
    uint64_t at[TENSOR_LARGEST_DIMENSIONS] = {0}, total = 1;
    const uint32_t n = tensor->n_dimensions;
    for (uint32_t d = 0; d < n; d++) {
        total *= count[d];
    }
    for (uint64_t i = 0; i < total; i++) {
        uint64_t index = 0;
        for (uint32_t d = 0; d < n; d++) {
            index = index * tensor->shape[d] + first[d] + at[d];
        }
        values[i] = npy_value(&tensor->array, index);
        for (uint32_t d = n; d-- > 0 && ++at[d] == count[d];) {
            at[d] = 0;
        }
    }
}

static bool read_hdf5(const struct tensor *tensor, const uint64_t *first, const uint64_t *count, double *values) {
    hsize_t start[TENSOR_LARGEST_DIMENSIONS], block[TENSOR_LARGEST_DIMENSIONS];
    for (uint32_t d = 0; d < tensor->n_dimensions; d++) {
        start[d] = first[d];
        block[d] = count[d];
    }
    const hid_t space = H5Dget_space(tensor->dataset);
    const hid_t memory = H5Screate_simple((int)tensor->n_dimensions, block, NULL);
    const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) >= 0 &&
                      H5Dread(tensor->dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

bool tensor_read(const struct tensor *tensor, const uint64_t *first, const uint64_t *count, double *values,
                 struct error *error) {
    for (uint32_t d = 0; d < tensor->n_dimensions; d++) {
        REQUIRE(count[d] <= tensor->shape[d] && first[d] <= tensor->shape[d] - count[d], "block beyond dimension %u",
                d);
    }
    if (tensor->dataset < 0) {
        read_npy(tensor, first, count, values);
        return true;
    }
    return read_hdf5(tensor, first, count, values) ||
           refuse(error, tensor->path, EXIT_CODE_INPUT_OUTPUT, ERROR_ID_FILE_UNREADABLE,
                  "the dataset cannot be read: the file is cut off or damaged");
}
