/* keyed: clicks that bring ids of their own, of which a repeated one is no other click.
 *
 *     rows of a batch ─▶ what is there under their ids, read as applied ─▶ each row is
 *         new         written, and counted
 *         a duplicate nothing is written: it is there, with the same amount
 *         different   refused: it is there, with another amount
 *     ─▶ rows and increments, applied if the days are as they were read; else read again
 *
 * The store cannot rank such clicks, so a row builder's block never reaches it: it is of a table
 * that exists here only, and becomes rows of the stream's when it is known which of them are new.
 * Engine thread. */
#ifndef DAYBOOK_INGEST_PARSE_KEYED_H
#define DAYBOOK_INGEST_PARSE_KEYED_H

#include "ingest/parse/reject.h"
#include "ingest/parse/stream_map.h"
#include "storage/engine/store.h"

/* The builder's table: the stream's columns under their numbers, and these. */
enum {
    KEYED_TABLE = 1,
    KEYED_RANK = 1001,                 /* the last key column, which nobody fills */
    KEYED_CLICK_ID,                    /* serialized */
    KEYED_LINE,                        /* its number in the batch, */
    KEYED_CONTENT                      /* and the line, cut, should it be refused */
};

/* The schema of that table, for schema_unref. */
struct schema *keyed_schema(const struct ingest_stream *stream);

struct keyed;

/* `stream` and `store` outlive it. */
struct keyed *keyed_new(struct store *store, const struct ingest_stream *stream);
void keyed_free(struct keyed *keyed);                          /* NULL is fine; nothing is read */

enum keyed_state { KEYED_EMPTY, KEYED_READING, KEYED_JUDGED, KEYED_FAILED };
enum keyed_state keyed_state(const struct keyed *keyed);
const struct error *keyed_error(const struct keyed *keyed);    /* of KEYED_FAILED */

/* EMPTY: find out what the block's rows are; `done` is called once, possibly at once, when it is
 * JUDGED or FAILED.  The block stays as it is until keyed_clear. */
void keyed_judge(struct keyed *keyed, const struct block *block, void (*done)(void *context),
                 void *context);
/* Forget what was judged: it was written, is of no use any more, or must be judged again. */
void keyed_clear(struct keyed *keyed);

/* Of what is JUDGED. */
uint64_t keyed_duplicates(const struct keyed *keyed);
uint64_t keyed_different(const struct keyed *keyed);
void keyed_add_rejects(const struct keyed *keyed, struct reject_list *rejects);
void keyed_add_rows(const struct keyed *keyed, struct write_batch *batch);
const struct store_expectation *keyed_expectations(const struct keyed *keyed, uint32_t *count_out);
#endif
