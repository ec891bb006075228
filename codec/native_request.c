/* native_request: see the header.
 *
 * What must hold: every count is checked against the number of bytes left. */
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
    REQUEST_KEYSPACE = 0x80, /* version 5 only, like the next */
    REQUEST_NOW = 0x100
};

enum {
    PREPARE_KEYSPACE = 0x01,
    BATCH_TEXT = 0,
    BATCH_PREPARED = 1,
    VALUE_SIZE_MIN = 4, /* bytes, like the next four */
    NAMED_VALUE_SIZE_MIN = 6,
    OPTION_SIZE_MIN = 4,
    EVENT_SIZE_MIN = 2,
    BATCH_ITEM_SIZE_MIN = 5,
    DECODED_MAX = 40 << 20 /* bytes of memory for a batch; a null, sent as 4 bytes, takes 40 */
};

/* ---- values and parameters ---- */

static void code_values(struct notation *notation, bool are_named, const struct cql_value **values,
                        uint32_t *count)
{
    notation_short_count(notation, count, are_named ? NAMED_VALUE_SIZE_MIN : VALUE_SIZE_MIN);
    struct cql_value *items = notation_items(notation, values, *count, sizeof *items);
    for (uint32_t i = 0; i < *count; i++) {
        if (are_named)
            notation_string(notation, &items[i].name);
        notation_value(notation, &items[i]);
    }
}

static void code_timestamp(struct notation *notation, struct cql_request *cql)
{
    cql->has_timestamp = true;
    notation_i64(notation, &cql->timestamp_us);
    if (cql->timestamp_us == INT64_MIN)
        notation->status = error_set(notation->err, ERROR_CORRUPT,
                                     "Out of bound timestamp, must be in [%" PRId64 ", %" PRId64
                                     "] (got %" PRId64 ")",
                                     INT64_MIN + 1, INT64_MAX, INT64_MIN);
}

static uint32_t parameter_flags(const struct native_request *request)
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
    flags |= cql->keyspace.size > 0 ? REQUEST_KEYSPACE : 0;
    flags |= cql->has_now ? REQUEST_NOW : 0;
    return flags;
}

/* Flags are four bytes in version 5, else one byte without REQUEST_KEYSPACE. */
static uint32_t code_flags(struct notation *notation, uint32_t flags)
{
    uint8_t few = (uint8_t)(flags & ~(uint32_t)REQUEST_KEYSPACE);

    if (notation->version >= 5) {
        notation_u32(notation, &flags);
        return flags;
    }
    notation_u8(notation, &few);
    return few & ~(uint32_t)REQUEST_KEYSPACE;
}

/* The flags of values and pages have no fields in a batch. */
static void code_parameters(struct notation *notation, struct native_request *request)
{
    struct cql_request *cql = &request->cql;

    notation_consistency(notation, &cql->consistency);
    uint32_t flags = code_flags(notation, parameter_flags(request));
    request->skips_metadata = (flags & REQUEST_SKIP_METADATA) != 0;
    if (request->opcode == NATIVE_BATCH)
        flags &= ~(uint32_t)(REQUEST_VALUES | REQUEST_PAGE_SIZE | REQUEST_PAGING_STATE);
    if ((flags & REQUEST_VALUES) != 0) {
        cql->values_are_named = (flags & REQUEST_NAMES) != 0;
        code_values(notation, cql->values_are_named, &cql->values, &cql->value_count);
    }
    if ((flags & REQUEST_PAGE_SIZE) != 0)
        notation_i32(notation, &cql->page_size);
    if ((flags & REQUEST_PAGING_STATE) != 0)
        notation_bytes(notation, &cql->paging_state);
    if ((flags & REQUEST_SERIAL) != 0)
        notation_consistency(notation, &cql->serial_consistency);
    if ((flags & REQUEST_TIMESTAMP) != 0)
        code_timestamp(notation, cql);
    if ((flags & REQUEST_KEYSPACE) != 0)
        notation_string(notation, &cql->keyspace);
    if ((flags & REQUEST_NOW) != 0) {
        int32_t now_s = (int32_t)cql->now_s;
        notation_i32(notation, &now_s);
        cql->has_now = true;
        cql->now_s = now_s;
    }
}

/* ---- bodies ---- */

static void code_query(struct notation *notation, struct native_request *request)
{
    request->cql.kind = CQL_QUERY;
    notation_long_string(notation, &request->cql.text);
    code_parameters(notation, request);
}

static void code_prepare(struct notation *notation, struct native_request *request)
{
    struct cql_request *cql = &request->cql;
    uint32_t flags = cql->keyspace.size > 0 ? PREPARE_KEYSPACE : 0;

    cql->kind = CQL_PREPARE;
    notation_long_string(notation, &cql->text);
    if (notation->version < 5)
        return;
    notation_u32(notation, &flags);
    if ((flags & PREPARE_KEYSPACE) != 0)
        notation_string(notation, &cql->keyspace);
}

static void code_execute(struct notation *notation, struct native_request *request)
{
    request->cql.kind = CQL_EXECUTE;
    notation_short_bytes(notation, &request->cql.text);
    if (notation->version >= 5)
        notation_short_bytes(notation, &request->metadata_id);
    code_parameters(notation, request);
}

static int code_batch_item(struct notation *notation, struct cql_batch_item *item)
{
    uint8_t kind = item->is_prepared ? BATCH_PREPARED : BATCH_TEXT;

    notation_u8(notation, &kind);
    if (kind != BATCH_TEXT && kind != BATCH_PREPARED)
        return error_set(notation->err, ERROR_CORRUPT,
                         "Invalid query kind in BATCH messages. Must be 0 or 1 but got %u", kind);
    if (notation_is_reading(notation) && arena_used(notation->arena) > DECODED_MAX)
        return error_set(notation->err, ERROR_LIMIT,
                         "Batch too large: its values take over %d bytes of memory", DECODED_MAX);
    if (notation_is_reading(notation))
        item->is_prepared = kind == BATCH_PREPARED;
    if (item->is_prepared)
        notation_short_bytes(notation, &item->text);
    else
        notation_long_string(notation, &item->text);
    code_values(notation, false, &item->values, &item->value_count);
    return 0;
}

static void code_batch(struct notation *notation, struct native_request *request)
{
    struct cql_request *cql = &request->cql;
    uint8_t kind = (uint8_t)cql->batch_kind;

    cql->kind = CQL_BATCH;
    notation_u8(notation, &kind);
    if (kind > CQL_BATCH_COUNTER) {
        notation->status =
            error_set(notation->err, ERROR_CORRUPT, "Invalid BATCH message type %u", kind);
        return;
    }
    cql->batch_kind = (enum cql_batch_kind)kind;
    notation_short_count(notation, &cql->item_count, BATCH_ITEM_SIZE_MIN);
    struct cql_batch_item *items =
        notation_items(notation, &cql->items, cql->item_count, sizeof *items);
    for (uint32_t i = 0; i < cql->item_count && !notation->reader.failed; i++) {
        notation->status = code_batch_item(notation, &items[i]);
        if (notation->status != 0)
            return;
    }
    code_parameters(notation, request);
}

static void code_startup(struct notation *notation, struct native_request *request)
{
    notation_short_count(notation, &request->option_count, OPTION_SIZE_MIN);
    struct cql_payload *options =
        notation_items(notation, &request->options, request->option_count, sizeof *options);
    for (uint32_t i = 0; i < request->option_count; i++) {
        notation_string(notation, &options[i].name);
        notation_string(notation, &options[i].value);
    }
}

static void code_register(struct notation *notation, struct native_request *request)
{
    notation_short_count(notation, &request->event_count, EVENT_SIZE_MIN);
    struct bytes *events =
        notation_items(notation, &request->events, request->event_count, sizeof *events);
    for (uint32_t i = 0; i < request->event_count; i++)
        notation_string(notation, &events[i]);
}

static void code_auth_response(struct notation *notation, struct native_request *request)
{
    notation_bytes(notation, &request->token);
}

static void code_body(struct notation *notation, struct native_request *request)
{
    static void (*const bodies[])(struct notation *, struct native_request *) = {
        [NATIVE_STARTUP] = code_startup,
        [NATIVE_QUERY] = code_query,
        [NATIVE_PREPARE] = code_prepare,
        [NATIVE_EXECUTE] = code_execute,
        [NATIVE_BATCH] = code_batch,
        [NATIVE_REGISTER] = code_register,
        [NATIVE_AUTH_RESPONSE] = code_auth_response,
    };

    check(native_opcode_is_request((uint8_t)request->opcode));
    if (bodies[request->opcode] != NULL)
        bodies[request->opcode](notation, request);
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
    struct notation notation = notation_reading(envelope->body, envelope->version, arena);
    struct cql_request *cql = &request_out->cql;

    notation.err = err;
    *request_out = (struct native_request){
        .opcode = (enum native_opcode)envelope->opcode,
        .cql = {.serial_consistency = CQL_SERIAL,
                .page_size = -1,
                .is_traced = (envelope->flags & NATIVE_FLAG_TRACING) != 0},
    };
    if (envelope->version >= 4 && (envelope->flags & NATIVE_FLAG_PAYLOAD) != 0)
        notation_payload(&notation, &cql->payload, &cql->payload_count);
    code_body(&notation, request_out);
    if (notation.reader.failed)
        return error_set(err, ERROR_CORRUPT, "Invalid or truncated body of a %s message",
                         native_opcode_name(envelope->opcode));
    return notation.status != 0 ? notation.status : check_sizes(request_out, err);
}

uint8_t native_request_flags(const struct native_request *request)
{
    return (uint8_t)((request->cql.is_traced ? NATIVE_FLAG_TRACING : 0) |
                     (request->cql.payload_count > 0 ? NATIVE_FLAG_PAYLOAD : 0));
}

void native_request_encode(const struct native_request *request, uint8_t version,
                           struct buffer *body)
{
    struct notation notation = notation_writing(body, version);
    struct native_request copy = *request;

    if (copy.cql.payload_count > 0)
        notation_payload(&notation, &copy.cql.payload, &copy.cql.payload_count);
    code_body(&notation, &copy);
    check(notation.status == 0);
}
