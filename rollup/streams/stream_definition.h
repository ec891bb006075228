/* stream_definition: the definition of a stream over users' tables, as a user wrote it.
 *
 * A definition has the names of tables and columns; struct click_stream has their numbers, which a
 * TRUNCATE changes.  A definition is one row of daybook_system.stream, written in the frame that
 * makes the stream's own tables:
 *
 *     daybook.NAME_by_day            its figures, as amount_by_day has them
 *     daybook.NAME_restatement       its ledger, as restatement has it
 *     daybook_system.NAME_dirty_day  its marks of dirty days; DESCRIBE leaves it out
 *
 * stream_definition_resolve refuses a definition whose tables or columns a stream cannot use. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_DEFINITION_H

#include "rollup/click_stream.h"
#include "storage/engine/store.h"

/* A table is written as KEYSPACE.TABLE. */
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
    STREAM_COUNTERS,                   /* separated by commas; "": none */
    STREAM_REFUSAL,                    /* "ignore": a client's UPDATE of these counters is answered
                                        * OK and changes nothing; "": it is refused */
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

/* The name of a text, in `daybook stream show` and as a column of daybook_system.stream. */
const char *stream_definition_text_name(enum stream_text text);
uint32_t stream_definition_column(enum stream_text text);

/* A copy that owns its texts. */
struct stream_definition *stream_definition_copy(const struct stream_definition *definition);
void stream_definition_free(struct stream_definition *definition);

/* The result borrows the definition's texts.  ERROR_INVALID: the error's text says what is wrong
 * and what would be right. */
must_check int stream_definition_resolve(const struct stream_definition *definition,
                                         const struct schema *schema,
                                         struct click_stream *stream_out, struct error *err);

/* Make the stream: check its name, and that the users' tables that it names belong to no other
 * stream.  The stream's own tables are added to `schema`, and the definition's row to `batch`. */
must_check int stream_definition_make(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);
must_check int stream_definition_drop(const struct stream_definition *definition,
                                      struct schema *schema, struct write_batch *batch,
                                      struct error *err);

/* The first position of stream_marking.c: no row is marked yet. */
#define STREAM_ALL_UNMARKED bytes_of("c", 1)

/* Write the position up to which older rows are marked (stream_marking.c); size 0: all are. */
void stream_definition_write_unmarked(const char *name, struct bytes unmarked,
                                      const struct schema *schema, struct write_batch *batch);

/* Read a row of daybook_system.stream; the memory of the texts comes from `arena`. */
must_check int stream_definition_read(const struct table *table, const struct page_row *row,
                                      struct arena *arena, struct stream_definition *definition_out,
                                      struct bytes *unmarked_out, struct error *err);
#endif
