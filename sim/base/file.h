// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whole text files in, and files out that are either whole or not there: written under a temporary name beside the
 * final one, then renamed.
 */
#ifndef MOEFABRIC_BASE_FILE_H
#define MOEFABRIC_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** A file's text, NUL-terminated; ends with free(bytes). */
struct file_text {
    char *bytes;
    size_t size; /**< without the NUL */
};

/**
 * Reads a text file of at most limit_bytes. Missing, unreadable, a directory, empty, holding NUL bytes, or too large:
 * false, with *error set (exit code 4; the path is in error->file) and nothing to free.
 */
bool file_read(const char *path, size_t limit_bytes, struct file_text *text, struct error *error);

/** Is there a file of this name to read? Missing, unreadable, a directory, a device or a pipe (which has no places to go to): false, with *error set (exit code 4). For libraries that open files by name and say less. */
bool file_check_readable(const char *path, struct error *error);

/** The path of a name that a file holds: beside the file, unless the name is absolute. Cut at size. */
void file_beside(char *path, size_t size, const char *file, const char *name);

/** A file being written. Zero-initialise. */
struct file_writer {
    FILE *stream;    /**< write here */
    char *path;      /**< final name */
    char *temporary; /**< name until file_writer_commit */
};

/** Begins a file; nothing is at the final name until it is committed. On failure *error is set (exit code 4). */
bool file_writer_open(struct file_writer *writer, const char *path, struct error *error);

/** Puts the file in place: flush, fsync, rename. On failure *error is set, the temporary file is gone and what stood at the final name is untouched. */
bool file_writer_commit(struct file_writer *writer, struct error *error);

/** Drops the file. Does nothing after a commit. */
void file_writer_abandon(struct file_writer *writer);

/** A temporary name beside path (`path.HOST.PID.part`), for libraries that open files by name; ends with free(). */
char *file_temporary_name(const char *path);

/** fsync of a finished temporary file, rename to its final name, fsync of the directory. On failure *error is set and the temporary file is removed. */
bool file_publish(const char *temporary, const char *path, struct error *error);

/** Can a file of this name be written? Asked before a long run: no directory, device, pipe or socket in its place, and a file can be made beside it. */
bool file_check_writable(const char *path, struct error *error);

#endif
