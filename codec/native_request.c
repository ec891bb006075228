/* native_request: see the header.
 *
 * What decides correctness: every view that goes out lies in the body, which the caller keeps as
 * long as the request lives; every count was checked against the bytes that are left. */
#include "codec/native_request.h"

#include <inttypes.h>

#include "base/arena.h"

enum request_flag {
    REQUEST_VALUES = 0x01,
    REQUEST_SKIP_METADATA = 0x02,
    REQUEST_PAGE_SIZE = 0x04,
    REQUEST_PAGING_STATE = 0x08,
    REQUEST_SERIAL = 0x10,
    REQUEST_TIMESTAMP = 0x20,
    REQUEST_NAMES = 0x40,
    REQUEST_KEYSPACE = 0x80, /* these two of version 5 */
    REQUEST_NOW = 0x100
};

enum {
    PREPARE_KEYSPACE = 0x01,
    BATCH_TEXT = 0,
    BATCH_PREPARED = 1,
    VALUE_SIZE_MIN = 4,       /* of a [value], */
    NAMED_VALUE_SIZE_MIN = 6, /* one with a name, */
    PAYLOAD_SIZE_MIN = 6,     /* an entry of a bytes map, */
    OPTION_SIZE_MIN = 4,      /* of a string map, */
    BATCH_ITEM_SIZE_MIN = 5,  /* and a statement of a batch */
    DECODED_MAX = 40 << 20    /* of a request with its body: a null of 4 bytes is a value of 40 */
};

/* What is being read, and what it is read into. */
struct decoding {
    struct reader reader;
    uint8_t version;
    struct arena *arena;
    struct native_request *request;
    struct error *err;
};

static void *decoding_array(struct decoding *decoding, uint32_t count, size_t size)
{
    return arena_alloc(decoding->arena, (count + 1) * size, 8);
}

/* ---- values and parameters ---- */

static const struct cql_value *read_values(struct decoding *decoding, bool are_named,
                                           uint32_t *count_out)
{
    struct reader *reader = &decoding->reader;
    uint32_t count =
        notation_short_count(reader, are_named ? NAMED_VALUE_SIZE_MIN : VALUE_SIZE_MIN);
    struct cql_value *values = decoding_array(decoding, count, sizeof *values);

    for (uint32_t i = 0; i < count; i++) {
        struct bytes name = are_named ? notation_string(reader) : bytes_of(NULL, 0);

        notation_value(reader, decoding->version, &values[i]);
        values[i].name = name;
    }
    *count_out = count;
    return values;
}

static int read_timestamp(struct decoding *decoding)
{
    struct cql_request *cql = &decoding->request->cql;

    cql->has_timestamp = true;
    cql->timestamp_us = (int64_t)reader_u64_be(&decoding->reader);
    if (cql->timestamp_us != INT64_MIN)
        return 0;
    return error_set(decoding->err, ERROR_CORRUPT,
                     "Out of bound timestamp, must be in [%" PRId64 ", %" PRId64 "] (got %" PRId64
                     ")",
                     INT64_MIN + 1, INT64_MAX, INT64_MIN);
}

/* From the flags on.  A batch has values at each of its statements only. */
static int read_parameters(struct decoding *decoding)
{
    struct native_request *request = decoding->request;
    struct cql_request *cql = &request->cql;
    struct reader *reader = &decoding->reader;
    bool is_batch = request->opcode == NATIVE_BATCH;
    uint32_t flags = decoding->version >= 5 ? reader_u32_be(reader) : reader_u8(reader);
    int rc = 0;

    if (decoding->version < 5)
        flags &= ~(uint32_t)(REQUEST_KEYSPACE | REQUEST_NOW);
    request->skips_metadata = (flags & REQUEST_SKIP_METADATA) != 0;
    if ((flags & REQUEST_VALUES) != 0 && !is_batch) {
        cql->values_are_named = (flags & REQUEST_NAMES) != 0;
        cql->values = read_values(decoding, cql->values_are_named, &cql->value_count);
    }
    if ((flags & REQUEST_PAGE_SIZE) != 0 && !is_batch)
        cql->page_size = (int32_t)reader_u32_be(reader);
    if ((flags & REQUEST_PAGING_STATE) != 0 && !is_batch)
        cql->paging_state = notation_bytes(reader);
    if ((flags & REQUEST_SERIAL) != 0)
        cql->serial_consistency = notation_consistency(reader);
    if ((flags & REQUEST_TIMESTAMP) != 0)
        rc = read_timestamp(decoding);
    if ((flags & REQUEST_KEYSPACE) != 0)
        cql->keyspace = notation_string(reader);
    if ((flags & REQUEST_NOW) != 0) {
        cql->has_now = true;
        cql->now_s = (int32_t)reader_u32_be(reader);
    }
    return rc;
}

/* ---- bodies ---- */

static int read_query(struct decoding *decoding)
{
    struct cql_request *cql = &decoding->request->cql;

    cql->kind = CQL_QUERY;
    cql->text = notation_long_string(&decoding->reader);
    cql->consistency = notation_consistency(&decoding->reader);
    return read_parameters(decoding);
}

static int read_prepare(struct decoding *decoding)
{
    struct cql_request *cql = &decoding->request->cql;

    cql->kind = CQL_PREPARE;
    cql->text = notation_long_string(&decoding->reader);
    if (decoding->version >= 5 && (reader_u32_be(&decoding->reader) & PREPARE_KEYSPACE) != 0)
        cql->keyspace = notation_string(&decoding->reader);
    return 0;
}

static int read_execute(struct decoding *decoding)
{
    struct cql_request *cql = &decoding->request->cql;

    cql->kind = CQL_EXECUTE;
    cql->text = notation_short_bytes(&decoding->reader);
    if (decoding->version >= 5)
        decoding->request->metadata_id = notation_short_bytes(&decoding->reader);
    cql->consistency = notation_consistency(&decoding->reader);
    return read_parameters(decoding);
}

static int read_batch_item(struct decoding *decoding, struct cql_batch_item *item)
{
    struct reader *reader = &decoding->reader;
    uint8_t kind = reader_u8(reader);

    *item = (struct cql_batch_item){.is_prepared = kind == BATCH_PREPARED};
    if (kind != BATCH_TEXT && kind != BATCH_PREPARED)
        return error_set(decoding->err, ERROR_CORRUPT,
                         "Invalid query kind in BATCH messages. Must be 0 or 1 but got %u", kind);
    if (arena_used(decoding->arena) > DECODED_MAX)
        return error_set(decoding->err, ERROR_LIMIT,
                         "Batch too large: its values take over %d bytes of memory", DECODED_MAX);
    item->text = item->is_prepared ? notation_short_bytes(reader) : notation_long_string(reader);
    item->values = read_values(decoding, false, &item->value_count);
    return 0;
}

static int read_batch(struct decoding *decoding)
{
    struct cql_request *cql = &decoding->request->cql;
    uint8_t kind = reader_u8(&decoding->reader);

    if (kind > CQL_BATCH_COUNTER)
        return error_set(decoding->err, ERROR_CORRUPT, "Invalid BATCH message type %u", kind);
    cql->kind = CQL_BATCH;
    cql->batch_kind = (enum cql_batch_kind)kind;
    cql->item_count = notation_short_count(&decoding->reader, BATCH_ITEM_SIZE_MIN);
    struct cql_batch_item *items = decoding_array(decoding, cql->item_count, sizeof *items);
    cql->items = items;
    for (uint32_t i = 0; i < cql->item_count; i++) {
        int rc = decoding->reader.failed ? ERROR_CORRUPT : read_batch_item(decoding, &items[i]);

        if (rc != 0)
            return rc;
    }
    cql->consistency = notation_consistency(&decoding->reader);
    return read_parameters(decoding);
}

static int read_startup(struct decoding *decoding)
{
    struct native_request *request = decoding->request;
    uint32_t count = notation_short_count(&decoding->reader, OPTION_SIZE_MIN);
    struct cql_payload *options = decoding_array(decoding, count, sizeof *options);

    for (uint32_t i = 0; i < count; i++) {
        options[i].name = notation_string(&decoding->reader);
        options[i].value = notation_string(&decoding->reader);
    }
    request->options = options;
    request->option_count = count;
    return 0;
}

static int read_register(struct decoding *decoding)
{
    struct native_request *request = decoding->request;
    uint32_t count = notation_short_count(&decoding->reader, 2);
    struct bytes *events = decoding_array(decoding, count, sizeof *events);

    for (uint32_t i = 0; i < count; i++)
        events[i] = notation_string(&decoding->reader);
    request->events = events;
    request->event_count = count;
    return 0;
}

static void read_payload(struct decoding *decoding)
{
    uint32_t count = notation_short_count(&decoding->reader, PAYLOAD_SIZE_MIN);
    struct cql_payload *payload = decoding_array(decoding, count, sizeof *payload);

    for (uint32_t i = 0; i < count; i++) {
        payload[i].name = notation_string(&decoding->reader);
        payload[i].value = notation_bytes(&decoding->reader);
    }
    decoding->request->cql.payload = payload;
    decoding->request->cql.payload_count = count;
}

static int read_body(struct decoding *decoding)
{
    switch (decoding->request->opcode) {
    case NATIVE_STARTUP:
        return read_startup(decoding);
    case NATIVE_QUERY:
        return read_query(decoding);
    case NATIVE_PREPARE:
        return read_prepare(decoding);
    case NATIVE_EXECUTE:
        return read_execute(decoding);
    case NATIVE_BATCH:
        return read_batch(decoding);
    case NATIVE_REGISTER:
        return read_register(decoding);
    case NATIVE_AUTH_RESPONSE:
        decoding->request->token = notation_bytes(&decoding->reader);
        return 0;
    case NATIVE_OPTIONS:
    case NATIVE_ERROR:
    case NATIVE_READY:
    case NATIVE_AUTHENTICATE:
    case NATIVE_SUPPORTED:
    case NATIVE_RESULT:
    case NATIVE_EVENT:
    case NATIVE_AUTH_CHALLENGE:
    case NATIVE_AUTH_SUCCESS:
        return 0;
    }
    return 0;
}

static int check_sizes(const struct native_request *request, struct error *err)
{
    const struct cql_request *cql = &request->cql;
    bool is_text = request->opcode == NATIVE_QUERY || request->opcode == NATIVE_PREPARE;
    size_t size = is_text ? cql->text.size : 0;

    for (uint32_t i = 0; i < cql->item_count; i++)
        if (cql->items[i].text.size > size)
            size = cql->items[i].text.size;
    if (size > CQL_TEXT_MAX)
        return error_set(err, ERROR_LIMIT, "A statement of %zu bytes is longer than the %d allowed",
                         size, CQL_TEXT_MAX);
    return 0;
}

int native_request_decode(const struct native_envelope *envelope, struct arena *arena,
                          struct native_request *request_out, struct error *err)
{
    struct decoding decoding = {.reader = reader_of(envelope->body),
                                .version = envelope->version,
                                .arena = arena,
                                .request = request_out,
                                .err = err};

    check(native_opcode_is_request(envelope->opcode));
    *request_out = (struct native_request){
        .opcode = (enum native_opcode)envelope->opcode,
        .cql = {.serial_consistency = CQL_SERIAL,
                .page_size = -1,
                .is_traced = (envelope->flags & NATIVE_FLAG_TRACING) != 0},
    };
    if (envelope->version >= 4 && (envelope->flags & NATIVE_FLAG_PAYLOAD) != 0)
        read_payload(&decoding);
    int rc = read_body(&decoding);
    if (decoding.reader.failed)
        return error_set(err, ERROR_CORRUPT, "Invalid or truncated body of a %s message",
                         native_opcode_name(envelope->opcode));
    return rc != 0 ? rc : check_sizes(request_out, err);
}

/* ---- writing ---- */

uint8_t native_request_flags(const struct native_request *request)
{
    return (uint8_t)((request->cql.is_traced ? NATIVE_FLAG_TRACING : 0) |
                     (request->cql.payload_count > 0 ? NATIVE_FLAG_PAYLOAD : 0));
}

static void put_values(struct buffer *body, const struct cql_value *values, uint32_t count,
                       bool are_named)
{
    buffer_put_u16_be(body, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++) {
        if (are_named)
            notation_put_string(body, values[i].name);
        notation_put_value(body, &values[i]);
    }
}

static uint32_t parameter_flags(const struct native_request *request, uint8_t version)
{
    const struct cql_request *cql = &request->cql;
    uint32_t flags = 0;

    flags |= cql->value_count > 0 ? REQUEST_VALUES : 0;
    flags |= cql->value_count > 0 && cql->values_are_named ? REQUEST_NAMES : 0;
    flags |= request->skips_metadata ? REQUEST_SKIP_METADATA : 0;
    flags |= cql->page_size > 0 ? REQUEST_PAGE_SIZE : 0;
    flags |= cql->paging_state.size > 0 ? REQUEST_PAGING_STATE : 0;
    flags |= cql->serial_consistency != CQL_SERIAL ? REQUEST_SERIAL : 0;
    flags |= cql->has_timestamp ? REQUEST_TIMESTAMP : 0;
    if (version >= 5) {
        flags |= cql->keyspace.size > 0 ? REQUEST_KEYSPACE : 0;
        flags |= cql->has_now ? REQUEST_NOW : 0;
    }
    return flags;
}

static void put_parameters(const struct native_request *request, uint8_t version,
                           struct buffer *body)
{
    const struct cql_request *cql = &request->cql;
    uint32_t flags = parameter_flags(request, version);

    buffer_put_u16_be(body, (uint16_t)cql->consistency);
    if (version >= 5)
        buffer_put_u32_be(body, flags);
    else
        buffer_put_u8(body, (uint8_t)flags);
    if ((flags & REQUEST_VALUES) != 0)
        put_values(body, cql->values, cql->value_count, cql->values_are_named);
    if ((flags & REQUEST_PAGE_SIZE) != 0)
        buffer_put_u32_be(body, (uint32_t)cql->page_size);
    if ((flags & REQUEST_PAGING_STATE) != 0)
        notation_put_bytes(body, cql->paging_state);
    if ((flags & REQUEST_SERIAL) != 0)
        buffer_put_u16_be(body, (uint16_t)cql->serial_consistency);
    if ((flags & REQUEST_TIMESTAMP) != 0)
        buffer_put_u64_be(body, (uint64_t)cql->timestamp_us);
    if ((flags & REQUEST_KEYSPACE) != 0)
        notation_put_string(body, cql->keyspace);
    if ((flags & REQUEST_NOW) != 0)
        buffer_put_u32_be(body, (uint32_t)cql->now_s);
}

static void put_batch(const struct cql_request *cql, struct buffer *body)
{
    buffer_put_u8(body, (uint8_t)cql->batch_kind);
    buffer_put_u16_be(body, (uint16_t)cql->item_count);
    for (uint32_t i = 0; i < cql->item_count; i++) {
        const struct cql_batch_item *item = &cql->items[i];

        buffer_put_u8(body, item->is_prepared ? BATCH_PREPARED : BATCH_TEXT);
        if (item->is_prepared)
            notation_put_short_bytes(body, item->text);
        else
            notation_put_long_string(body, item->text);
        put_values(body, item->values, item->value_count, false);
    }
}

static void put_statement(const struct native_request *request, uint8_t version,
                          struct buffer *body)
{
    const struct cql_request *cql = &request->cql;

    switch (cql->kind) {
    case CQL_QUERY:
        notation_put_long_string(body, cql->text);
        break;
    case CQL_PREPARE:
        notation_put_long_string(body, cql->text);
        if (version >= 5) {
            buffer_put_u32_be(body, cql->keyspace.size > 0 ? PREPARE_KEYSPACE : 0);
            if (cql->keyspace.size > 0)
                notation_put_string(body, cql->keyspace);
        }
        return;
    case CQL_EXECUTE:
        notation_put_short_bytes(body, cql->text);
        if (version >= 5)
            notation_put_short_bytes(body, request->metadata_id);
        break;
    case CQL_BATCH:
        put_batch(cql, body);
        break;
    case CQL_EDIT: /* no client's */
        return;
    }
    put_parameters(request, version, body);
}

static void put_startup(const struct native_request *request, struct buffer *body)
{
    buffer_put_u16_be(body, (uint16_t)request->option_count);
    for (uint32_t i = 0; i < request->option_count; i++) {
        notation_put_string(body, request->options[i].name);
        notation_put_string(body, request->options[i].value);
    }
}

static void put_register(const struct native_request *request, struct buffer *body)
{
    buffer_put_u16_be(body, (uint16_t)request->event_count);
    for (uint32_t i = 0; i < request->event_count; i++)
        notation_put_string(body, request->events[i]);
}

void native_request_encode(const struct native_request *request, uint8_t version,
                           struct buffer *body)
{
    if (request->cql.payload_count > 0) {
        buffer_put_u16_be(body, (uint16_t)request->cql.payload_count);
        for (uint32_t i = 0; i < request->cql.payload_count; i++) {
            notation_put_string(body, request->cql.payload[i].name);
            notation_put_bytes(body, request->cql.payload[i].value);
        }
    }
    if (request->opcode == NATIVE_STARTUP)
        put_startup(request, body);
    else if (request->opcode == NATIVE_REGISTER)
        put_register(request, body);
    else if (request->opcode == NATIVE_AUTH_RESPONSE)
        notation_put_bytes(body, request->token);
    else if (request->opcode != NATIVE_OPTIONS)
        put_statement(request, version, body);
}
