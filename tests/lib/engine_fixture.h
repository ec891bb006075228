/* engine_fixture: an engine on a directory of its own, and the blocking calls tests want.
 *
 * Every helper steps the world's executor until the callback came. */
#ifndef DAYBOOK_TESTS_LIB_ENGINE_FIXTURE_H
#define DAYBOOK_TESTS_LIB_ENGINE_FIXTURE_H

#include "rollup/tables.h"
#include "storage/engine/engine.h"

/* Log files of the simulated world: some ten frames, so that a short history fills, renames and
 * uses them again, and a copy of the disk costs little. */
enum { SIM_LOG_FILE = 64 << 10 };

struct engine_fixture {
    char path[64];
    struct world *world;
    struct store *store;
    struct engine_options options;
    bool has_ingest;               /* the tables of ingest, too */
};

/* A new directory under /tmp with the built-in tables, opened. */
void engine_fixture_start(struct engine_fixture *fixture);
/* Close cleanly and open again; crashes are the simulated world's. */
void engine_fixture_restart(struct engine_fixture *fixture);
/* Close, and remove the directory. */
void engine_fixture_stop(struct engine_fixture *fixture);

/* The same in a world of the caller's, which stays his: make the directory's first manifest if
 * there is none, open; close.  Opening returns its error. */
int engine_fixture_open_in(struct engine_fixture *fixture, struct world *world, struct error *err);
void engine_fixture_close(struct engine_fixture *fixture);
void engine_fixture_close_failed(struct engine_fixture *fixture);    /* whatever the status is */

/* A block of clicks from rows of text: reseller, day, time_ms, ad, amount. */
struct click {
    const char *reseller;
    const char *day;
    int64_t time_ms;
    const char *ad;
    const char *amount;
};
struct block *engine_fixture_block(struct store *store, const struct click *clicks, uint32_t count);

/* Apply and wait until durable; returns the status. */
int engine_fixture_apply(struct engine_fixture *fixture, struct write_batch *batch);
/* As CREATE TABLE does it; the first one has the id 1000. */
void engine_fixture_create_table(struct engine_fixture *fixture,
                                 const struct table_definition *definition);
int engine_fixture_clicks(struct engine_fixture *fixture, const struct click *clicks,
                          uint32_t count);
void engine_fixture_flush(struct engine_fixture *fixture);
void engine_fixture_compact(struct engine_fixture *fixture);

/* Rows of a table as text, one a line: all columns by position, "|" between; a scan when `key` is
 * empty.  Owned by the caller (buffer_release); NUL-terminated. */
struct buffer engine_fixture_rows(struct engine_fixture *fixture, uint32_t table_id,
                                  struct bytes key, uint32_t row_limit, bool reversed);
/* "rows sum" of a partition of ad_click, as text. */
struct buffer engine_fixture_stats(struct engine_fixture *fixture, const char *reseller,
                                   const char *day);
/* The same, appended to `text` without a NUL, where a read may fail; `request` is the first
 * page's. */
must_check int engine_fixture_try_rows(struct engine_fixture *fixture,
                                       const struct read_request *request, struct buffer *text,
                                       struct error *err);
/* One page of them, from `position` on, which is then the next one's; empty: there is no more. */
must_check int engine_fixture_try_page(struct engine_fixture *fixture,
                                       const struct read_request *request,
                                       struct buffer *position, struct buffer *text,
                                       struct error *err);
must_check int engine_fixture_try_stats(struct engine_fixture *fixture, const char *reseller,
                                        const char *day, struct buffer *text, struct error *err);
void engine_fixture_key(struct buffer *key, const char *reseller, const char *day);
#endif
