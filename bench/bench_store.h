/* bench_store: a store in a directory, and the blocking calls that measuring programs want.
 *
 * A call that fails ends the program: a figure of something that failed is none. */
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
/* End the program when `rc` is not 0, naming `what`. */
void must(int rc, const char *what, const struct error *err);

/* A new directory with the built-in tables and `tables`, in keyspaces that are made for them. */
void bench_store_create(struct bench_store *bench, const char *path,
                        const struct table_definition *const *tables, uint32_t table_count);
/* One that is there, for reading. */
void bench_store_open(struct bench_store *bench, const char *path);
void bench_store_close(struct bench_store *bench);

/* Handle what is ready, waiting for something; until `*done`. */
void bench_store_step(struct bench_store *bench);
void bench_store_wait(struct bench_store *bench, const bool *done);
/* A store_done whose context is the bool to set. */
void bench_store_done(void *context, int status, const struct error *err);
/* Flush and merge all runs. */
void bench_store_compact(struct bench_store *bench);
/* Bytes of a table's segments. */
uint64_t bench_store_bytes(struct bench_store *bench, uint32_t table_id);
#endif
