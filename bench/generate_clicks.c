/* generate_clicks: prints generated clicks as CSV, or as numbered batches of the text protocol.
 *
 *     generate_clicks --clicks 1000 | nc -N 127.0.0.1 7600
 *
 * The same options give the same bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/click_arguments.h"

enum { CHUNK_LINES = 16384 };

struct arguments {
    struct click_options clicks;
    const char *producer; /* NULL: plain CSV with a header */
    uint64_t batch_lines;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->clicks;
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
    {"producer", 'p', "UUID", 0, "print numbered batches of this producer", 0},
    {"batch", 'b', "LINES", 0, "in a batch (1000)", 0},
    {0},
};

static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
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
