/* row_listing: the rows of a table as the answer of a command, read no faster than the answer is
 * taken.
 *
 * Partitions, or a whole table, are read page by page.  What a page's rows become is written before
 * the next page is read; while the output is full no page is read.  Engine thread. */
#ifndef DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H
#define DAYBOOK_INGEST_CONNECTION_ROW_LISTING_H

#include "base/cli/command.h"
#include "storage/engine/store.h"

/* The first member of its owner's struct, which memory_free frees.  Begins as zeros but for what is
 * given. */
struct row_listing {
    /* given */
    struct store *store;               /* outlives it */
    struct command_output *output;
    struct table_print *print;         /* owned; prints to `text`; NULL: rows are no table */
    const char *plural;                /* "producers": of which an error says that they cannot be
                                        * read */
    const char *none;                  /* said where no row was found */
    /* The next request, all but its position; false: all was read. */
    bool (*next)(struct row_listing *listing, struct read_request *request);
    /* A row of it, to `print` or `text`; 0, or an error. */
    int (*row)(struct row_listing *listing, const struct table *table,
               const struct page_row *row);
    /* All rows were read; NULL: nothing is to be printed then. */
    void (*end)(struct row_listing *listing);
    /* made */
    struct buffer text;                /* not written yet */
    uint64_t rows;                     /* read */
    struct error err;                  /* `row` says here why it failed */
    /* private */
    struct read_request request;
    bool has_request;                  /* it is not read to its end */
    struct buffer position;            /* where its next page begins */
    bool is_running;
    bool is_waiting;                   /* for a page, or for the output's reader */
    int status;
};

/* Read and print all; the output is finished, and the listing freed, when that is done. */
void row_listing_run(struct row_listing *listing);
#endif
