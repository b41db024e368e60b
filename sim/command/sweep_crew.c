// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/sweep_crew.h"

#include "base/memory.h"
#include "command/interrupt.h"
#include "command/sweep_view.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_SIZE = 1024, WAIT_MS = 100 };

/** One process at work. */
struct worker {
    pid_t process; /* 0: free */
    int words;     /* where its stderr comes out; closed when it ends */
    uint32_t index;
    double begun_s;
    char text[WORDS_SIZE]; /* what it has said */
    size_t length;
};

struct crew {
    const struct sweep_crew_work *work;
    struct worker *workers;        /* [jobs] */
    _Atomic uint64_t *thousandths; /* [jobs], shared with the processes */
    struct sweep_view_row *rows;   /* [jobs] */
    struct sweep_view view;
    uint32_t next; /* of work->indexes */
};

static struct sweep_point *point_of(const struct crew *crew, const struct worker *worker) {
    return &crew->work->plan->table->points[worker->index];
}

/** In the new process: runs the point and ends. What it prints goes to the one that began it. */
static _Noreturn void be_worker(const struct crew *crew, uint32_t index, unsigned place, int words, pid_t parent) {
    struct error error;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would wait for the result */
    if (getppid() != parent || dup2(words, STDERR_FILENO) < 0) {
        _exit(EXIT_CODE_RUN_FAILED);
    }
    close(words);
    if (!sweep_plan_run(crew->work->plan, index, crew->work->threads, &crew->thousandths[place], &error)) {
        fprintf(stderr, "%s%s%s", error.file, error.file[0] != '\0' ? ": " : "", error.message);
        fflush(stderr);
        _exit((int)error.exit_code);
    }
    _exit(EXIT_CODE_OK);
}

/** Begins a point. False if no process can be had: the caller waits for one to end. */
static bool begin(struct crew *crew, unsigned place, uint32_t index) {
    int ends[2];
    const pid_t parent = getpid();
    if (pipe(ends) != 0) {
        return false;
    }
    fflush(NULL);
    atomic_store(&crew->thousandths[place], 0);
    const pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        be_worker(crew, index, place, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return false;
    }
    crew->workers[place] =
        (struct worker){.process = process, .words = ends[0], .index = index, .begun_s = sweep_view_now()};
    return true;
}

/** The last words in one line. */
static void tidy_words(struct worker *worker) {
    worker->text[worker->length] = '\0';
    while (worker->length > 0 && worker->text[worker->length - 1] == '\n') {
        worker->text[--worker->length] = '\0';
    }
    for (char *letter = worker->text; *letter != '\0'; letter++) {
        *letter = (unsigned char)*letter < ' ' ? ' ' : *letter;
    }
}

/** Says why there is no result. */
static void note_failure(const struct crew *crew, struct worker *worker, int status) {
    char line[WORDS_SIZE + 128];
    struct error error;
    struct sweep_point *point = point_of(crew, worker);
    tidy_words(worker);
    const char *separator = worker->text[0] != '\0' ? ": " : "";
    if (WIFSIGNALED(status)) {
        snprintf(line, sizeof line, "ended by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 separator, worker->text);
    } else {
        snprintf(line, sizeof line, "%s", worker->text[0] != '\0' ? worker->text : "ended without a result");
    }
    point->outcome = SWEEP_FAILED;
    sweep_table_set_text(&point->error, line);
    sweep_plan_store(crew->work->plan, point, &error); /* else it is only in the table */
}

/** Takes over what came of a process that has ended. */
static void end(struct crew *crew, struct worker *worker) {
    int status = 0;
    struct sweep_point *point = point_of(crew, worker);
    close(worker->words);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR) {
    }
    point->outcome = SWEEP_MISSING;
    sweep_table_set_text(&point->error, "");
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE_OK) {
        sweep_plan_take(crew->work->plan, point);
    }
    if (point->outcome == SWEEP_MISSING && !interrupt_has_come()) {
        note_failure(crew, worker, status);
    }
    sweep_view_end_point(&crew->view, point, sweep_view_now() - worker->begun_s);
    worker->process = 0;
}

/** Reads what a process says; true when it has ended. What does not fit is dropped. */
static bool hear(struct worker *worker) {
    char more[WORDS_SIZE];
    const ssize_t size = read(worker->words, more, sizeof more);
    if (size > 0) {
        const size_t room = WORDS_SIZE - 1 - worker->length, kept = (size_t)size < room ? (size_t)size : room;
        memcpy(worker->text + worker->length, more, kept);
        worker->length += kept;
    }
    return size == 0 || (size < 0 && errno != EINTR);
}

/** Waits a moment for processes to say something or to end. */
static void wait_a_moment(struct crew *crew) {
    const unsigned jobs = crew->work->jobs;
    struct pollfd *places = memory_allocate(jobs, sizeof *places);
    for (unsigned i = 0; i < jobs; i++) {
        places[i] =
            (struct pollfd){.fd = crew->workers[i].process != 0 ? crew->workers[i].words : -1, .events = POLLIN};
    }
    if (poll(places, jobs, WAIT_MS) > 0) {
        for (unsigned i = 0; i < jobs; i++) {
            if (places[i].revents != 0 && hear(&crew->workers[i])) {
                end(crew, &crew->workers[i]);
            }
        }
    }
    free(places);
}

static unsigned count_running(const struct crew *crew) {
    unsigned running = 0;
    for (unsigned i = 0; i < crew->work->jobs; i++) {
        running += crew->workers[i].process != 0;
    }
    return running;
}

/** No process can be had, and none is running that might make room. */
static void give_up(struct crew *crew, uint32_t index) {
    struct sweep_point *point = &crew->work->plan->table->points[index];
    point->outcome = SWEEP_FAILED;
    sweep_table_set_text(&point->error, "the system allows no more processes");
    sweep_view_end_point(&crew->view, point, 0);
}

/** Gives work to processes that are free. */
static void fill(struct crew *crew) {
    for (unsigned i = 0; i < crew->work->jobs && crew->next < crew->work->count; i++) {
        if (crew->workers[i].process != 0) {
            continue;
        }
        const uint32_t index = crew->work->indexes[crew->next];
        if (begin(crew, i, index)) {
            crew->next++;
        } else if (count_running(crew) == 0) {
            crew->next++;
            give_up(crew, index);
        }
    }
}

static void show(struct crew *crew) {
    for (unsigned i = 0; i < crew->work->jobs; i++) {
        const struct worker *worker = &crew->workers[i];
        crew->rows[i] = (struct sweep_view_row){0};
        if (worker->process != 0) {
            crew->rows[i] = (struct sweep_view_row){.point = point_of(crew, worker),
                                                    .thousandths = (unsigned)atomic_load(&crew->thousandths[i]),
                                                    .seconds = sweep_view_now() - worker->begun_s};
        }
    }
    sweep_view_update(&crew->view, crew->rows, crew->work->jobs);
}

/** A terminal sends its signal to all processes, kill to one: the others are told. They stop between two windows. */
static void pass_on_signal(const struct crew *crew) {
    for (unsigned i = 0; i < crew->work->jobs; i++) {
        if (crew->workers[i].process != 0) {
            kill(crew->workers[i].process, SIGTERM);
        }
    }
}

static void run(struct crew *crew) {
    bool told = false;
    do {
        if (!interrupt_has_come()) {
            fill(crew);
        } else if (!told) {
            pass_on_signal(crew);
            told = true;
        }
        show(crew);
        wait_a_moment(crew);
    } while (count_running(crew) > 0 || (crew->next < crew->work->count && !interrupt_has_come()));
}

bool sweep_crew_run(const struct sweep_crew_work *work) {
    const size_t bytes = work->jobs * sizeof(_Atomic uint64_t);
    struct crew crew = {.work = work,
                        .workers = memory_allocate(work->jobs, sizeof *crew.workers),
                        .rows = memory_allocate(work->jobs, sizeof *crew.rows)};
    crew.thousandths = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(crew.thousandths != MAP_FAILED, "no page of memory to be shared");
    interrupt_listen();
    sweep_view_begin(&crew.view, work->plan->table, work->count, work->quiet);
    run(&crew);
    sweep_view_finish(&crew.view);
    munmap(crew.thousandths, bytes);
    free(crew.rows);
    free(crew.workers);
    return !interrupt_has_come();
}
