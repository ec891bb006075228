/* fuzz_api: the parameters of a request: whatever they are, an address refuses them, or its command
 * parses the words that are made of them or says what is wrong; and the rows of a page are the same
 * however what was printed is cut into pieces. */
#include "query/web/api.h"
#include "query/web/api_words.h"

#include "base/arena.h"
#include "ingest/connection/rejects.h"
#include "query/commands/query_commands.h"
#include "rollup/commands/rollup_commands.h"
#include "tests/fuzz/fuzz.h"

enum { ENTRIES_MAX = 64 };

static struct command_entry entries[ENTRIES_MAX];
static uint32_t entry_count;

static void add_entries(const struct command *(*command_at)(uint32_t index))
{
    for (uint32_t i = 0; command_at(i) != NULL; i++) {
        check(entry_count < ENTRIES_MAX);
        entries[entry_count++] = (struct command_entry){command_at(i), NULL};
    }
}

static struct web_commands *make_commands(void)
{
    add_entries(query_commands_at);
    add_entries(rollup_commands_at);
    entries[entry_count++] = (struct command_entry){&rejects_command, NULL};
    return web_command_open(
        &(struct web_commands_options){.entries = entries, .entry_count = entry_count});
}

static void check_refusal(const struct http_refusal *refusal)
{
    check(refusal->status == 400 && refusal->code[0] != '\0' && refusal->what[0] != '\0' &&
          refusal->where[0] != '\0' && refusal->todo[0] != '\0');
}

static void ask_part(const struct web_commands *commands, const struct api_part *part,
                     const struct http_parameters *parameters, struct arena *arena)
{
    struct api_words words;
    struct error err = {0};

    api_words_make(part, parameters, NULL, "--format=json", arena, &words);
    const struct web_command command = {.words = words.items, .word_count = words.count};
    int rc = web_command_check(commands, &command, &err);
    check(rc == 0 || (rc == ERROR_USAGE && err.text[0] != '\0'));
}

static void ask(const struct web_commands *commands, const struct api_endpoint *endpoint,
                const struct http_parameters *parameters, struct arena *arena)
{
    struct api_page page = {0};
    const struct http_refusal *refusal = api_words_check(endpoint, parameters, arena);

    if (refusal == NULL && endpoint->form == API_TABLE)
        refusal = api_words_page(parameters, false, arena, &page);
    if (refusal != NULL) {
        check_refusal(refusal);
        return;
    }
    check(endpoint->form != API_TABLE || (page.limit > 0 && page.limit <= API_ROWS_MAX));
    for (uint32_t i = 0; i < endpoint->part_count; i++)
        ask_part(commands, &endpoint->parts[i], parameters, arena);
}

static struct row_window take_pieces(struct bytes input, size_t piece, bool is_csv,
                                     struct buffer *rows)
{
    struct row_window window = {.is_csv = is_csv, .skipped = 1, .rows_max = 2, .bytes_max = 1000};

    for (size_t at = 0; at < input.size; at += piece) {
        size_t left = input.size - at;
        row_window_take(&window, bytes_of(input.data + at, left < piece ? left : piece), rows);
    }
    return window;
}

static void check_window(struct bytes input, bool is_csv)
{
    struct buffer whole_rows = {0};
    struct buffer rows = {0};
    struct row_window whole = take_pieces(input, input.size + 1, is_csv, &whole_rows);
    struct row_window pieces = take_pieces(input, 1, is_csv, &rows);

    check(bytes_equal(buffer_view(&whole_rows), buffer_view(&rows)));
    check(whole.taken == pieces.taken && whole.taken <= 2);
    check(row_window_total(&whole) == row_window_total(&pieces));
    buffer_release(&whole_rows);
    buffer_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct web_commands *commands;
    struct bytes input = bytes_of(data, size);
    struct http_parameters parameters;
    const struct api_endpoint *endpoint;

    if (commands == NULL)
        commands = make_commands();
    const struct http_refusal *refusal = http_parameters_parse(input, &parameters);
    if (refusal != NULL)
        check_refusal(refusal);
    for (uint32_t i = 0; refusal == NULL && (endpoint = api_endpoints_at(i)) != NULL; i++) {
        struct arena *arena = arena_new(1024);
        ask(commands, endpoint, &parameters, arena);
        arena_free(arena);
    }
    http_parameters_release(&parameters);
    check_window(input, false);
    check_window(input, true);
    return 0;
}
