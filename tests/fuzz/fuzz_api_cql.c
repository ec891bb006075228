/* fuzz_api_cql: forms sent to /api/cql, and rows that CQL answers with: only what the form says is
 * run, the answer is JSON, and the page that it names is asked for by the bytes that CQL gave.
 *
 * Input: a form, a newline, what CQL answers.  CQL is this file's. */
#include "query/web/api_cql.h"

#include "base/arena.h"
#include "query/cql/session/cql.h"
#include "storage/schema/type.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/played_door.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HEAD                                                                                       \
    "POST /api/cql HTTP/1.1\r\nHost: a\r\n"                                                        \
    "Content-Type: application/x-www-form-urlencoded\r\n"

enum { COLUMNS_MAX = 3, ROWS_MAX = 4, TEXT_MAX = 256 };

static struct {
    struct bytes told;  /* what is to be answered */
    struct bytes form;  /* of the request */
    struct buffer page; /* the paging state of the last request */
    struct buffer next; /* that of the last answer */
    bool has_run;
} cql;

/* ---- what is answered ---- */

/* Of which JSON has each kind. */
static const struct type *column_type(unsigned choice)
{
    static const char *const names[] = {"text",           "decimal",   "varint",
                                        "double",         "timestamp", "blob",
                                        "uuid",           "date",      "frozen<list<float>>",
                                        "map<text, int>", "inet",      "duration"};
    enum { NAMES = sizeof names / sizeof names[0] };
    static const struct type *types[NAMES];
    static struct arena *arena;

    if (arena == NULL) {
        arena = arena_new(0);
        for (uint32_t i = 0; i < NAMES; i++)
            check(type_parse(bytes_text(names[i]), arena, NULL, NULL, &types[i], NULL) == 0);
    }
    return types[choice % NAMES];
}

static struct bytes take_bytes(struct bytes *input, size_t size_max)
{
    size_t size = fuzz_take_byte(input);

    size = size < size_max ? size : size_max;
    size = size < input->size ? size : input->size;
    struct bytes taken = bytes_of(input->data, size);
    *input = bytes_of(input->data + size, input->size - size);
    return taken;
}

static void put_cell(const struct type *type, struct bytes value, struct buffer *cells)
{
    if (type_validate(type, value, NULL) != 0) {
        buffer_put_u32_be(cells, UINT32_MAX);
        return;
    }
    buffer_put_u32_be(cells, (uint32_t)value.size);
    buffer_append_bytes(cells, value);
}

static void answer_rows(cql_answer answer, void *context)
{
    struct cql_column columns[COLUMNS_MAX];
    struct cql_result result = {.kind = CQL_RESULT_ROWS};
    struct cql_rows *rows = &result.rows;
    struct buffer cells = {0};

    rows->metadata = (struct cql_metadata){columns, 1 + fuzz_take_byte(&cql.told) % COLUMNS_MAX};
    for (uint32_t i = 0; i < rows->metadata.count; i++)
        columns[i] = (struct cql_column){.keyspace = "k",
                                         .table = "t",
                                         .name = i > 0 ? "a" : "min(\"A\\\")",
                                         .type = column_type(fuzz_take_byte(&cql.told))};
    buffer_clear(&cql.next);
    buffer_append_bytes(&cql.next, take_bytes(&cql.told, TEXT_MAX));
    rows->paging_state = buffer_view(&cql.next);
    rows->row_count = fuzz_take_byte(&cql.told) % ROWS_MAX;
    for (uint32_t i = 0; i < rows->row_count * rows->metadata.count; i++)
        put_cell(columns[i % rows->metadata.count].type, take_bytes(&cql.told, TEXT_MAX), &cells);
    rows->cells = buffer_view(&cells);
    answer(context, &result);
    buffer_release(&cells);
}

static void answer_error(cql_answer answer, void *context)
{
    static const enum cql_error_code codes[] = {CQL_SERVER_ERROR, CQL_SYNTAX_ERROR, CQL_OVERLOADED,
                                                CQL_UNAUTHORIZED, CQL_READ_FAILURE};
    char message[TEXT_MAX + 2] = {0};
    struct cql_result result = {.kind = CQL_RESULT_ERROR};

    result.error.code = codes[fuzz_take_byte(&cql.told) % (sizeof codes / sizeof codes[0])];
    struct bytes text = take_bytes(&cql.told, TEXT_MAX);
    message[0] = 'e';
    if (text.size > 0)
        memcpy(message + (text.data[0] == 'l' ? 0 : 1), text.data, text.size);
    result.error.message = message;
    answer(context, &result);
}

/* ---- CQL ---- */

void cql_session_init(struct cql_session *session, struct cql *server)
{
    *session = (struct cql_session){.cql = server};
}

void cql_session_leave(struct cql_session *session, int64_t grace_us)
{
    (void)session;
    (void)grace_us;
}

static void check_request(const struct cql_session *session, const struct cql_request *request)
{
    struct http_parameters form;

    check(http_parameters_parse(cql.form, &form) == NULL);
    check(request->kind == CQL_QUERY && request->text.size > 0);
    check(bytes_equal(request->text, http_parameters_find(&form, "query")));
    check(bytes_equal(request->keyspace, http_parameters_find(&form, "keyspace")));
    check(request->page_size > 0 && request->page_size <= API_ROWS_MAX);
    check(2 * request->paging_state.size == http_parameters_find(&form, "page").size);
    check(session->read_only !=
          bytes_equal(http_parameters_find(&form, "token"), bytes_text(TOKEN)));
    http_parameters_release(&form);
}

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context)
{
    const struct cql_result nothing = {.kind = CQL_RESULT_VOID};
    unsigned kind = fuzz_take_byte(&cql.told) % 4;

    check_request(session, request);
    cql.has_run = true;
    buffer_clear(&cql.page);
    buffer_append_bytes(&cql.page, request->paging_state);
    buffer_clear(&cql.next);
    if (kind == 0)
        answer(context, &nothing);
    else if (kind == 1)
        answer_error(answer, context);
    else
        answer_rows(answer, context);
}

/* ---- requests ---- */

static void ask(struct bytes form)
{
    struct played_exchange played;

    cql.form = form;
    cql.has_run = false;
    check(played_door_ask(&played, bytes_text(HEAD), form));
    check(cql.has_run || (played.status >= 400 && played.status < 500));
    played_door_end(&played);
}

static void ask_for_next(void)
{
    struct buffer form = {0};
    struct buffer wanted = {0};

    buffer_append_text(&form, "query=x&page=");
    buffer_append_bytes(&wanted, buffer_view(&cql.next));
    for (size_t i = 0; i < wanted.size; i++)
        buffer_printf(&form, "%02x", wanted.data[i]);
    ask(buffer_view(&form));
    check(cql.has_run && bytes_equal(buffer_view(&cql.page), buffer_view(&wanted)));
    buffer_release(&form);
    buffer_release(&wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct web_token token = {TOKEN};
    static struct api_options options;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t form_size = end != NULL ? (size_t)(end - data) : size;

    if (options.cql == NULL) {
        options = (struct api_options){.token = &token, .cql = web_cql_open(NULL)};
        api_cql_add(NULL, &options);
    }
    cql.told = end != NULL ? bytes_of(end + 1, size - form_size - 1) : bytes_of(NULL, 0);
    ask(bytes_of(data, form_size));
    if (cql.has_run && cql.next.size > 0)
        ask_for_next();
    return 0;
}
