/* Statements and their answers, from the files in tests/cql: each is run as a session on a
 * directory of its own in the simulated world, and must answer line by line what the file says.
 *
 *   > SELECT k, v FROM t          a statement; it may go on in lines that begin with a dot
 *     (k, v)                      its answer, two blanks in
 *     1 | 'a'
 *   ! restart                     flush, compact, restart, crash; page N: SELECTs in pages of N
 *                                 rows; wait N: seconds pass; settle: the rollup works dirty days
 *                                 off; click RESELLER DAY TIME AD AMOUNT: one comes by socket
 *   # a comment
 *
 * CQL_RECORD=1 in the environment writes the answers into the files instead of comparing them:
 * whoever does that reads the difference afterwards. */
#include <criterion/criterion.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/cql/common/cql_private.h"
#include "query/cql/session/cql.h"
#include "storage/engine/engine.h"
#include "tests/lib/rollup_fixture.h"

struct player {
    struct rollup_fixture instance;
    struct cql *cql;
    struct cql_session session;
    int32_t page_size;
    struct buffer *answer;
    struct buffer paging_state;
    bool is_answered;
    bool is_next_page;
};

static const uint8_t host_id[16] = {1};

static void player_open(struct player *player)
{
    struct cql_options options = {.store = player->instance.store,
                                  .world = player->instance.world,
                                  .streams = player->instance.streams,
                                  .host_id = host_id};
    player->cql = cql_new(&options);
    cql_session_init(&player->session, player->cql);
}

static void player_restart(struct player *player, bool crashes)
{
    char keyspace[SCHEMA_NAME_MAX + 1];
    snprintf(keyspace, sizeof(keyspace), "%s", player->session.keyspace);
    cr_assert_eq(player->cql->running, 0);
    cql_free(player->cql);
    if (crashes)
        rollup_fixture_crash(&player->instance, 1);
    else
        rollup_fixture_restart(&player->instance);
    player_open(player);
    snprintf(player->session.keyspace, sizeof(keyspace), "%s", keyspace);
}

/* ---- answers as text ---- */

/* Line ends as \n: a row is one line. */
static void print_text(struct buffer *text, struct bytes value)
{
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] == '\n')
            buffer_append_text(text, "\\n");
        else
            buffer_put_u8(text, value.data[i]);
}

static void print_value(struct buffer *text, const struct type *type, struct bytes value)
{
    bool is_quoted = type->kind == TYPE_TEXT || type->kind == TYPE_ASCII;
    if (value.data == NULL) {
        buffer_append_text(text, "null");
        return;
    }
    buffer_append_text(text, is_quoted ? "'" : "");
    if (type->kind == TYPE_COUNTER)
        buffer_printf(text, "%" PRId64, type_value_bigint(value));
    else if (is_quoted)
        print_text(text, value);
    else
        type_format(type, value, text);
    buffer_append_text(text, is_quoted ? "'" : "");
}

static void print_rows(struct player *player, const struct cql_rows *rows)
{
    struct buffer *text = player->answer;
    struct reader cells = reader_of(rows->cells);
    if (!player->is_next_page) {
        for (uint32_t i = 0; i < rows->metadata.count; i++)
            buffer_printf(text, "%s%s", i == 0 ? "  (" : ", ", rows->metadata.columns[i].name);
        buffer_append_text(text, ")\n");
    } else {
        buffer_append_text(text, "  -- next page\n");
    }
    for (uint32_t r = 0; r < rows->row_count; r++) {
        for (uint32_t c = 0; c < rows->metadata.count; c++) {
            int32_t size = (int32_t)__builtin_bswap32(reader_u32(&cells));
            struct bytes value = {0};
            if (size >= 0)
                value = reader_bytes(&cells, (size_t)size);
            buffer_append_text(text, c == 0 ? "  " : " | ");
            print_value(text, rows->metadata.columns[c].type, value);
        }
        buffer_append_text(text, "\n");
    }
    cr_assert(!cells.failed && reader_left(&cells) == 0, "cells of another size than rows say");
}

static void print_change(struct buffer *text, const struct cql_schema_change *change)
{
    static const char *const changes[] = {"CREATED", "UPDATED", "DROPPED"};
    static const char *const targets[] = {"KEYSPACE", "TABLE", "TYPE"};
    buffer_printf(text, "  %s %s %s%s%s\n", changes[change->change], targets[change->target],
                  change->keyspace, change->name[0] != '\0' ? "." : "", change->name);
}

static void answered(void *context, const struct cql_result *result)
{
    struct player *player = context;
    struct buffer *text = player->answer;
    buffer_clear(&player->paging_state);
    switch (result->kind) {
    case CQL_RESULT_ERROR:
        buffer_printf(text, "  ERROR %04x %s\n", result->error.code, result->error.message);
        break;
    case CQL_RESULT_VOID:
        buffer_append_text(text, "  OK\n");
        break;
    case CQL_RESULT_ROWS:
        print_rows(player, &result->rows);
        buffer_append_bytes(&player->paging_state, result->rows.paging_state);
        break;
    case CQL_RESULT_SET_KEYSPACE:
        buffer_printf(text, "  USE %s\n", result->keyspace);
        break;
    case CQL_RESULT_SCHEMA_CHANGE:
        print_change(text, &result->change);
        break;
    case CQL_RESULT_PREPARED:
        buffer_append_text(text, "  PREPARED\n");
        break;
    }
    for (uint32_t i = 0; i < result->extras.warning_count; i++)
        buffer_printf(text, "  WARNING %s\n", result->extras.warnings[i]);
    player->is_answered = true;
}

static void run_request(struct player *player, const struct cql_request *request)
{
    player->is_answered = false;
    cql_run(&player->session, request, answered, player);
    rollup_fixture_step_until(&player->instance, &player->is_answered);
}

static void run_statement(struct player *player, struct bytes text, struct buffer *answer)
{
    struct buffer state = {0};
    player->answer = answer;
    player->is_next_page = false;
    do {
        struct cql_request request = {.kind = CQL_QUERY,
                                      .text = text,
                                      .consistency = CQL_ONE,
                                      .serial_consistency = CQL_SERIAL,
                                      .page_size = player->page_size,
                                      .paging_state = buffer_view(&state)};
        run_request(player, &request);
        buffer_clear(&state);
        buffer_append_bytes(&state, buffer_view(&player->paging_state));
        player->is_next_page = true;
    } while (state.size > 0);
    buffer_release(&state);
}

static void compacted(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert_eq(status, 0);
    *(bool *)context = true;
}

static void compact(struct player *player)
{
    bool done = false;
    rollup_fixture_flush(&player->instance);
    cr_assert_eq(engine_compact(player->instance.store, compacted, &done, NULL), 0);
    rollup_fixture_step_until(&player->instance, &done);
}

static void click(struct player *player, const char *line)
{
    char reseller[64];
    char day[64];
    char ad[64];
    char amount[64];
    struct click one = {.reseller = reseller, .day = day, .ad = ad, .amount = amount};
    int count =
        sscanf(line, "%63s %63s %" SCNd64 " %63s %63s", reseller, day, &one.time_ms, ad, amount);
    cr_assert_eq(count, 5, "%s", line);
    rollup_fixture_clicks(&player->instance, &one, 1);
}

static void run_directive(struct player *player, const char *line)
{
    if (strncmp(line, "restart", 7) == 0 || strncmp(line, "crash", 5) == 0)
        player_restart(player, line[0] == 'c');
    else if (strncmp(line, "flush", 5) == 0)
        rollup_fixture_flush(&player->instance);
    else if (strncmp(line, "compact", 7) == 0)
        compact(player);
    else if (strncmp(line, "settle", 6) == 0)
        cr_assert_eq(rollup_fixture_refresh_now(&player->instance, false), 0);
    else if (strncmp(line, "click ", 6) == 0)
        click(player, line + 6);
    else if (strncmp(line, "wait ", 5) == 0)
        rollup_fixture_advance(&player->instance, atoi(line + 5));
    else if (strncmp(line, "page ", 5) == 0)
        player->page_size = atoi(line + 5);
    else
        cr_assert_fail("unknown directive: %s", line);
}

/* ---- a file ---- */

static struct buffer file_read(const char *path)
{
    struct buffer text = {0};
    char part[4096];
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t size;
    while ((size = fread(part, 1, sizeof(part), file)) > 0)
        buffer_append(&text, part, size);
    fclose(file);
    buffer_put_u8(&text, 0);
    return text;
}

static void flush_statement(struct player *player, struct buffer *statement, struct buffer *out)
{
    if (statement->size > 0) {
        run_statement(player, buffer_view(statement), out);
        buffer_clear(statement);
    }
}

/* The file as it should be: its statements with the answers of now. */
static struct buffer play(const char *path, char *text)
{
    struct player player = {0};
    struct buffer out = {0};
    struct buffer statement = {0};
    char *rest = NULL;
    rollup_fixture_start(&player.instance);
    player_open(&player);
    (void)path;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '.')
            buffer_printf(&statement, "\n%s", line + 2);
        else
            flush_statement(&player, &statement, &out);
        if (line[0] == '>')
            buffer_append_text(&statement, line + 2);
        if (line[0] == '!')
            run_directive(&player, line + 2);
        if (line[0] != ' ')
            buffer_printf(&out, "%s\n", line);
    }
    flush_statement(&player, &statement, &out);
    buffer_release(&statement);
    buffer_release(&player.paging_state);
    cql_free(player.cql);
    rollup_fixture_stop(&player.instance);
    buffer_put_u8(&out, 0);
    return out;
}

static void compare(const char *path, const char *wanted, const char *got)
{
    int line = 1;
    while (*wanted != '\0' && *wanted == *got) {
        line += *wanted == '\n';
        wanted++;
        got++;
    }
    if (*wanted == *got)
        return;
    while (*(wanted - 1) != '\n') {
        wanted--;
        got--;
    }
    cr_expect_fail("%s:%d\nwanted: %.*s\n   got: %.*s", path, line, (int)strcspn(wanted, "\n"),
                   wanted, (int)strcspn(got, "\n"), got);
}

/* Blank lines are for the reader. */
static void drop_blank_lines(struct buffer *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->size; i++) {
        bool is_blank = text->data[i] == '\n' && (kept == 0 || text->data[kept - 1] == '\n');
        if (!is_blank)
            text->data[kept++] = text->data[i];
    }
    text->size = kept;
}

static void play_file(const char *path)
{
    struct buffer wanted = file_read(path);
    struct buffer played = file_read(path);
    struct buffer got = play(path, (char *)played.data);
    drop_blank_lines(&wanted);
    if (getenv("CQL_RECORD") != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file);
        fwrite(got.data, 1, got.size - 1, file);
        fclose(file);
    } else {
        compare(path, (const char *)wanted.data, (const char *)got.data);
    }
    buffer_release(&wanted);
    buffer_release(&played);
    buffer_release(&got);
}

Test(cql, every_statement_answers_what_its_file_says, .timeout = 120)
{
    glob_t files;
    const char *pattern = getenv("CQL_FILE") != NULL ? getenv("CQL_FILE") : "tests/cql/*.cql";
    cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "no files in tests/cql");
    for (size_t i = 0; i < files.gl_pathc; i++)
        play_file(files.gl_pathv[i]);
    globfree(&files);
}
