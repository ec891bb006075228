/* native_response: see the header; reading is native_response_read.c's.
 *
 * What decides correctness: a client takes the metadata that a result leaves out from the statement
 * it prepared.  So rows leave it out only when the client asked for that and, in version 5, knows
 * the metadata that the rows really have. */
#include "codec/native_response.h"

#include "codec/native_compress.h"
#include "codec/native_response_private.h"

static const char *const change_names[] = {
    [CQL_CREATED] = "CREATED", [CQL_UPDATED] = "UPDATED", [CQL_DROPPED] = "DROPPED"};
static const char *const target_names[] = {
    [CQL_TARGET_KEYSPACE] = "KEYSPACE", [CQL_TARGET_TABLE] = "TABLE", [CQL_TARGET_TYPE] = "TYPE"};

/* ---- events ---- */

static const char *event_name(enum native_event_kind kind)
{
    switch (kind) {
    case NATIVE_TOPOLOGY_CHANGE:
        return "TOPOLOGY_CHANGE";
    case NATIVE_STATUS_CHANGE:
        return "STATUS_CHANGE";
    case NATIVE_SCHEMA_CHANGE:
        return "SCHEMA_CHANGE";
    }
    return NULL;
}

bool native_response_event_kind(struct bytes name, enum native_event_kind *kind_out)
{
    static const enum native_event_kind kinds[] = {NATIVE_TOPOLOGY_CHANGE, NATIVE_STATUS_CHANGE,
                                                   NATIVE_SCHEMA_CHANGE};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (bytes_equal(name, bytes_text(event_name(kinds[i])))) {
            *kind_out = kinds[i];
            return true;
        }
    }
    return false;
}

const char *native_response_change_name(enum cql_change change)
{
    return change_names[change];
}

const char *native_response_target_name(enum cql_target target)
{
    return target_names[target];
}

static void put_change(const struct cql_schema_change *change, struct buffer *body)
{
    notation_put_text(body, native_response_change_name(change->change));
    notation_put_text(body, native_response_target_name(change->target));
    notation_put_text(body, change->keyspace);
    if (change->target != CQL_TARGET_KEYSPACE)
        notation_put_text(body, change->name);
}

void native_response_put_event(const struct native_event *event, struct buffer *body)
{
    notation_put_text(body, event_name(event->kind));
    if (event->kind == NATIVE_SCHEMA_CHANGE) {
        put_change(&event->schema, body);
        return;
    }
    notation_put_text(body, event->change);
    notation_put_inet(body, &event->address);
}

/* ---- around a body ---- */

uint8_t native_response_extras_flags(const struct native_extras *extras, uint8_t version)
{
    unsigned flags = extras->trace_id != NULL ? NATIVE_FLAG_TRACING : 0;

    if (version >= 4) {
        flags |= extras->warning_count > 0 ? NATIVE_FLAG_WARNING : 0;
        flags |= extras->payload_count > 0 ? NATIVE_FLAG_PAYLOAD : 0;
    }
    return (uint8_t)flags;
}

static void put_string_list(struct buffer *body, const char *const *texts, uint32_t count)
{
    buffer_put_u16_be(body, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++)
        notation_put_text(body, texts[i]);
}

void native_response_put_extras(const struct native_extras *extras, uint8_t version,
                                struct buffer *body)
{
    uint8_t flags = native_response_extras_flags(extras, version);

    if ((flags & NATIVE_FLAG_TRACING) != 0)
        buffer_append(body, extras->trace_id, NATIVE_UUID_SIZE);
    if ((flags & NATIVE_FLAG_WARNING) != 0)
        put_string_list(body, extras->warnings, extras->warning_count);
    if ((flags & NATIVE_FLAG_PAYLOAD) != 0) {
        buffer_put_u16_be(body, (uint16_t)extras->payload_count);
        for (uint32_t i = 0; i < extras->payload_count; i++) {
            notation_put_string(body, extras->payload[i].name);
            notation_put_bytes(body, extras->payload[i].value);
        }
    }
}

/* ---- errors ---- */

static void put_counts(const struct native_error *error, struct buffer *body)
{
    buffer_put_u16_be(body, (uint16_t)error->consistency);
    buffer_put_u32_be(body, (uint32_t)error->received);
    buffer_put_u32_be(body, (uint32_t)error->required);
}

static void put_failures(const struct native_error *error, uint8_t version, struct buffer *body)
{
    uint32_t count = version >= 5 && error->failures == NULL ? 0 : (uint32_t)error->failure_count;

    buffer_put_u32_be(body, count);
    for (uint32_t i = 0; version >= 5 && i < count; i++) {
        const struct native_failure *failure = &error->failures[i];

        buffer_put_u8(body, failure->address.size);
        buffer_append(body, failure->address.bytes, failure->address.size);
        buffer_put_u16_be(body, failure->reason);
    }
}

void native_response_put_error(const struct native_error *error, uint8_t version,
                               struct buffer *body)
{
    buffer_put_u32_be(body, error->code);
    notation_put_text(body, error->message);
    switch (error->code) {
    case NATIVE_ERROR_UNAVAILABLE:
        buffer_put_u16_be(body, (uint16_t)error->consistency);
        buffer_put_u32_be(body, (uint32_t)error->required);
        buffer_put_u32_be(body, (uint32_t)error->received);
        break;
    case NATIVE_ERROR_WRITE_TIMEOUT:
        put_counts(error, body);
        notation_put_text(body, error->write_type);
        break;
    case NATIVE_ERROR_READ_TIMEOUT:
        put_counts(error, body);
        buffer_put_u8(body, error->has_data);
        break;
    case NATIVE_ERROR_READ_FAILURE:
        put_counts(error, body);
        put_failures(error, version, body);
        buffer_put_u8(body, error->has_data);
        break;
    case NATIVE_ERROR_FUNCTION_FAILURE:
        notation_put_text(body, error->keyspace);
        notation_put_text(body, error->name);
        put_string_list(body, error->argument_types, error->argument_type_count);
        break;
    case NATIVE_ERROR_WRITE_FAILURE:
        put_counts(error, body);
        put_failures(error, version, body);
        notation_put_text(body, error->write_type);
        break;
    case NATIVE_ERROR_EXISTS:
        notation_put_text(body, error->keyspace);
        notation_put_text(body, error->name);
        break;
    case NATIVE_ERROR_UNPREPARED:
        notation_put_short_bytes(body, error->id);
        break;
    default:
        break;
    }
}

/* ---- SUPPORTED ---- */

void native_response_put_supported(struct buffer *body)
{
    static const char *const languages[] = {CQL_LANGUAGE_VERSION};
    static const char *const compressions[] = {"lz4", "snappy"};
    static const char *const versions[] = {"3/v3", "4/v4", "5/v5"};

    buffer_put_u16_be(body, 3);
    notation_put_text(body, "CQL_VERSION");
    put_string_list(body, languages, 1);
    notation_put_text(body, "COMPRESSION");
    put_string_list(body, compressions, native_compress_has_snappy() ? 2 : 1);
    notation_put_text(body, "PROTOCOL_VERSIONS");
    put_string_list(body, versions, 3);
}

/* ---- results ---- */

static bool is_one_table(const struct cql_metadata *metadata)
{
    for (uint32_t i = 1; i < metadata->count; i++)
        if (strcmp(metadata->columns[i].keyspace, metadata->columns[0].keyspace) != 0 ||
            strcmp(metadata->columns[i].table, metadata->columns[0].table) != 0)
            return false;
    return metadata->count > 0;
}

static void put_columns(const struct cql_metadata *metadata, bool is_global, uint8_t version,
                        struct buffer *body)
{
    if (is_global) {
        notation_put_text(body, metadata->columns[0].keyspace);
        notation_put_text(body, metadata->columns[0].table);
    }
    for (uint32_t i = 0; i < metadata->count; i++) {
        const struct cql_column *column = &metadata->columns[i];

        if (!is_global) {
            notation_put_text(body, column->keyspace);
            notation_put_text(body, column->table);
        }
        notation_put_text(body, column->name);
        notation_put_type(body, column->type, column->keyspace, version);
    }
}

static void put_rows(const struct cql_rows *rows, bool skips_metadata, struct bytes known_id,
                     uint8_t version, struct buffer *body)
{
    bool is_changed = version >= 5 && known_id.size > 0 &&
                      !bytes_equal(known_id, bytes_of(rows->metadata_id, CQL_ID_SIZE));
    bool is_left_out = skips_metadata && !is_changed;
    bool is_global = !is_left_out && is_one_table(&rows->metadata);

    buffer_put_u32_be(body, (is_global ? METADATA_GLOBAL : 0u) |
                                (rows->paging_state.size > 0 ? METADATA_MORE : 0u) |
                                (is_left_out ? METADATA_NONE : 0u) |
                                (is_changed ? METADATA_CHANGED : 0u));
    buffer_put_u32_be(body, rows->metadata.count);
    if (rows->paging_state.size > 0)
        notation_put_bytes(body, rows->paging_state);
    if (is_changed)
        notation_put_short_bytes(body, bytes_of(rows->metadata_id, CQL_ID_SIZE));
    if (!is_left_out)
        put_columns(&rows->metadata, is_global, version, body);
    buffer_put_u32_be(body, rows->row_count);
    buffer_append_bytes(body, rows->cells);
}

static void put_prepared(const struct cql_prepared *prepared, uint8_t version, struct buffer *body)
{
    bool is_global = is_one_table(&prepared->bind);

    notation_put_short_bytes(body, bytes_of(prepared->id, CQL_ID_SIZE));
    if (version >= 5)
        notation_put_short_bytes(body, bytes_of(prepared->metadata_id, CQL_ID_SIZE));
    buffer_put_u32_be(body, is_global ? METADATA_GLOBAL : 0);
    buffer_put_u32_be(body, prepared->bind.count);
    if (version >= 4) {
        buffer_put_u32_be(body, prepared->key_count);
        for (uint32_t i = 0; i < prepared->key_count; i++)
            buffer_put_u16_be(body, prepared->key_indexes[i]);
    }
    put_columns(&prepared->bind, is_global, version, body);
    is_global = is_one_table(&prepared->result);
    buffer_put_u32_be(body, prepared->result.count == 0 ? METADATA_NONE
                            : is_global                 ? METADATA_GLOBAL
                                                        : 0);
    buffer_put_u32_be(body, prepared->result.count);
    put_columns(&prepared->result, is_global, version, body);
}

void native_response_put_result(const struct cql_result *result, bool skips_metadata,
                                struct bytes known_id, uint8_t version, struct buffer *body)
{
    switch (result->kind) {
    case CQL_RESULT_VOID:
        buffer_put_u32_be(body, RESULT_VOID);
        return;
    case CQL_RESULT_ROWS:
        buffer_put_u32_be(body, RESULT_ROWS);
        put_rows(&result->rows, skips_metadata, known_id, version, body);
        return;
    case CQL_RESULT_SET_KEYSPACE:
        buffer_put_u32_be(body, RESULT_SET_KEYSPACE);
        notation_put_text(body, result->keyspace);
        return;
    case CQL_RESULT_PREPARED:
        buffer_put_u32_be(body, RESULT_PREPARED);
        put_prepared(&result->prepared, version, body);
        return;
    case CQL_RESULT_SCHEMA_CHANGE:
        buffer_put_u32_be(body, RESULT_SCHEMA_CHANGE);
        put_change(&result->change, body);
        return;
    case CQL_RESULT_ERROR:
        break;
    }
    check(result->kind != CQL_RESULT_ERROR);
}
