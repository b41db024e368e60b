// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/file.h"

#include "base/error_id.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Fills *error for a path and returns false. */
static bool fail(struct error *error, enum error_id id, const char *path, const char *what, const char *reason) {
    error_set(error, EXIT_CODE_INPUT_OUTPUT, (int)id, "%s%s%s", what, reason[0] == '\0' ? "" : ": ", reason);
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", path);
    }
    return false;
}

/** Opens for reading and tells missing, unreadable and directory apart. Returns a descriptor or -1. */
static int open_for_reading(const char *path, struct error *error) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        const int reason = errno;
        const bool missing = reason == ENOENT || reason == ENOTDIR;
        fail(error, missing ? ERROR_ID_FILE_MISSING : ERROR_ID_FILE_UNREADABLE, path,
             missing ? "there is no such file" : "the file cannot be read", missing ? "" : strerror(reason));
        return -1;
    }
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(descriptor);
        fail(error, ERROR_ID_FILE_DIRECTORY, path, "this is a directory, a file is needed", "");
        return -1;
    }
    return descriptor;
}

bool file_check_readable(const char *path, struct error *error) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return fail(error, ERROR_ID_FILE_UNREADABLE, path, "the file cannot be read", "it is not a regular file");
    }
    const int descriptor = open_for_reading(path, error);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return descriptor >= 0;
}

/** Reads until the end or one byte past the limit. False on a read error. */
static bool read_all(int descriptor, size_t limit_bytes, struct file_text *text) {
    size_t capacity = 0;
    for (;;) {
        if (text->size + 1 >= capacity) {
            capacity = capacity == 0 ? 16384 : 2 * capacity;
            text->bytes = memory_resize(text->bytes, capacity, 1);
        }
        const ssize_t got = read(descriptor, text->bytes + text->size, capacity - text->size - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return false;
        }
        text->size += (size_t)got;
        if (got == 0 || text->size > limit_bytes) {
            text->bytes[text->size] = '\0';
            return true;
        }
    }
}

/** Is what was read a text of a sensible size? */
static bool check_text(const char *path, size_t limit_bytes, const struct file_text *text, struct error *error) {
    if (text->size == 0) {
        return fail(error, ERROR_ID_FILE_EMPTY, path, "the file is empty", "");
    }
    if (text->size > limit_bytes) {
        char what[96];
        snprintf(what, sizeof what, "the file is larger than %zu KiB, which no such file needs", limit_bytes / 1024);
        return fail(error, ERROR_ID_FILE_SIZE, path, what, "");
    }
    const char *nul = memchr(text->bytes, '\0', text->size);
    if (nul != NULL) {
        char what[96];
        snprintf(what, sizeof what, "this is not a text file: byte %zu is zero", (size_t)(nul - text->bytes));
        return fail(error, ERROR_ID_FILE_BINARY, path, what, "");
    }
    return true;
}

void file_beside(char *path, size_t size, const char *file, const char *name) {
    const char *slash = strrchr(file, '/');
    const int folder = slash == NULL || name[0] == '/' ? 0 : (int)(slash - file) + 1;
    snprintf(path, size, "%.*s%s", folder, file, name);
}

bool file_read(const char *path, size_t limit_bytes, struct file_text *text, struct error *error) {
    *text = (struct file_text){0};
    const int descriptor = open_for_reading(path, error);
    if (descriptor < 0) {
        return false;
    }
    bool good = read_all(descriptor, limit_bytes, text);
    if (!good) {
        fail(error, ERROR_ID_FILE_UNREADABLE, path, "the file cannot be read", strerror(errno));
    }
    close(descriptor);
    good = good && check_text(path, limit_bytes, text, error);
    if (!good) {
        free(text->bytes);
        *text = (struct file_text){0};
    }
    return good;
}

char *file_temporary_name(const char *path) {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1); // the folder may be shared with machines that have the same process numbers
    const size_t size = strlen(path) + strlen(host) + 32;
    char *temporary = memory_allocate(size, 1);
    snprintf(temporary, size, "%s.%s.%ld.part", path, host, (long)getpid());
    return temporary;
}

/** fsync by name; file systems that cannot (EINVAL) do not matter. */
static bool sync_path(const char *path, int flags) {
    const int descriptor = open(path, flags | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const bool good = fsync(descriptor) == 0 || errno == EINVAL;
    const int reason = errno;
    close(descriptor);
    errno = reason;
    return good;
}

/** Makes the rename itself durable. Best effort: the file is whole in any case. */
static void sync_directory_of(const char *path) {
    char *directory = memory_allocate(strlen(path) + 2, 1);
    strcpy(directory, path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL) {
        strcpy(directory, ".");
    } else {
        slash[slash == directory] = '\0';
    }
    sync_path(directory, O_RDONLY | O_DIRECTORY);
    free(directory);
}

bool file_publish(const char *temporary, const char *path, struct error *error) {
    if (!sync_path(temporary, O_RDONLY) || rename(temporary, path) != 0) {
        const int reason = errno;
        unlink(temporary);
        return fail(error, ERROR_ID_FILE_UNWRITABLE, path, "the file cannot be put in place", strerror(reason));
    }
    sync_directory_of(path);
    return true;
}

bool file_check_writable(const char *path, struct error *error) {
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        return fail(error, ERROR_ID_FILE_DIRECTORY, path, "this is a directory, a file is to be written", "");
    }
    if (exists && !S_ISREG(status.st_mode)) { // a device, a pipe, a socket: the rename would destroy it
        return fail(error, ERROR_ID_FILE_UNWRITABLE, path, "the file cannot be written", "it is not a regular file");
    }
    char *temporary = file_temporary_name(path);
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const int reason = errno;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(temporary);
    }
    free(temporary);
    return descriptor >= 0 ||
           fail(error, ERROR_ID_FILE_UNWRITABLE, path, "the file cannot be written", strerror(reason));
}

bool file_writer_open(struct file_writer *writer, const char *path, struct error *error) {
    *writer = (struct file_writer){0};
    if (!file_check_writable(path, error)) {
        return false;
    }
    writer->temporary = file_temporary_name(path);
    writer->stream = fopen(writer->temporary, "wbe");
    if (writer->stream == NULL) {
        fail(error, ERROR_ID_FILE_UNWRITABLE, path, "the file cannot be written", strerror(errno));
        file_writer_abandon(writer);
        return false;
    }
    writer->path = memory_allocate(strlen(path) + 1, 1);
    strcpy(writer->path, path);
    return true;
}

bool file_writer_commit(struct file_writer *writer, struct error *error) {
    const bool failed_before = ferror(writer->stream) != 0;
    const bool closed = fclose(writer->stream) == 0;
    const int reason = errno;
    writer->stream = NULL;
    bool good = closed && !failed_before;
    if (!good) {
        fail(error, ERROR_ID_FILE_UNWRITABLE, writer->path, "the file cannot be written",
             failed_before ? "an earlier write failed" : strerror(reason));
    } else {
        good = file_publish(writer->temporary, writer->path, error);
    }
    file_writer_abandon(writer);
    return good;
}

void file_writer_abandon(struct file_writer *writer) {
    if (writer->stream != NULL) {
        fclose(writer->stream);
    }
    if (writer->temporary != NULL) {
        unlink(writer->temporary); /* gone already after a commit */
    }
    free(writer->temporary);
    free(writer->path);
    *writer = (struct file_writer){0};
}
