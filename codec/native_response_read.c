/* native_response_read: the half of native_response.h that a client needs.
 *
 * What decides correctness: the same rules as for requests; and the cells of rows are walked once,
 * so that whoever prints them need not doubt a length. */
#include "codec/native_response.h"
#include "codec/native_response_private.h"
#include "base/arena.h"

enum {
    COLUMN_SIZE_MIN = 4, /* a name and a type, */
    CELL_SIZE_MIN = 4,
    TEXT_SIZE_MIN = 2,
    FAILURE_SIZE_MIN = 7 /* an address, and a reason */
};

struct decoding {
    struct reader reader;
    uint8_t version;
    struct arena *arena;
    struct native_response *response;
};

static void *decoding_array(struct decoding *decoding, size_t count, size_t size)
{
    return arena_alloc(decoding->arena, (count + 1) * size, 8);
}

static const char *read_text(struct decoding *decoding)
{
    return notation_text(&decoding->reader, decoding->arena);
}

static const char *const *read_string_list(struct decoding *decoding, uint32_t *count_out)
{
    uint32_t count = notation_short_count(&decoding->reader, TEXT_SIZE_MIN);
    const char **texts = decoding_array(decoding, count, sizeof *texts);

    for (uint32_t i = 0; i < count; i++)
        texts[i] = read_text(decoding);
    *count_out = count;
    return texts;
}

/* ---- around a body ---- */

static void read_extras(struct decoding *decoding, uint8_t flags)
{
    struct native_extras *extras = &decoding->response->extras;
    struct reader *reader = &decoding->reader;

    if ((flags & NATIVE_FLAG_TRACING) != 0)
        extras->trace_id = reader_bytes(reader, NATIVE_UUID_SIZE).data;
    if ((flags & NATIVE_FLAG_WARNING) != 0)
        extras->warnings = read_string_list(decoding, &extras->warning_count);
    if ((flags & NATIVE_FLAG_PAYLOAD) == 0)
        return;
    extras->payload_count = notation_short_count(reader, 6);
    struct cql_payload *payload = decoding_array(decoding, extras->payload_count, sizeof *payload);
    for (uint32_t i = 0; i < extras->payload_count; i++) {
        payload[i].name = notation_string(reader);
        payload[i].value = notation_bytes(reader);
    }
    extras->payload = payload;
}

/* ---- errors ---- */

static void read_counts(struct decoding *decoding)
{
    struct native_error *error = &decoding->response->error;

    error->consistency = notation_consistency(&decoding->reader);
    error->received = (int32_t)reader_u32_be(&decoding->reader);
    error->required = (int32_t)reader_u32_be(&decoding->reader);
}

static void read_failures(struct decoding *decoding)
{
    struct native_error *error = &decoding->response->error;
    struct reader *reader = &decoding->reader;

    if (decoding->version < 5) {
        error->failure_count = (int32_t)reader_u32_be(reader);
        return;
    }
    error->failure_count = (int32_t)notation_int_count(reader, FAILURE_SIZE_MIN);
    struct native_failure *failures =
        decoding_array(decoding, (size_t)error->failure_count, sizeof *failures);
    for (int32_t i = 0; i < error->failure_count; i++) {
        struct cql_address address = {.size = reader_u8(reader)};

        if (address.size != 4 && address.size != 16)
            reader->failed = true;
        struct bytes bytes = reader_bytes(reader, address.size);
        if (reader->failed)
            return;
        memcpy(address.bytes, bytes.data, bytes.size);
        failures[i] = (struct native_failure){address, reader_u16_be(reader)};
    }
    error->failures = failures;
}

static void read_error(struct decoding *decoding)
{
    struct native_error *error = &decoding->response->error;
    struct reader *reader = &decoding->reader;

    error->code = reader_u32_be(reader);
    error->message = read_text(decoding);
    switch (error->code) {
    case NATIVE_ERROR_UNAVAILABLE:
        error->consistency = notation_consistency(reader);
        error->required = (int32_t)reader_u32_be(reader);
        error->received = (int32_t)reader_u32_be(reader);
        break;
    case NATIVE_ERROR_WRITE_TIMEOUT:
        read_counts(decoding);
        error->write_type = read_text(decoding);
        break;
    case NATIVE_ERROR_READ_TIMEOUT:
        read_counts(decoding);
        error->has_data = reader_u8(reader) != 0;
        break;
    case NATIVE_ERROR_READ_FAILURE:
        read_counts(decoding);
        read_failures(decoding);
        error->has_data = reader_u8(reader) != 0;
        break;
    case NATIVE_ERROR_FUNCTION_FAILURE:
        error->keyspace = read_text(decoding);
        error->name = read_text(decoding);
        error->argument_types = read_string_list(decoding, &error->argument_type_count);
        break;
    case NATIVE_ERROR_WRITE_FAILURE:
        read_counts(decoding);
        read_failures(decoding);
        error->write_type = read_text(decoding);
        break;
    case NATIVE_ERROR_EXISTS:
        error->keyspace = read_text(decoding);
        error->name = read_text(decoding);
        break;
    case NATIVE_ERROR_UNPREPARED:
        error->id = notation_short_bytes(reader);
        break;
    default:
        break;
    }
}

/* ---- SUPPORTED ---- */

static void read_supported(struct decoding *decoding)
{
    uint32_t count = notation_short_count(&decoding->reader, 2 * TEXT_SIZE_MIN);
    struct native_supported *supported = decoding_array(decoding, count, sizeof *supported);

    for (uint32_t i = 0; i < count; i++) {
        supported[i].name = read_text(decoding);
        supported[i].values = read_string_list(decoding, &supported[i].value_count);
    }
    decoding->response->supported = supported;
    decoding->response->supported_count = count;
}

/* ---- changes of the schema ---- */

static void read_change(struct decoding *decoding, struct cql_schema_change *change)
{
    struct bytes change_text = notation_string(&decoding->reader);
    struct bytes target_text = notation_string(&decoding->reader);
    bool is_known = false;

    for (enum cql_change i = CQL_CREATED; i <= CQL_DROPPED && !is_known; i++) {
        is_known = bytes_equal(change_text, bytes_text(native_response_change_name(i)));
        change->change = i;
    }
    if (!is_known)
        decoding->reader.failed = true;
    is_known = false;
    for (enum cql_target i = CQL_TARGET_KEYSPACE; i <= CQL_TARGET_TYPE && !is_known; i++) {
        is_known = bytes_equal(target_text, bytes_text(native_response_target_name(i)));
        change->target = i;
    }
    if (!is_known)
        decoding->reader.failed = true;
    change->keyspace = read_text(decoding);
    change->name = change->target == CQL_TARGET_KEYSPACE ? "" : read_text(decoding);
}

static void read_event(struct decoding *decoding)
{
    struct native_event *event = &decoding->response->event;

    if (!native_response_event_kind(notation_string(&decoding->reader), &event->kind)) {
        decoding->reader.failed = true;
        return;
    }
    if (event->kind == NATIVE_SCHEMA_CHANGE) {
        read_change(decoding, &event->schema);
        return;
    }
    event->change = read_text(decoding);
    event->address = notation_inet(&decoding->reader);
}

/* ---- results ---- */

static void read_columns(struct decoding *decoding, uint32_t flags, uint32_t count,
                         struct cql_metadata *metadata)
{
    const char *keyspace = NULL;
    const char *table = NULL;

    if (decoding->reader.failed || count > reader_left(&decoding->reader) / COLUMN_SIZE_MIN) {
        decoding->reader.failed = true;
        return;
    }
    struct cql_column *columns = decoding_array(decoding, count, sizeof *columns);
    if ((flags & METADATA_GLOBAL) != 0) {
        keyspace = read_text(decoding);
        table = read_text(decoding);
    }
    for (uint32_t i = 0; i < count; i++) {
        columns[i].keyspace = keyspace != NULL ? keyspace : read_text(decoding);
        columns[i].table = table != NULL ? table : read_text(decoding);
        columns[i].name = read_text(decoding);
        columns[i].type = notation_type(&decoding->reader, decoding->arena);
    }
    *metadata = (struct cql_metadata){columns, count};
}

/* That every cell lies within the body. */
static void check_cells(struct decoding *decoding, struct cql_rows *rows, uint32_t columns)
{
    struct reader *reader = &decoding->reader;
    const uint8_t *start = reader->data + reader->offset;
    uint64_t cells = (uint64_t)rows->row_count * columns;

    if (reader->failed || cells > reader_left(reader) / CELL_SIZE_MIN) {
        reader->failed = true;
        return;
    }
    for (uint64_t i = 0; i < cells; i++)
        (void)notation_bytes(reader);
    rows->cells = bytes_of(start, (size_t)(reader->data + reader->offset - start));
}

static void read_rows(struct decoding *decoding)
{
    struct native_response *response = decoding->response;
    struct cql_rows *rows = &response->result.rows;
    struct reader *reader = &decoding->reader;
    uint32_t flags = reader_u32_be(reader);

    response->column_count = reader_u32_be(reader);
    if ((flags & METADATA_MORE) != 0)
        rows->paging_state = notation_bytes(reader);
    if ((flags & METADATA_CHANGED) != 0) {
        response->new_metadata_id = notation_short_bytes(reader);
        if (response->new_metadata_id.size == CQL_ID_SIZE)
            memcpy(rows->metadata_id, response->new_metadata_id.data, CQL_ID_SIZE);
    }
    response->has_metadata = (flags & METADATA_NONE) == 0;
    if (response->has_metadata)
        read_columns(decoding, flags, response->column_count, &rows->metadata);
    rows->row_count = reader_u32_be(reader);
    check_cells(decoding, rows, response->column_count);
}

static void read_id(struct decoding *decoding, uint8_t id[CQL_ID_SIZE])
{
    struct bytes bytes = notation_short_bytes(&decoding->reader);

    if (bytes.size != CQL_ID_SIZE)
        decoding->reader.failed = true;
    else
        memcpy(id, bytes.data, CQL_ID_SIZE);
}

static void read_prepared(struct decoding *decoding)
{
    struct cql_prepared *prepared = &decoding->response->result.prepared;
    struct reader *reader = &decoding->reader;

    read_id(decoding, prepared->id);
    if (decoding->version >= 5)
        read_id(decoding, prepared->metadata_id);
    uint32_t flags = reader_u32_be(reader);
    uint32_t count = reader_u32_be(reader);
    prepared->key_count = decoding->version >= 4 ? notation_int_count(reader, 2) : 0;
    uint16_t *indexes = decoding_array(decoding, prepared->key_count, sizeof *indexes);
    for (uint32_t i = 0; i < prepared->key_count; i++)
        indexes[i] = reader_u16_be(reader);
    prepared->key_indexes = indexes;
    read_columns(decoding, flags, count, &prepared->bind);
    flags = reader_u32_be(reader);
    count = reader_u32_be(reader);
    if ((flags & METADATA_NONE) == 0)
        read_columns(decoding, flags, count, &prepared->result);
}

static void read_result(struct decoding *decoding)
{
    struct cql_result *result = &decoding->response->result;

    switch (reader_u32_be(&decoding->reader)) {
    case RESULT_VOID:
        result->kind = CQL_RESULT_VOID;
        break;
    case RESULT_ROWS:
        result->kind = CQL_RESULT_ROWS;
        read_rows(decoding);
        break;
    case RESULT_SET_KEYSPACE:
        result->kind = CQL_RESULT_SET_KEYSPACE;
        result->keyspace = read_text(decoding);
        break;
    case RESULT_PREPARED:
        result->kind = CQL_RESULT_PREPARED;
        read_prepared(decoding);
        break;
    case RESULT_SCHEMA_CHANGE:
        result->kind = CQL_RESULT_SCHEMA_CHANGE;
        read_change(decoding, &result->change);
        break;
    default:
        decoding->reader.failed = true;
        break;
    }
}

/* ---- all ---- */

static void read_body(struct decoding *decoding)
{
    struct native_response *response = decoding->response;

    if (response->opcode == NATIVE_ERROR)
        read_error(decoding);
    else if (response->opcode == NATIVE_AUTHENTICATE)
        response->authenticator = read_text(decoding);
    else if (response->opcode == NATIVE_AUTH_CHALLENGE || response->opcode == NATIVE_AUTH_SUCCESS)
        response->token = notation_bytes(&decoding->reader);
    else if (response->opcode == NATIVE_SUPPORTED)
        read_supported(decoding);
    else if (response->opcode == NATIVE_RESULT)
        read_result(decoding);
    else if (response->opcode == NATIVE_EVENT)
        read_event(decoding);
}

int native_response_decode(const struct native_envelope *envelope, struct arena *arena,
                           struct native_response *response_out, struct error *err)
{
    struct decoding decoding = {.reader = reader_of(envelope->body),
                                .version = envelope->version,
                                .arena = arena,
                                .response = response_out};

    *response_out = (struct native_response){.opcode = (enum native_opcode)envelope->opcode};
    if (native_opcode_name(envelope->opcode) == NULL || native_opcode_is_request(envelope->opcode))
        return error_set(err, ERROR_CORRUPT, "opcode %u is no answer's", envelope->opcode);
    read_extras(&decoding, envelope->flags);
    read_body(&decoding);
    if (decoding.reader.failed)
        return error_set(err, ERROR_CORRUPT, "an invalid or truncated body of %s",
                         native_opcode_name(envelope->opcode));
    return 0;
}
