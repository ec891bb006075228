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

static void listing_next(struct row_listing *listing);

static void listing_page(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct row_listing *listing = context;

    listing->status = status;
    (void)error_keep(&listing->err, status, err);
    for (uint32_t i = 0; listing->status == 0 && !listing->has_enough && i < page->row_count; i++) {
        listing->status = listing->row(listing, page->table, &page->rows[i]);
        listing->rows++;
    }
    if (listing->status != 0) {
        listing_finish(listing);
        return;
    }
    buffer_set(&listing->position, page->position);
    listing->has_request = page->position.size > 0 && !listing->has_enough;
    listing_write(listing);
    listing_next(listing);
}

static void listing_drained(void *context)
{
    struct row_listing *listing = context;

    listing->output->drained = NULL;
    listing_next(listing);
}

static void listing_next(struct row_listing *listing)
{
    struct error err = {0};

    if (!listing->has_request && !listing->has_enough && listing->next != NULL)
        listing->has_request = listing->next(listing, &listing->request);
    if (!listing->has_request) {
        listing_finish(listing);
        return;
    }
    if (command_must_wait(listing->output, listing_drained, listing))
        return;
    listing->request.row_limit = PAGE_ROWS;
    listing->request.position = buffer_view(&listing->position);
    int rc = store_read(listing->store, &listing->request, listing_page, listing, &err);
    /* If the result is 0, the listing may be freed already. */
    if (rc != 0) {
        listing->status = error_keep(&listing->err, rc, &err);
        listing_finish(listing);
    }
}

void row_listing_run(struct row_listing *listing)
{
    check((listing->next != NULL || listing->has_request) && listing->row != NULL);
    listing_next(listing);
}
