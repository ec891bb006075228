/* stream_definition: a stream that users define over their tables, as they wrote it.
 *
 * A definition names tables and columns; click_stream has their numbers, which change when a table
 * is truncated.  The definition is one row of the hidden table daybook_system.stream, written in
 * the frame that adds the stream's tables to the schema:
 *
 *     daybook.NAME_by_day            its figures, as amount_by_day has them
 *     daybook.NAME_restatement       its ledger, as restatement has it
 *     daybook_system.NAME_dirty_day  hidden
 *
 * A definition whose tables or columns a stream cannot use is refused here; the error says which
 * ones it could use. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H

#include "rollup/click_stream.h"
#include "storage/engine/store.h"

/* The texts of a definition: a table is KEYSPACE.TABLE. */
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
    STREAM_COUNTERS,                   /* tables of the counters that the stream keeps, separated by
                                        * commas; "": it keeps none */
    STREAM_REFUSAL,                    /* "ignore": a client's own UPDATE of a kept counter is
                                        * answered OK; "": refused */
    STREAM_ZONE,
    STREAM_CURRENCY,
    STREAM_RATES_UNIT,                 /* "percent": a rate of 25 is a quarter; "": 0.25 is */
    STREAM_TEXTS
};

enum { STREAM_NAME_MAX = 32 };

struct stream_definition {
    const char *name;
    const char *texts[STREAM_TEXTS];   /* never NULL */
};

/* The name of a text: of its column in the table, and of its line in `daybook stream show`. */
const char *stream_definition_text_name(enum stream_text text);
/* The column's number. */
uint32_t stream_definition_column(enum stream_text text);

/* A copy that owns its texts. */
struct stream_definition *stream_definition_copy(const struct stream_definition *definition);
void stream_definition_free(struct stream_definition *definition);     /* NULL is fine */

/* Look the definition's tables and columns up in `schema`.  The result borrows the definition's
 * texts.  ERROR_INVALID says what is wrong and what would be right. */
must_check int stream_definition_resolve(const struct stream_definition *definition,
                                         const struct schema *schema,
                                         struct click_stream *stream_out, struct error *err);

/* Make the stream: check its name, and that no stream uses its tables yet; add to `schema` the
 * tables that it keeps, and the flags of those that it uses; and add the definition's row to
 * `batch`, by which none of the tables' rows is marked yet. */
must_check int stream_definition_make(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);
/* Drop the stream with its figures and its ledger; the tables that it uses stay. */
must_check int stream_definition_drop(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);

/* The position at which marking begins (stream_marking.c): no row is marked. */
#define STREAM_ALL_UNMARKED bytes_of("c", 1)

/* Write how far the rows that are older than the definition, or than a TRUNCATE, are marked: a
 * position of stream_marking.c; size 0: all are. */
void stream_definition_write_unmarked(const char *name, struct bytes unmarked,
                                      const struct schema *schema, struct write_batch *batch);

/* A row of daybook_system.stream; the texts live in `arena`. */
must_check int stream_definition_read(const struct table *table, const struct page_row *row,
                                      struct arena *arena, struct stream_definition *definition_out,
                                      struct bytes *unmarked_out, struct error *err);
#endif
