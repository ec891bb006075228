/* row_listing: prints the rows of a table as the output of a command, and reads them no faster than
 * the output is read.
 *
 * Partitions, or a whole table, are read page by page.  The output of a page's rows is written
 * before the next page is read; while the output is full, no page is read.  All functions run on
 * the engine thread. */
#ifndef DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H
#define DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H

#include "base/cli/command.h"
#include "storage/engine/store.h"

/* Must be the first member of its owner's struct.  row_listing_run frees that struct by
 * memory_free.  The owner sets the given members; all others are zero. */
struct row_listing {
    /* given */
    struct store *store;               /* outlives the listing */
    struct command_output *output;
    struct table_print *print;         /* owned; prints to `text`; NULL: the output is no table */
    const char *plural;                /* for error messages: "producers" */
    const char *none;                  /* the message if no row was found */
    /* The request to read, without its position.  NULL `next`: the owner sets `request` and
     * `has_request`.  Else `next` sets the next request; false: all was read. */
    struct read_request request;
    bool has_request;                  /* `request` is not read to its end */
    bool (*next)(struct row_listing *listing, struct read_request *request);
    /* Write a row to `print` or `text`; returns 0, or an error and its text in `err`. */
    int (*row)(struct row_listing *listing, const struct table *table,
               const struct page_row *row);
    /* Called after all rows were read without an error; may be NULL. */
    void (*end)(struct row_listing *listing);
    /* results */
    struct buffer text;                /* output that is not written yet */
    uint64_t rows;                     /* rows read */
    struct error err;                  /* set by `row` if it fails */
    /* private */
    struct buffer position;            /* the beginning of the request's next page */
    int status;
};

/* Read and print all rows; then finish the output and free the listing. */
void row_listing_run(struct row_listing *listing);
#endif
