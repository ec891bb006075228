/* A write with a request id is applied only if the id's row in daybook_system.request is unchanged
 * since the id was looked up.  Of two copies of a request that run at the same time, one is
 * applied, and the other finds the row of the first.  That row may not be durable yet.  Therefore
 * the second copy applies an empty batch (cql_write.c), whose frame is not earlier than the row's,
 * and is answered when the batch is durable.
 *
 *     id uuid  content blob  answer blob        every cell expires after CQL_IDEMPOTENCY_WINDOW_S
 *
 * `content` is the XXH3-128 of the statements and their values, low half first.  The client's
 * default timestamp is not hashed, because drivers make a new one for a retry.  Only a conditional
 * write has an `answer`, whose format is in FORMATS.md "Requests". */
#include "query/cql/write/cql_idempotency.h"

#include <string.h>

#include "base/murmur3.h"
#include "query/cql/common/cql_tables.h"
#include "storage/engine/store.h"
#include "base/uuid.h"

enum { CONTENT_SIZE = 16, HEX_DIGITS = 2 * UUID_SIZE };

/* ---- the id ---- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct bytes skip_space(struct bytes text)
{
    while (text.size > 0 && is_space(text.data[0]))
        text = bytes_of(text.data + 1, text.size - 1);
    return text;
}

/* False: the text begins with something else. */
static bool take_word(struct bytes *text, const char *word)
{
    struct bytes wanted = bytes_text(word);
    struct bytes rest = skip_space(*text);
    if (rest.size < wanted.size || memcmp(rest.data, wanted.data, wanted.size) != 0)
        return false;
    *text = skip_space(bytes_of(rest.data + wanted.size, rest.size - wanted.size));
    return true;
}

static bool take_hex(struct bytes *text, uint8_t id[UUID_SIZE])
{
    if (text->size < HEX_DIGITS)
        return false;
    for (size_t i = 0; i < UUID_SIZE; i++) {
        int high = hex_digit(text->data[2 * i]);
        int low = hex_digit(text->data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id[i] = (uint8_t)(high << 4 | low);
    }
    *text = bytes_of(text->data + HEX_DIGITS, text->size - HEX_DIGITS);
    return true;
}

int cql_idempotency_hint(struct bytes text, struct arena *arena, struct bytes *id_out,
                         struct cql_fault *fault)
{
    uint8_t id[UUID_SIZE];
    *id_out = (struct bytes){0};
    if (!take_word(&text, "/*") || !take_word(&text, CQL_IDEMPOTENCY_NAME) ||
        !take_word(&text, ":"))
        return 0;
    if (!take_hex(&text, id) || !take_word(&text, "*/")) {
        return cql_invalid(fault, "%s in a comment needs 32 hex digits and nothing else",
                           CQL_IDEMPOTENCY_NAME);
    }
    *id_out = arena_copy(arena, bytes_of(id, UUID_SIZE));
    return 0;
}

static const struct cql_payload *payload_id(const struct cql_request *request)
{
    for (uint32_t i = 0; i < request->payload_count; i++)
        if (bytes_equal(request->payload[i].name, bytes_text(CQL_IDEMPOTENCY_NAME)))
            return &request->payload[i];
    return NULL;
}

int cql_idempotency_new(struct cql_execution *execution, struct bytes hint,
                        struct cql_idempotency **idempotency_out)
{
    const struct cql_payload *given = payload_id(&execution->request);
    struct bytes id = given != NULL ? given->value : hint;
    *idempotency_out = NULL;
    if (given == NULL && hint.size == 0)
        return 0;
    if (id.size != UUID_SIZE) {
        return cql_invalid(&execution->fault, "%s has %zu bytes instead of %d",
                           CQL_IDEMPOTENCY_NAME, id.size, UUID_SIZE);
    }
    if (hint.size > 0 && !bytes_equal(id, hint)) {
        return cql_invalid(&execution->fault, "%s is one in the payload and another in the text",
                           CQL_IDEMPOTENCY_NAME);
    }
    struct cql_idempotency *idempotency = arena_alloc(execution->arena, sizeof(*idempotency), 16);
    *idempotency =
        (struct cql_idempotency){.execution = execution, .id = id, .content = hash128_stream_new()};
    *idempotency_out = idempotency;
    return 0;
}

void cql_idempotency_free(struct cql_idempotency *idempotency)
{
    if (idempotency != NULL)
        hash128_stream_free(idempotency->content);
}

void cql_idempotency_add_statement(struct cql_idempotency *idempotency,
                                   const struct cql_compiled *compiled,
                                   const struct cql_value *values)
{
    hash128_stream_add(idempotency->content, &compiled->hash, sizeof(compiled->hash));
    for (uint32_t i = 0; i < compiled->marker_count; i++) {
        const struct cql_value *value = &values[i];
        uint64_t size = value->state == CQL_VALUE_SET ? value->data.size : 0;
        uint8_t head[9] = {(uint8_t)value->state};
        store_u64(head + 1, size);
        hash128_stream_add(idempotency->content, head, sizeof(head));
        if (size > 0)
            hash128_stream_add(idempotency->content, value->data.data, size);
    }
}

static void content_bytes(const struct cql_idempotency *idempotency, uint8_t content[CONTENT_SIZE])
{
    struct hash128 hash = hash128_stream_digest(idempotency->content);
    store_u64(content, hash.low);
    store_u64(content + 8, hash.high);
}

/* ---- the answer, kept ---- */

void cql_idempotency_answer_pack(const struct cql_idempotency_answer *answer, struct buffer *packed)
{
    buffer_put_varint(packed, answer->count);
    for (uint32_t i = 0; i < answer->count; i++)
        buffer_put_sized(packed, bytes_text(answer->names[i]));
    buffer_append_bytes(packed, answer->cells);
}

/* Returns the number of rows of `count` cells in the bytes; 0: the bytes are not whole rows.  A
 * cell is its size in four bytes (-1: null), then its bytes. */
static uint32_t rows_of(struct bytes cells, uint32_t count)
{
    struct reader reader = reader_of(cells);
    uint32_t rows = 0;
    while (!reader.failed && reader_left(&reader) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t size = reader_u32_be(&reader);
            (void)reader_bytes(&reader, size == UINT32_MAX ? 0 : size);
        }
        rows++;
    }
    return reader.failed ? 0 : rows;
}

bool cql_idempotency_answer_unpack(struct bytes packed, struct arena *arena,
                                   struct cql_idempotency_answer *answer_out)
{
    struct reader reader = reader_of(packed);
    uint64_t count = reader_count(&reader, 1);
    if (reader.failed || count == 0 || count > SCHEMA_COLUMNS_MAX + 1)
        return false;
    const char **names = arena_array(arena, count, sizeof(*names));
    for (uint64_t i = 0; i < count; i++)
        names[i] = cql_text(arena, reader_sized(&reader));
    *answer_out = (struct cql_idempotency_answer){
        .names = names,
        .count = (uint32_t)count,
        .cells = arena_copy(arena, reader_bytes(&reader, reader_left(&reader)))};
    answer_out->row_count = rows_of(answer_out->cells, answer_out->count);
    return !reader.failed && answer_out->row_count > 0;
}

/* ---- looking ---- */

static enum cql_idempotency_verdict row_verdict(struct cql_idempotency *idempotency,
                                                const struct table *table,
                                                const struct page_row *row)
{
    struct cql_fault *fault = &idempotency->execution->fault;
    struct bytes content = {0};
    struct bytes answer = {0};
    uint8_t own[CONTENT_SIZE];
    content_bytes(idempotency, own);
    if (!store_row_value(table, row, REQUEST_CONTENT, &content) ||
        !bytes_equal(content, bytes_of(own, CONTENT_SIZE))) {
        cql_invalid(fault, "this %s was sent with another statement or other values",
                    CQL_IDEMPOTENCY_NAME);
        return CQL_IDEMPOTENCY_FAILED;
    }
    if (store_row_value(table, row, REQUEST_ANSWER, &answer) &&
        !cql_idempotency_answer_unpack(answer, idempotency->execution->arena,
                                       &idempotency->answer)) {
        cql_refuse(fault, CQL_SERVER_ERROR, "the kept answer of this %s is damaged",
                   CQL_IDEMPOTENCY_NAME);
        return CQL_IDEMPOTENCY_FAILED;
    }
    return CQL_IDEMPOTENCY_KNOWN;
}

static void page_arrived(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct cql_idempotency *idempotency = context;
    if (status != 0) {
        cql_fault_of(&idempotency->execution->fault, err);
        idempotency->looked(idempotency->context, CQL_IDEMPOTENCY_FAILED);
        return;
    }
    idempotency->version = page->version;
    idempotency->looked(idempotency->context,
                        page->row_count == 0
                            ? CQL_IDEMPOTENCY_NEW
                            : row_verdict(idempotency, page->table, &page->rows[0]));
}

void cql_idempotency_look(struct cql_idempotency *idempotency,
                          void (*looked)(void *context, enum cql_idempotency_verdict verdict),
                          void *context)
{
    struct read_request request = {.table_id = TABLE_REQUEST,
                                   .key = idempotency->id,
                                   .slice = stream_slice_all(),
                                   .row_limit = 1,
                                   .view = READ_APPLIED};
    idempotency->looked = looked;
    idempotency->context = context;
    cql_execution_read(idempotency->execution, &request, page_arrived, idempotency);
}

/* ---- writing ---- */

struct store_expectation cql_idempotency_expectation(const struct cql_idempotency *idempotency)
{
    return (struct store_expectation){
        .table_id = TABLE_REQUEST, .key = idempotency->id, .version = idempotency->version};
}

void cql_idempotency_add(const struct cql_idempotency *idempotency,
                         const struct cql_idempotency_answer *answer, struct write_batch *batch)
{
    int64_t expiry_s = store_now_us(idempotency->execution->cql->options.store) / 1000000 +
                       CQL_IDEMPOTENCY_WINDOW_S;
    const struct cell cell = {
        .timestamp_us = TIMESTAMP_SERVER, .ttl_s = CQL_IDEMPOTENCY_WINDOW_S, .expiry_s = expiry_s};
    struct cell *cells = arena_array(batch->arena, 2, sizeof(*cells));
    struct unfiltered *item = arena_alloc(batch->arena, sizeof(*item), 16);
    uint8_t content[CONTENT_SIZE];
    content_bytes(idempotency, content);
    cells[0] = cell;
    cells[0].column_id = REQUEST_CONTENT;
    cells[0].value = arena_copy(batch->arena, bytes_of(content, CONTENT_SIZE));
    cells[1] = cell;
    cells[1].column_id = REQUEST_ANSWER;
    if (answer->count > 0) {
        struct buffer packed = {.arena = batch->arena};
        cql_idempotency_answer_pack(answer, &packed);
        cells[1].value = buffer_view(&packed);
    }
    *item = (struct unfiltered){
        .kind = UNFILTERED_ROW,
        .row = {.marker = {TIMESTAMP_SERVER, CQL_IDEMPOTENCY_WINDOW_S, expiry_s},
                .deletion = DELETION_NONE,
                .cells = cells,
                .cell_count = answer->count > 0 ? 2 : 1},
        .before = DELETION_NONE,
        .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_REQUEST,
                                .token = murmur3_token(idempotency->id.data, idempotency->id.size),
                                .key = idempotency->id,
                                .deletion = DELETION_NONE,
                                .items = item,
                                .item_count = 1};
    write_batch_add_mutation(batch, &mutation);
}

void cql_idempotency_set_echo(struct cql_execution *execution, bool is_duplicate)
{
    execution->echo = (struct cql_payload){bytes_text(CQL_IDEMPOTENCY_NAME),
                                           bytes_text(is_duplicate ? "duplicate" : "applied")};
}
