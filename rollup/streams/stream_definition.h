/* stream_definition: the definition of a stream over users' tables, as a user wrote it.
 *
 * A definition has the names of tables and columns.  struct click_stream has their numbers, which
 * change when a table is truncated.  A definition is one row of the hidden table
 * daybook_system.stream.  It is written in the frame that adds the stream's own tables to the
 * schema:
 *
 *     daybook.NAME_by_day            its figures, as amount_by_day has them
 *     daybook.NAME_restatement       its ledger, as restatement has it
 *     daybook_system.NAME_dirty_day  hidden
 *
 * stream_definition_resolve refuses a definition whose tables or columns a stream cannot use.  The
 * error's text says which kind of table or column could be used. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H

#include "rollup/click_stream.h"
#include "storage/engine/store.h"

/* The texts of a definition.  A table is written as KEYSPACE.TABLE. */
enum stream_text {
    STREAM_CLICKS,
    STREAM_RESELLER,
    STREAM_DAY,
    STREAM_TIME,
    STREAM_AD,
    STREAM_AMOUNT,
    STREAM_RATES,
    STREAM_RATES_RESELLER,
    STREAM_RATES_SINCE,
    STREAM_RATES_RATE,
    STREAM_COUNTERS,                   /* counter tables that the stream keeps, separated by commas;
                                        * "": none */
    STREAM_REFUSAL,                    /* "ignore": a client's UPDATE of one of these counters is
                                        * answered OK and changes nothing; "": it is refused */
    STREAM_ZONE,
    STREAM_CURRENCY,
    STREAM_RATES_UNIT,                 /* "percent": a quarter is 25; "": it is 0.25 */
    STREAM_TEXTS
};

enum { STREAM_NAME_MAX = 32 };

struct stream_definition {
    const char *name;
    const char *texts[STREAM_TEXTS];   /* never NULL */
};

/* The name of a text, in `daybook stream show` and as the column of the table
 * daybook_system.stream. */
const char *stream_definition_text_name(enum stream_text text);
/* The number of that column. */
uint32_t stream_definition_column(enum stream_text text);

/* A copy that owns its texts. */
struct stream_definition *stream_definition_copy(const struct stream_definition *definition);
void stream_definition_free(struct stream_definition *definition);     /* NULL is fine */

/* Look the definition's tables and columns up in `schema`.  The result borrows the definition's
 * texts.  ERROR_INVALID: the error's text says what is wrong and what would be right. */
must_check int stream_definition_resolve(const struct stream_definition *definition,
                                         const struct schema *schema,
                                         struct click_stream *stream_out, struct error *err);

/* Make the stream: check its name, and that the users' tables that it uses belong to no stream yet.
 * Its own tables are added to `schema`, and the users' tables get their flags.  The definition's
 * row is added to `batch`; this row says that no row of the users' tables is marked yet. */
must_check int stream_definition_make(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);
/* Drop the stream with its figures and its ledger; the users' tables that it uses stay. */
must_check int stream_definition_drop(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);

/* The position at which marking begins (stream_marking.c): no row is marked yet. */
#define STREAM_ALL_UNMARKED bytes_of("c", 1)

/* Write how far the rows that are older than the definition or a TRUNCATE are marked: a position of
 * stream_marking.c; size 0: all rows are marked. */
void stream_definition_write_unmarked(const char *name, struct bytes unmarked,
                                      const struct schema *schema, struct write_batch *batch);

/* Read a row of daybook_system.stream; the memory of the texts comes from `arena`. */
must_check int stream_definition_read(const struct table *table, const struct page_row *row,
                                      struct arena *arena, struct stream_definition *definition_out,
                                      struct bytes *unmarked_out, struct error *err);
#endif
