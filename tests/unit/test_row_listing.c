/* A listing reads every page of every request, and none while its output is full. */
#include "ingest/connection/row_listing.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/memory.h"

enum { REQUESTS = 2 };

static uint32_t reads;
static bool fails;
static bool page_fails;

/* Each request has two pages of one row, which come before the call returns. */
static int store_reads(struct store *store, const struct read_request *request, store_page done,
                       void *context, struct error *err)
{
    static const struct page_row row;
    struct read_page page = {.rows = &row, .row_count = 1};

    (void)store;
    if (fails)
        return error_set(err, ERROR_CORRUPT, "a page is damaged");
    if (request->position.size == 0)
        page.position = bytes_text("second page");
    cr_assert_lt(reads, 2 * REQUESTS, "a page is read again");
    reads++;
    if (page_fails) {
        struct error damaged = {0};
        done(context, error_set(&damaged, ERROR_CORRUPT, "a page is damaged"), &damaged, NULL);
        return 0;
    }
    done(context, 0, NULL, &page);
    return 0;
}

static const struct store_ops ops = {.read = store_reads};
static struct store store = {.ops = &ops};

static bool is_full;
static int exit_status;
static uint32_t finished;
static char written[64];

static void output_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    (void)output;
    (void)stream;
    strncat(written, (const char *)bytes.data, bytes.size);
}

static bool output_is_full(struct command_output *output)
{
    (void)output;
    return is_full;
}

static void output_finish(struct command_output *output, int status)
{
    (void)output;
    exit_status = status;
    finished++;
}

static struct command_output output = {
    .write = output_write, .is_full = output_is_full, .finish = output_finish};

struct numbers {
    struct row_listing listing;
    uint32_t next;
};

static bool numbers_next(struct row_listing *listing, struct read_request *request)
{
    struct numbers *numbers = (struct numbers *)listing;

    *request = (struct read_request){0};
    return numbers->next++ < REQUESTS;
}

static int numbers_row(struct row_listing *listing, const struct table *table,
                       const struct page_row *row)
{
    (void)table;
    (void)row;
    buffer_printf(&listing->text, "%u ", ((struct numbers *)listing)->next);
    is_full = true;
    return 0;
}

static void numbers_list(void)
{
    struct numbers *numbers = memory_zeroed(1, sizeof *numbers);

    numbers->listing = (struct row_listing){.store = &store,
                                            .output = &output,
                                            .plural = "numbers",
                                            .none = "no number",
                                            .next = numbers_next,
                                            .row = numbers_row};
    row_listing_run(&numbers->listing);
}

Test(row_listing, reads_a_page_when_the_output_has_room)
{
    numbers_list();
    for (uint32_t page = 1; page < 2 * REQUESTS; page++) {
        cr_expect_eq(reads, page);
        cr_expect_eq(finished, 0);
        is_full = false;
        output.drained(output.drained_context);
    }
    cr_expect_eq(finished, 1);
    cr_expect_eq(exit_status, EXIT_DONE);
    cr_expect_str_eq(written, "1 1 2 2 ");
}

Test(row_listing, ends_at_a_page_that_is_damaged)
{
    page_fails = true;
    numbers_list();
    cr_expect_eq(reads, 1);
    cr_expect_eq(finished, 1);
    cr_expect_eq(exit_status, EXIT_SYSTEM_FAILED);
    cr_expect_str_eq(written, "daybook: cannot read the numbers: a page is damaged\n");
}

Test(row_listing, says_what_could_not_be_read)
{
    fails = true;
    numbers_list();
    cr_expect_eq(exit_status, EXIT_SYSTEM_FAILED);
    cr_expect_str_eq(written, "daybook: cannot read the numbers: a page is damaged\n");
}
