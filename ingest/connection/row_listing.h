/* row_listing: prints the rows of a table as the output of a command, and reads them no faster than
 * the output is read.
 *
 * Partitions, or a whole table, are read page by page.  All functions run on the engine thread. */
#ifndef DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H
#define DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H

#include "base/cli/command.h"
#include "storage/engine/store.h"

/* Must be the first member of its owner's struct, which row_listing_run frees by memory_free.  The
 * owner sets the given members; all others are zero. */
struct row_listing {
    /* given */
    struct store *store;               /* outlives the listing */
    struct command_output *output;
    struct table_print *print;         /* owned; prints to `text`; NULL: no table */
    const char *plural;                /* for error messages, as "producers" */
    const char *none;
    /* `next` is called when all pages of a request were read: it sets the next request, without a
     * position, or returns false if there is none.  If `next` is NULL, the owner sets `request` and
     * `has_request`. */
    struct read_request request;
    bool has_request;
    bool (*next)(struct row_listing *listing, struct read_request *request);
    /* Write a row to `print` or `text`.  Returns 0, or an error whose text is in `err`. */
    int (*row)(struct row_listing *listing, const struct table *table,
               const struct page_row *row);
    /* Called after the last row, unless there was an error; may be NULL. */
    void (*end)(struct row_listing *listing);
    /* `row` may set this to make its row the last one. */
    bool has_enough;
    /* results */
    struct buffer text;
    uint64_t rows;
    struct error err;
    /* private */
    struct buffer position;
    int status;
};

/* Print the rows and finish the command.  Frees the listing at the end. */
void row_listing_run(struct row_listing *listing);
#endif
