/* native_response: see the header.
 *
 * What must hold: metadata is omitted only if the client requested that and, in version 5, has the
 * same metadata.  Cells that are read lie within the body. */
#include "codec/native_response.h"

#include "base/arena.h"
#include "codec/native_compress.h"

enum {
    UUID_BYTES = 16,
    COLUMN_SIZE_MIN = 4,
    CELL_SIZE_MIN = 4,
    FAILURE_SIZE_MIN = 7,
    SUPPORTED_SIZE_MIN = 4
};

enum metadata_flag {
    METADATA_GLOBAL = 0x01, /* one keyspace and table for all columns */
    METADATA_MORE = 0x02,
    METADATA_NONE = 0x04,
    METADATA_CHANGED = 0x08
};

/* ---- names ---- */

static const char *const change_names[] = {
    [CQL_CREATED] = "CREATED", [CQL_UPDATED] = "UPDATED", [CQL_DROPPED] = "DROPPED"};
static const char *const target_names[] = {
    [CQL_TARGET_KEYSPACE] = "KEYSPACE", [CQL_TARGET_TABLE] = "TABLE", [CQL_TARGET_TYPE] = "TYPE"};
static const char *const event_names[] = {[NATIVE_TOPOLOGY_CHANGE] = "TOPOLOGY_CHANGE",
                                          [NATIVE_STATUS_CHANGE] = "STATUS_CHANGE",
                                          [NATIVE_SCHEMA_CHANGE] = "SCHEMA_CHANGE"};

#define COUNT_OF(names) (sizeof(names) / sizeof((names)[0]))

/* Returns the index of `name` in `names`, where NULLs are skipped; `count`: not found. */
static unsigned name_place(struct bytes name, const char *const *names, unsigned count)
{
    unsigned place = 0;

    while (place < count && (names[place] == NULL || !bytes_equal(name, bytes_text(names[place]))))
        place++;
    return place;
}

/* Read a name and return its index in `names`, or write names[place] and return `place`. */
static unsigned code_name(struct notation *notation, const char *const *names, unsigned count,
                          unsigned place)
{
    struct bytes name = bytes_of(NULL, 0);

    if (!notation_is_reading(notation)) {
        notation_put_text(notation->to, names[place]);
        return place;
    }
    notation_string(notation, &name);
    place = name_place(name, names, count);
    if (place == count)
        notation->reader.failed = true;
    return place == count ? 0 : place;
}

bool native_response_event_kind(struct bytes name, enum native_event_kind *kind_out)
{
    unsigned place = name_place(name, event_names, COUNT_OF(event_names));

    if (place == COUNT_OF(event_names))
        return false;
    *kind_out = (enum native_event_kind)place;
    return true;
}

/* ---- events ---- */

static void code_change(struct notation *notation, struct cql_schema_change *change)
{
    change->change =
        (enum cql_change)code_name(notation, change_names, COUNT_OF(change_names), change->change);
    change->target =
        (enum cql_target)code_name(notation, target_names, COUNT_OF(target_names), change->target);
    notation_text(notation, &change->keyspace);
    if (change->target != CQL_TARGET_KEYSPACE)
        notation_text(notation, &change->name);
    else
        change->name = "";
}

static void code_event(struct notation *notation, struct native_event *event)
{
    event->kind = (enum native_event_kind)code_name(notation, event_names, COUNT_OF(event_names),
                                                    event->kind);
    if (event->kind == NATIVE_SCHEMA_CHANGE) {
        code_change(notation, &event->schema);
        return;
    }
    notation_text(notation, &event->change);
    notation_inet(notation, &event->address);
}

void native_response_put_event(const struct native_event *event, struct buffer *body)
{
    struct notation notation = notation_writing(body, NATIVE_VERSION_MAX);
    struct native_event copy = *event;

    code_event(&notation, &copy);
}

/* ---- in front of a body ---- */

uint8_t native_response_extras_flags(const struct cql_extras *extras, uint8_t version)
{
    unsigned flags = extras->trace_id != NULL ? NATIVE_FLAG_TRACING : 0;

    if (version >= 4) {
        flags |= extras->warning_count > 0 ? NATIVE_FLAG_WARNING : 0;
        flags |= extras->payload_count > 0 ? NATIVE_FLAG_PAYLOAD : 0;
    }
    return (uint8_t)flags;
}

static void code_extras(struct notation *notation, uint8_t flags, struct cql_extras *extras)
{
    if ((flags & NATIVE_FLAG_TRACING) != 0)
        notation_fixed(notation, &extras->trace_id, UUID_BYTES);
    if ((flags & NATIVE_FLAG_WARNING) != 0)
        notation_texts(notation, &extras->warnings, &extras->warning_count);
    if ((flags & NATIVE_FLAG_PAYLOAD) != 0)
        notation_payload(notation, &extras->payload, &extras->payload_count);
}

void native_response_put_extras(const struct cql_extras *extras, uint8_t version,
                                struct buffer *body)
{
    struct notation notation = notation_writing(body, version);
    struct cql_extras copy = *extras;

    code_extras(&notation, native_response_extras_flags(extras, version), &copy);
}

/* ---- errors ---- */

static void code_id(struct notation *notation, uint8_t id[CQL_ID_SIZE])
{
    struct bytes bytes = bytes_of(id, CQL_ID_SIZE);

    notation_short_bytes(notation, &bytes);
    if (bytes.size != CQL_ID_SIZE)
        notation->reader.failed = true;
    else if (notation_is_reading(notation))
        memcpy(id, bytes.data, CQL_ID_SIZE);
}

static void code_counts(struct notation *notation, struct cql_error *error)
{
    notation_consistency(notation, &error->consistency);
    notation_i32(notation, &error->received);
    notation_i32(notation, &error->required);
}

static void code_failures(struct notation *notation, struct cql_error *error)
{
    uint32_t count = error->failures != NULL ? (uint32_t)error->failure_count : 0;

    if (notation->version < 5) {
        notation_i32(notation, &error->failure_count);
        return;
    }
    notation_int_count(notation, &count, FAILURE_SIZE_MIN);
    struct cql_failure *failures =
        notation_items(notation, &error->failures, count, sizeof *failures);
    error->failure_count = (int32_t)count;
    for (uint32_t i = 0; i < count && !notation->reader.failed; i++) {
        notation_inetaddr(notation, &failures[i].address);
        notation_u16(notation, &failures[i].reason);
    }
}

static void code_error(struct notation *notation, struct cql_error *error)
{
    uint32_t code = error->code;

    notation_u32(notation, &code);
    error->code = (enum cql_error_code)code;
    notation_text(notation, &error->message);
    switch (code) {
    case CQL_UNAVAILABLE:
        notation_consistency(notation, &error->consistency);
        notation_i32(notation, &error->required);
        notation_i32(notation, &error->received);
        break;
    case CQL_WRITE_TIMEOUT:
        code_counts(notation, error);
        notation_text(notation, &error->write_type);
        if (notation->version >= 5 && strcmp(error->write_type, "CAS") == 0)
            notation_u16(notation, &error->contentions);
        break;
    case CQL_READ_TIMEOUT:
        code_counts(notation, error);
        notation_bool(notation, &error->has_data);
        break;
    case CQL_READ_FAILURE:
        code_counts(notation, error);
        code_failures(notation, error);
        notation_bool(notation, &error->has_data);
        break;
    case CQL_FUNCTION_FAILURE:
        notation_text(notation, &error->keyspace);
        notation_text(notation, &error->name);
        notation_texts(notation, &error->argument_types, &error->argument_type_count);
        break;
    case CQL_WRITE_FAILURE:
        code_counts(notation, error);
        code_failures(notation, error);
        notation_text(notation, &error->write_type);
        break;
    case CQL_ALREADY_EXISTS:
        notation_text(notation, &error->keyspace);
        notation_text(notation, &error->name);
        break;
    case CQL_UNPREPARED:
        code_id(notation, error->id);
        break;
    default:
        break;
    }
}

void native_response_put_error(const struct cql_error *error, uint8_t version, struct buffer *body)
{
    struct notation notation = notation_writing(body, version);
    struct cql_error copy = *error;

    code_error(&notation, &copy);
}

/* ---- SUPPORTED ---- */

static void code_supported(struct notation *notation, const struct native_supported **supported,
                           uint32_t *count)
{
    notation_short_count(notation, count, SUPPORTED_SIZE_MIN);
    struct native_supported *items = notation_items(notation, supported, *count, sizeof *items);
    for (uint32_t i = 0; i < *count; i++) {
        notation_text(notation, &items[i].name);
        notation_texts(notation, &items[i].values, &items[i].value_count);
    }
}

void native_response_put_supported(struct buffer *body)
{
    static const char *const languages[] = {CQL_LANGUAGE_VERSION};
    static const char *const compressions[] = {"lz4", "snappy"};
    static const char *const versions[] = {"3/v3", "4/v4", "5/v5"};
    const struct native_supported all[] = {
        {"CQL_VERSION", languages, COUNT_OF(languages)},
        {"COMPRESSION", compressions, native_compress_has_snappy() ? 2 : 1},
        {"PROTOCOL_VERSIONS", versions, COUNT_OF(versions)},
    };
    const struct native_supported *supported = all;
    uint32_t count = COUNT_OF(all);
    struct notation notation = notation_writing(body, NATIVE_VERSION_MAX);

    code_supported(&notation, &supported, &count);
}

/* ---- results ---- */

static uint32_t global_flag(const struct cql_metadata *metadata)
{
    for (uint32_t i = 1; i < metadata->count; i++)
        if (strcmp(metadata->columns[i].keyspace, metadata->columns[0].keyspace) != 0 ||
            strcmp(metadata->columns[i].table, metadata->columns[0].table) != 0)
            return 0;
    return metadata->count > 0 ? METADATA_GLOBAL : 0;
}

static void code_columns(struct notation *notation, uint32_t flags, struct cql_metadata *metadata)
{
    bool is_global = (flags & METADATA_GLOBAL) != 0;
    bool is_reading = notation_is_reading(notation);

    if (is_reading && metadata->count > reader_left(&notation->reader) / COLUMN_SIZE_MIN) {
        notation->reader.failed = true;
        metadata->count = 0;
    }
    struct cql_column *columns =
        notation_items(notation, &metadata->columns, metadata->count, sizeof *columns);
    if (is_global) {
        notation_text(notation, &columns[0].keyspace);
        notation_text(notation, &columns[0].table);
    }
    for (uint32_t i = 0; i < metadata->count; i++) {
        if (!is_global) {
            notation_text(notation, &columns[i].keyspace);
            notation_text(notation, &columns[i].table);
        } else if (is_reading) {
            columns[i].keyspace = columns[0].keyspace;
            columns[i].table = columns[0].table;
        }
        notation_text(notation, &columns[i].name);
        notation_type(notation, &columns[i].type, columns[i].keyspace);
    }
}

static void code_cells(struct notation *notation, uint32_t column_count, struct cql_rows *rows)
{
    struct reader *reader = &notation->reader;
    uint64_t cell_count = (uint64_t)rows->row_count * column_count;
    struct bytes cell = {0};

    if (!notation_is_reading(notation)) {
        buffer_append_bytes(notation->to, rows->cells);
        return;
    }
    const uint8_t *start = reader->data + reader->offset;
    if (reader->failed || cell_count > reader_left(reader) / CELL_SIZE_MIN) {
        reader->failed = true;
        return;
    }
    for (uint64_t i = 0; i < cell_count; i++)
        notation_bytes(notation, &cell);
    rows->cells = bytes_of(start, (size_t)(reader->data + reader->offset - start));
}

/* `flags` is used for writing only. */
static void code_rows(struct notation *notation, uint32_t flags, struct native_response *response)
{
    struct cql_rows *rows = &response->result.rows;

    notation_u32(notation, &flags);
    notation_u32(notation, &response->column_count);
    if ((flags & METADATA_MORE) != 0)
        notation_bytes(notation, &rows->paging_state);
    if ((flags & METADATA_CHANGED) != 0) {
        notation_short_bytes(notation, &response->new_metadata_id);
        if (response->new_metadata_id.size == CQL_ID_SIZE)
            memmove(rows->metadata_id, response->new_metadata_id.data, CQL_ID_SIZE);
    }
    response->has_metadata = (flags & METADATA_NONE) == 0;
    if (response->has_metadata) {
        rows->metadata.count = response->column_count;
        code_columns(notation, flags, &rows->metadata);
    }
    notation_u32(notation, &rows->row_count);
    code_cells(notation, response->column_count, rows);
}

static void code_prepared(struct notation *notation, struct cql_prepared *prepared)
{
    uint32_t flags = global_flag(&prepared->bind);
    uint32_t column_count = prepared->result.count;

    code_id(notation, prepared->id);
    if (notation->version >= 5)
        code_id(notation, prepared->metadata_id);
    notation_u32(notation, &flags);
    notation_u32(notation, &prepared->bind.count);
    if (notation->version >= 4) {
        notation_int_count(notation, &prepared->key_count, sizeof(uint16_t));
        uint16_t *indexes =
            notation_items(notation, &prepared->key_indexes, prepared->key_count, sizeof *indexes);
        for (uint32_t i = 0; i < prepared->key_count; i++)
            notation_u16(notation, &indexes[i]);
    }
    code_columns(notation, flags, &prepared->bind);
    flags = column_count == 0 ? METADATA_NONE : global_flag(&prepared->result);
    notation_u32(notation, &flags);
    notation_u32(notation, &column_count);
    if ((flags & METADATA_NONE) == 0) {
        prepared->result.count = column_count;
        code_columns(notation, flags, &prepared->result);
    }
}

static void code_result(struct notation *notation, uint32_t flags_of_rows,
                        struct native_response *response)
{
    struct cql_result *result = &response->result;
    uint32_t kind = result->kind;

    notation_u32(notation, &kind);
    switch (kind) {
    case CQL_RESULT_VOID:
        break;
    case CQL_RESULT_ROWS:
        code_rows(notation, flags_of_rows, response);
        break;
    case CQL_RESULT_SET_KEYSPACE:
        notation_text(notation, &result->keyspace);
        break;
    case CQL_RESULT_PREPARED:
        code_prepared(notation, &result->prepared);
        break;
    case CQL_RESULT_SCHEMA_CHANGE:
        code_change(notation, &result->change);
        break;
    default:
        notation->reader.failed = true;
        return;
    }
    result->kind = (enum cql_result_kind)kind;
}

void native_response_put_result(const struct cql_result *result, bool skips_metadata,
                                struct bytes known_id, uint8_t version, struct buffer *body)
{
    const struct cql_rows *rows = &result->rows;
    struct bytes id = bytes_of(rows->metadata_id, CQL_ID_SIZE);
    bool is_changed = version >= 5 && known_id.size > 0 && !bytes_equal(known_id, id);
    bool is_left_out = skips_metadata && !is_changed;
    uint32_t flags = (is_left_out ? METADATA_NONE : global_flag(&rows->metadata)) |
                     (rows->paging_state.size > 0 ? METADATA_MORE : 0u) |
                     (is_changed ? METADATA_CHANGED : 0u);
    struct notation notation = notation_writing(body, version);
    struct native_response response; /* only the members that are encoded are set */

    check(result->kind != CQL_RESULT_ERROR);
    response.result = *result;
    response.column_count = rows->metadata.count;
    response.new_metadata_id = id;
    code_result(&notation, flags, &response);
}

/* ---- all ---- */

static void read_body(struct notation *notation, struct native_response *response)
{
    if (response->opcode == NATIVE_ERROR)
        code_error(notation, &response->error);
    else if (response->opcode == NATIVE_AUTHENTICATE)
        notation_text(notation, &response->authenticator);
    else if (response->opcode == NATIVE_AUTH_CHALLENGE || response->opcode == NATIVE_AUTH_SUCCESS)
        notation_bytes(notation, &response->token);
    else if (response->opcode == NATIVE_SUPPORTED)
        code_supported(notation, &response->supported, &response->supported_count);
    else if (response->opcode == NATIVE_RESULT)
        code_result(notation, 0, response);
    else if (response->opcode == NATIVE_EVENT)
        code_event(notation, &response->event);
}

int native_response_decode(const struct native_envelope *envelope, struct arena *arena,
                           struct native_response *response_out, struct error *err)
{
    struct notation notation = notation_reading(envelope->body, envelope->version, arena);

    *response_out = (struct native_response){.opcode = (enum native_opcode)envelope->opcode};
    if (native_opcode_name(envelope->opcode) == NULL || native_opcode_is_request(envelope->opcode))
        return error_set(err, ERROR_CORRUPT, "opcode %u is not an answer's", envelope->opcode);
    code_extras(&notation, envelope->flags, &response_out->extras);
    read_body(&notation, response_out);
    if (notation.reader.failed)
        return error_set(err, ERROR_CORRUPT, "an invalid or truncated body of %s",
                         native_opcode_name(envelope->opcode));
    return 0;
}
