/* row_listing: see the header. */
#include "ingest/connection/row_listing.h"

#include "base/memory.h"

enum { PAGE_ROWS = 500 };

static void listing_write(struct row_listing *listing)
{
    if (listing->text.size > 0)
        listing->output->write(listing->output, COMMAND_OUT, buffer_view(&listing->text));
    buffer_clear(&listing->text);
}

static void listing_finish(struct row_listing *listing)
{
    struct command_output *output = listing->output;
    int exit_status = EXIT_DONE;

    if (listing->status == 0 && listing->end != NULL)
        listing->end(listing);
    if (listing->print != NULL && listing->status == 0)
        table_print_finish(listing->print);
    else if (listing->print != NULL)
        table_print_abandon(listing->print);
    listing_write(listing);
    if (listing->status != 0) {
        command_printf(output, COMMAND_ERR, "daybook: cannot read the %s: %s\n", listing->plural,
                       listing->err.text);
        exit_status = EXIT_SYSTEM_FAILED;
    } else if (listing->rows == 0) {
        command_printf(output, COMMAND_ERR, "%s\n", listing->none);
    }
    buffer_release(&listing->position);
    buffer_release(&listing->text);
    memory_free(listing);
    output->finish(output, exit_status);
}

static void listing_go_on(struct row_listing *listing);

static void listing_page(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct row_listing *listing = context;

    listing->is_waiting = false;
    listing->status = status;
    (void)error_keep(&listing->err, status, err);
    for (uint32_t i = 0; listing->status == 0 && i < page->row_count; i++) {
        listing->status = listing->row(listing, page->table, &page->rows[i]);
        listing->rows++;
    }
    if (listing->status == 0) {
        buffer_clear(&listing->position);
        buffer_append_bytes(&listing->position, page->position);
        listing->has_request = page->position.size > 0;
        listing_write(listing);
    }
    listing_go_on(listing);
}

static void listing_drained(void *context)
{
    struct row_listing *listing = context;

    listing->output->drained = NULL;
    listing->is_waiting = false;
    listing_go_on(listing);
}

/* Read until the listing must wait for a page or for the output's reader.  This is a loop, not a
 * recursion, because pages may come before store_read returns, and there may be thousands of
 * partitions. */
static void listing_go_on(struct row_listing *listing)
{
    if (listing->is_running)
        return;
    listing->is_running = true;
    while (listing->status == 0 && !listing->is_waiting) {
        if (!listing->has_request && listing->next != NULL)
            listing->has_request = listing->next(listing, &listing->request);
        if (!listing->has_request)
            break;
        listing->is_waiting = true;
        if (command_must_wait(listing->output, listing_drained, listing))
            break;
        listing->request.row_limit = PAGE_ROWS;
        listing->request.position = buffer_view(&listing->position);
        int rc =
            store_read(listing->store, &listing->request, listing_page, listing, &listing->err);
        if (rc != 0) /* at 0 the page may have come already and set the status */
            listing->status = rc;
    }
    listing->is_running = false;
    if (listing->status != 0 || !listing->is_waiting)
        listing_finish(listing);
}

void row_listing_run(struct row_listing *listing)
{
    check((listing->next != NULL || listing->has_request) && listing->row != NULL);
    listing_go_on(listing);
}
