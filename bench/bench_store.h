/* bench_store: a store in a directory, with blocking calls for measuring programs.
 *
 * A failure ends the program, because a figure of a failed call is useless. */
#ifndef DAYBOOK_BENCH_BENCH_STORE_H
#define DAYBOOK_BENCH_BENCH_STORE_H

#include "rollup/tables.h"
#include "storage/engine/engine.h"

struct bench_store {
    struct world *world;
    struct store *store;
};

/* Monotonic seconds. */
double now_s(void);
/* If `rc` is not 0, print `what` and the error, and end the program. */
void must(int rc, const char *what, const struct error *err);

/* Make and open a directory with the built-in tables and `tables`, whose keyspaces are added. */
void bench_store_create(struct bench_store *bench, const char *path,
                        const struct table_definition *const *tables, uint32_t table_count);
/* Open an existing directory for reading only. */
void bench_store_open(struct bench_store *bench, const char *path);
void bench_store_close(struct bench_store *bench);

/* Handle the events that are ready; if none is ready, wait for one.  bench_store_wait repeats this
 * until `*done`. */
void bench_store_step(struct bench_store *bench);
void bench_store_wait(struct bench_store *bench, const bool *done);
/* A callback of type store_done.  `context` is a bool, which is set to true. */
void bench_store_done(void *context, int status, const struct error *err);
/* Flush and merge all runs. */
void bench_store_compact(struct bench_store *bench);
/* Returns the size of a table's segments. */
uint64_t bench_store_bytes(struct bench_store *bench, uint32_t table_id);
#endif
