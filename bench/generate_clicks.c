/* generate_clicks: print generated clicks as CSV, or in the numbered batches of the text door.
 *
 *     generate_clicks --clicks 1000 | nc -N 127.0.0.1 7600
 *
 * The same options give the same bytes. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/click_generator.h"

enum { CHUNK_LINES = 16384 };

struct arguments {
    struct click_options clicks;
    const char *producer; /* NULL: plain CSV with a header */
    uint64_t batch_lines;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct click_options *clicks = &arguments->clicks;
    uint64_t number = 0;
    bool is_good = true;

    switch (key) {
    case 'n':
        is_good = click_number_parse(argument, 0, UINT64_C(1000000000000), &clicks->clicks);
        break;
    case 's':
        is_good = click_number_parse(argument, 0, UINT32_MAX, &clicks->seed);
        break;
    case 'r':
        is_good = click_number_parse(argument, 1, CLICK_RESELLERS_MAX, &number);
        clicks->resellers = (uint32_t)number;
        break;
    case 'a':
        is_good = click_number_parse(argument, 1, CLICK_ADS_MAX, &number);
        clicks->ads = (uint32_t)number;
        break;
    case 'd':
        is_good = click_number_parse(argument, 1, CLICK_DAYS_MAX, &number);
        clicks->days = (uint32_t)number;
        break;
    case 'o':
        is_good = click_order_parse(argument, &clicks->order);
        break;
    case 'p':
        arguments->producer = argument;
        break;
    case 'b':
        is_good = click_number_parse(argument, 1, 65536, &arguments->batch_lines);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!is_good)
        argp_error(state, "no such value: %s", argument);
    return 0;
}

static const struct argp_option options[] = {
    {"clicks", 'n', "N", 0, "how many (10000000)", 0},
    {"order", 'o', "ORDER", 0, "of their times: ordered, late (5 %) or shuffled", 0},
    {"days", 'd', "N", 0, "from 2026-08-01 on (30)", 0},
    {"resellers", 'r', "N", 0, "with weights 1/1, 1/2, 1/3 ... (1000)", 0},
    {"ads", 'a', "N", 0, "of each reseller (200)", 0},
    {"seed", 's', "N", 0, "another one gives other clicks (1)", 0},
    {"producer", 'p', "UUID", 0, "print numbered batches of this producer", 0},
    {"batch", 'b', "LINES", 0, "in a batch (1000)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Print generated clicks: the same options give the same bytes.",
};

static bool print(struct buffer *text)
{
    bool is_written = fwrite(text->data, 1, text->size, stdout) == text->size;

    buffer_clear(text);
    return is_written;
}

static bool print_all(const struct arguments *arguments)
{
    struct click_generator *generator = click_generator_new(&arguments->clicks);
    bool is_framed = arguments->producer != NULL;
    uint64_t step = is_framed ? arguments->batch_lines : CHUNK_LINES;
    uint64_t left = arguments->clicks.clicks;
    uint64_t sequence = 0;
    struct buffer text = {0};
    bool is_written = true;

    if (is_framed)
        buffer_printf(&text, "#producer %s 1 new\n", arguments->producer);
    else
        buffer_append_text(&text, "reseller_id,day,time,ad_id,amount\n");
    while (left > 0 && is_written) {
        uint64_t count = left < step ? left : step;

        if (is_framed)
            buffer_printf(&text, "#batch %" PRIu64 " %" PRIu64 "\n", ++sequence, count);
        click_generator_append(generator, arguments->clicks.clicks - left, count, &text);
        left -= count;
        if (text.size >= CHUNK_LINES)
            is_written = print(&text);
    }
    is_written = is_written && print(&text) && fflush(stdout) == 0;
    buffer_release(&text);
    click_generator_free(generator);
    return is_written;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.clicks = click_options_default(), .batch_lines = 1000};

    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (!print_all(&arguments)) {
        perror("generate_clicks");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
