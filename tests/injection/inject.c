// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Makes calls to the C library fail, in a program that is started with LD_PRELOAD=libinject.so. Read from the environment:
 *
 *     INJECT_CALL=NAME:N:HOW   the Nth call of this name fails, counted from 1; with N+ all from it on, too
 *     INJECT_COUNT=FILE        where to write, at the end, how often each was called: a line `NAME COUNT` each
 *     INJECT_EACH=FILE         each allocation fails, in a copy of the process (fork) that then goes on alone, while this one waits for it;
 *                              once with that one alone, once with all after it. Only up to the first file that is opened to be written:
 *                              copies would share it (line `before` of INJECT_COUNT). A line for each copy that did not end as it must
 *
 * NAME is malloc (and calloc, realloc, posix_memalign), open (for writing), write (and pwrite, to files), read (and pread), fsync, rename or fclose.
 * HOW is the name of an error (ENOMEM, ENOSPC, EIO, EINTR), or short: write and read then do one byte of what they were asked for.
 * Counting begins at the first getopt_long: what libraries do before main is theirs. Of allocations only those count, and fail, that the
 * program, libyaml and GSL ask for: HDF5 1.10 follows null pointers, and calls itself without end in its error stack, where one of its own does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum call { CALL_MALLOC, CALL_OPEN, CALL_WRITE, CALL_READ, CALL_FSYNC, CALL_RENAME, CALL_FCLOSE, CALLS };

static const char *const call_names[CALLS] = {"malloc", "open", "write", "read", "fsync", "rename", "fclose"};

enum { STRUCK = 8 };

/* Where the code of an object is. */
struct code {
    uintptr_t begin, end;
};

/* The state of the whole process: what is replaced has no place for another argument. */
static struct {
    bool armed, sticky, is_short;
    int target; /* enum call; CALLS = none */
    unsigned long at;
    int reason; /* errno */
    unsigned long counts[CALLS];
    struct code struck[STRUCK]; /* whose allocations fail */
    int n_struck;
    int each;                  /* where what copies do wrong is written; 0: no copies */
    unsigned long before_open; /* allocations until a file is opened to be written */
} state;

/* Of glibc: what malloc is before anything replaces it. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static int error_of(const char *name) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (strcmp(errors[i].name, name) == 0) {
            return errors[i].number;
        }
    }
    return 0;
}

static int find_struck(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const char *name = object->dlpi_name;
    if (name[0] != '\0' && strstr(name, "/libyaml") == NULL && strstr(name, "/libgsl") == NULL) {
        return 0;
    }
    for (int i = 0; i < object->dlpi_phnum && state.n_struck < STRUCK; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
            state.struck[state.n_struck++] = (struct code){begin, begin + segment->p_memsz};
        }
    }
    return 0;
}

static void arm(void) {
    dl_iterate_phdr(find_struck, NULL);
    const char *text = getenv("INJECT_CALL"), *each = getenv("INJECT_EACH");
    char name[16] = "", at[24] = "", how[16] = "";
    state.armed = true;
    state.target = CALLS;
    state.each = each != NULL ? open(each, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : 0;
    state.counts[CALL_OPEN] = 0;
    if (text == NULL || sscanf(text, "%15[^:]:%23[^:]:%15s", name, at, how) != 3) {
        return;
    }
    for (int i = 0; i < CALLS; i++) {
        if (strcmp(call_names[i], name) == 0) {
            state.target = i;
        }
    }
    state.at = strtoul(at, NULL, 10);
    state.sticky = strchr(at, '+') != NULL;
    state.is_short = strcmp(how, "short") == 0;
    state.reason = error_of(how);
}

/* Counts a call; true if it is to fail. Threads may count at once: an atomic. */
static bool is_struck(enum call call) {
    if (!state.armed) {
        return false;
    }
    const unsigned long number = __atomic_add_fetch(&state.counts[call], 1, __ATOMIC_RELAXED);
    return (int)call == state.target && (number == state.at || (state.sticky && number > state.at));
}

static bool fails(enum call call) {
    if (!is_struck(call)) {
        return false;
    }
    errno = state.reason;
    return true;
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

__attribute__((destructor)) static void write_counts(void) {
    const char *path = getenv("INJECT_COUNT");
    const int file = path != NULL ? creat(path, 0666) : -1;
    if (file < 0) {
        return;
    }
    state.armed = false;
    dprintf(file, "before %lu\n", state.counts[CALL_OPEN] > 0 ? state.before_open : state.counts[CALL_MALLOC]);
    for (int i = 0; i < CALLS; i++) {
        dprintf(file, "%s %lu\n", call_names[i], state.counts[i]);
    }
    close(file);
}

/* Reads what a copy says, waits for its end, and writes down what is wrong: it must say that there is no memory, and exit with 1. */
static void judge_copy(pid_t copy, int words, bool sticky) {
    char text[512], more[512];
    size_t length = 0;
    int status = 0;
    for (ssize_t size; (size = read(words, more, sizeof more)) > 0;) {
        const size_t room = sizeof text - 1 - length, kept = (size_t)size < room ? (size_t)size : room;
        memcpy(text + length, more, kept);
        length += kept;
    }
    text[length] = '\0';
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strstr(text, "out of memory") == NULL) {
        dprintf(state.each, "malloc:%lu%s: status %#x, said: %.300s\n", state.counts[CALL_MALLOC], sticky ? "+" : "",
                (unsigned)status, text);
    }
}

/* Makes a copy in which this allocation fails: true there. */
static bool fails_in_copy(bool sticky) {
    int ends[2];
    const int reason = errno;
    if (pipe(ends) != 0) {
        abort();
    }
    const pid_t copy = fork();
    if (copy == 0) {
        alarm(60); /* a copy that waits for ever is ended, and found */
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        state.each = 0;
        state.target = CALL_MALLOC;
        state.at = state.counts[CALL_MALLOC];
        state.sticky = sticky;
        errno = ENOMEM;
        return true;
    }
    close(ends[1]);
    judge_copy(copy, ends[0], sticky);
    close(ends[0]);
    errno = reason;
    return false;
}

static bool is_of_struck(uintptr_t place) {
    for (int i = 0; i < state.n_struck; i++) {
        if (place >= state.struck[i].begin && place < state.struck[i].end) {
            return true;
        }
    }
    return false;
}

/* Whether an allocation fails that was asked for from this place. */
static bool has_no_memory(const void *caller) {
    if (!state.armed || !is_of_struck((uintptr_t)caller)) {
        return false;
    }
    if (fails(CALL_MALLOC)) {
        return true;
    }
    if (state.counts[CALL_OPEN] == 0) {
        state.before_open = state.counts[CALL_MALLOC];
    }
    return state.each > 0 && state.counts[CALL_OPEN] == 0 && (fails_in_copy(false) || fails_in_copy(true));
}

void *malloc(size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (has_no_memory(__builtin_return_address(0))) {
        return ENOMEM;
    }
    *block = __libc_memalign(alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}

int getopt_long(int n, char *const *texts, const char *letters, const struct option *options, int *index) {
    int (*real)(int, char *const *, const char *, const struct option *, int *) =
        (int (*)(int, char *const *, const char *, const struct option *, int *))next("getopt_long");
    if (!state.armed) {
        arm();
    }
    return real(n, texts, letters, options, index);
}

static int open_next(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next(name);
    if ((flags & (O_WRONLY | O_RDWR)) != 0 && fails(CALL_OPEN)) {
        return -1;
    }
    return real(path, flags, mode);
}

/* The mode, which is there only where a file may be made. */
#define MODE_OF(flags, mode)                                                                                           \
    mode_t mode = 0;                                                                                                   \
    if ((flags)&O_CREAT) {                                                                                             \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_next("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_next("open64", path, flags, mode);
}

static bool is_file(int descriptor) {
    struct stat status;
    return state.armed && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/* How much of a transfer is to be done: all of it, one byte, or none (false, with errno). */
static bool limit(enum call call, int descriptor, size_t *size) {
    if (!is_file(descriptor) || !is_struck(call)) {
        return true;
    }
    if (state.is_short) {
        *size = *size > 0 ? 1 : 0;
        return true;
    }
    errno = state.reason;
    return false;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
    return limit(CALL_WRITE, descriptor, &size) ? real(descriptor, bytes, size) : -1;
}

static ssize_t pwrite_next(const char *name, int descriptor, const void *bytes, size_t size, off64_t place) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = (ssize_t(*)(int, const void *, size_t, off64_t))next(name);
    return limit(CALL_WRITE, descriptor, &size) ? real(descriptor, bytes, size, place) : -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t place) {
    return pwrite_next("pwrite", descriptor, bytes, size, place);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t place) {
    return pwrite_next("pwrite64", descriptor, bytes, size, place);
}

ssize_t read(int descriptor, void *bytes, size_t size) {
    ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))next("read");
    return limit(CALL_READ, descriptor, &size) ? real(descriptor, bytes, size) : -1;
}

static ssize_t pread_next(const char *name, int descriptor, void *bytes, size_t size, off64_t place) {
    ssize_t (*real)(int, void *, size_t, off64_t) = (ssize_t(*)(int, void *, size_t, off64_t))next(name);
    return limit(CALL_READ, descriptor, &size) ? real(descriptor, bytes, size, place) : -1;
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t place) {
    return pread_next("pread", descriptor, bytes, size, place);
}

ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t place) {
    return pread_next("pread64", descriptor, bytes, size, place);
}

int fsync(int descriptor) {
    int (*real)(int) = (int (*)(int))next("fsync");
    return fails(CALL_FSYNC) ? -1 : real(descriptor);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))next("rename");
    return fails(CALL_RENAME) ? -1 : real(from, to);
}

static FILE *fopen_next(const char *name, const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) next(name);
    return mode[0] != 'r' && fails(CALL_OPEN) ? NULL : real(path, mode);
}

FILE *fopen(const char *path, const char *mode) {
    return fopen_next("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    return fopen_next("fopen64", path, mode);
}

int fclose(FILE *stream) {
    int (*real)(FILE *) = (int (*)(FILE *))next("fclose");
    const bool failed = is_struck(CALL_FCLOSE);
    const int result = real(stream);
    if (failed) {
        errno = state.reason;
        return EOF;
    }
    return result;
}
