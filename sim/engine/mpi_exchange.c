// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/mpi_exchange.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rate.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* What is kept between windows, so that no window allocates. */
struct mpi_exchange {
    struct exchange exchange;
    MPI_Request *requests;                   /* [2 × n_ranks] */
    MPI_Status *statuses;                    /* the same */
    uint64_t *sent_counts, *received_counts; /* [n_ranks] */
};

static void check(int code, const char *what) {
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        BUG("MPI: %s failed: %s", what, text);
    }
}

static int bytes_of(uint64_t records) {
    REQUIRE(records <= (uint64_t)INT_MAX / sizeof(struct exchange_record),
            "a window sends more than 2 GiB to one rank");
    return (int)(records * sizeof(struct exchange_record));
}

static void make_room(struct exchange_buffer *buffer, uint64_t count) {
    if (buffer->capacity < count) {
        buffer->capacity = (uint32_t)(count + count / 2);
        buffer->records = memory_resize(buffer->records, buffer->capacity, sizeof(*buffer->records));
    }
    buffer->count = (uint32_t)count;
}

/* Only ranks that have something to say to each other exchange a message. */
static void pass_records(struct mpi_exchange *own, const struct exchange_buffer *outgoing,
                         struct exchange_buffer *incoming) {
    const uint32_t n = own->exchange.n_ranks;
    int n_requests = 0;
    for (uint32_t r = 0; r < n; r++) {
        own->sent_counts[r] = outgoing[r].count;
    }
    check(MPI_Alltoall(own->sent_counts, 1, MPI_UINT64_T, own->received_counts, 1, MPI_UINT64_T, MPI_COMM_WORLD),
          "telling the number of records");
    for (uint32_t r = 0; r < n; r++) {
        make_room(&incoming[r], own->received_counts[r]);
        if (incoming[r].count > 0) {
            check(MPI_Irecv(incoming[r].records, bytes_of(incoming[r].count), MPI_BYTE, (int)r, 0, MPI_COMM_WORLD,
                            &own->requests[n_requests++]),
                  "receiving records");
        }
    }
    for (uint32_t r = 0; r < n; r++) {
        if (outgoing[r].count > 0) {
            check(MPI_Isend(outgoing[r].records, bytes_of(outgoing[r].count), MPI_BYTE, (int)r, 0, MPI_COMM_WORLD,
                            &own->requests[n_requests++]),
                  "sending records");
        }
    }
    check(MPI_Waitall(n_requests, own->requests, own->statuses), "exchanging records");
}

/*
 * MPICH 4.0 (Debian 12) takes the minimum of MPI_UINT64_T as if the numbers were signed, which makes "never" (all bits set) the
 * smallest of all. Times fit into 63 bits, and never becomes the largest number of those on the way.
 */
static int64_t to_signed(uint64_t time_ps) {
    return time_ps < (uint64_t)INT64_MAX ? (int64_t)time_ps : INT64_MAX;
}

static uint64_t from_signed(int64_t time_ps) {
    return time_ps < INT64_MAX ? (uint64_t)time_ps : TIME_NEVER;
}

static void end_window(void *context, const struct exchange_buffer *outgoing, struct exchange_buffer *incoming,
                       struct exchange_verdict *verdict) {
    pass_records(context, outgoing, incoming);
    int64_t opinions[2] = {to_signed(verdict->next_ps), verdict->stop ? 0 : 1}; // the smallest of each wins
    check(MPI_Allreduce(MPI_IN_PLACE, opinions, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD),
          "agreeing on the next window");
    verdict->next_ps = from_signed(opinions[0]);
    verdict->stop = opinions[1] == 0;
}

static void reduce(const struct mpi_exchange *own, void *numbers, size_t n, MPI_Datatype type, MPI_Op operation) {
    enum { AT_ONCE = 1 << 20 };
    unsigned char *bytes = numbers;
    for (size_t done = 0; done < n; done += AT_ONCE) {
        const int part = (int)(n - done < AT_ONCE ? n - done : AT_ONCE);
        unsigned char *at = bytes + done * sizeof(uint64_t);
        const bool first = own->exchange.rank == 0;
        check(MPI_Reduce(first ? MPI_IN_PLACE : at, first ? at : NULL, part, type, operation, 0, MPI_COMM_WORLD),
              "collecting counters");
    }
}

static void sum(void *context, uint64_t *numbers, size_t n) {
    reduce(context, numbers, n, MPI_UINT64_T, MPI_SUM);
}

static void minimum(void *context, uint64_t *times_ps, size_t n) {
    int64_t *numbers = memory_allocate(n, sizeof(*numbers));
    for (size_t i = 0; i < n; i++) {
        numbers[i] = to_signed(times_ps[i]);
    }
    reduce(context, numbers, n, MPI_INT64_T, MPI_MIN);
    for (size_t i = 0; i < n; i++) {
        times_ps[i] = from_signed(numbers[i]);
    }
    free(numbers);
}

/* Large blocks go in parts that an int can count. */
static void pass_block(const struct mpi_exchange *own, uint32_t from, unsigned char *block, size_t size) {
    enum { AT_ONCE = 1 << 30 };
    for (size_t done = 0; done < size; done += AT_ONCE) {
        const int part = (int)(size - done < AT_ONCE ? size - done : AT_ONCE);
        if (own->exchange.rank == 0) {
            check(MPI_Recv(block + done, part, MPI_BYTE, (int)from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  "collecting messages");
        } else {
            check(MPI_Send(block + done, part, MPI_BYTE, 0, 1, MPI_COMM_WORLD), "collecting messages");
        }
    }
}

static void gather(void *context, const void *block, size_t size, unsigned char **all, size_t *sizes) {
    const struct mpi_exchange *own = context;
    const uint64_t own_size = size;
    uint64_t *counts = memory_allocate(own->exchange.n_ranks, sizeof(*counts));
    check(MPI_Gather(&own_size, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "collecting sizes");
    *all = NULL;
    if (own->exchange.rank != 0) {
        unsigned char *copy = memory_allocate(size + 1, 1);
        memcpy(copy, block, size);
        pass_block(own, own->exchange.rank, copy, size);
        free(copy);
        free(counts);
        return;
    }
    size_t total = 0;
    for (uint32_t r = 0; r < own->exchange.n_ranks; r++) {
        sizes[r] = counts[r];
        total += counts[r];
    }
    *all = memory_allocate(total + 1, 1);
    memcpy(*all, block, size);
    size_t at = size;
    for (uint32_t r = 1; r < own->exchange.n_ranks; r++) {
        pass_block(own, r, *all + at, sizes[r]);
        at += sizes[r];
    }
    free(counts);
}

/* mpirun of MPICH, Open MPI and Slurm leave their marks; without one nobody waits for us. */
static bool was_started_by_mpirun(void) {
    return getenv("PMI_RANK") || getenv("PMIX_RANK") || getenv("OMPI_COMM_WORLD_RANK") || getenv("MPI_LOCALNRANKS");
}

struct exchange *mpi_exchange_start(int *n_arguments, char ***arguments) {
    if (!was_started_by_mpirun()) {
        return NULL;
    }
    int provided, rank, n_ranks;
    check(MPI_Init_thread(n_arguments, arguments, MPI_THREAD_FUNNELED, &provided), "starting");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    struct mpi_exchange *own = memory_allocate(1, sizeof(*own));
    own->requests = memory_allocate(2 * (size_t)n_ranks, sizeof(*own->requests));
    own->statuses = memory_allocate(2 * (size_t)n_ranks, sizeof(*own->statuses));
    own->sent_counts = memory_allocate((size_t)n_ranks, sizeof(uint64_t));
    own->received_counts = memory_allocate((size_t)n_ranks, sizeof(uint64_t));
    own->exchange = (struct exchange){
        .rank = (uint32_t)rank,
        .n_ranks = (uint32_t)n_ranks,
        .context = own,
        .end_window = end_window,
        .sum = sum,
        .minimum = minimum,
        .gather = gather,
    };
    return &own->exchange;
}

void mpi_exchange_finish(struct exchange *exchange) {
    if (exchange) {
        struct mpi_exchange *own = exchange->context;
        MPI_Finalize();
        free(own->requests);
        free(own->statuses);
        free(own->sent_counts);
        free(own->received_counts);
        free(own);
    }
}

_Noreturn void mpi_exchange_abort(struct exchange *exchange, int exit_code) {
    (void)exchange;
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    exit(exit_code);
}
