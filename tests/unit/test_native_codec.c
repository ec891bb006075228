/* The native protocol's codec: what is written reads back the same in every version and every kind
 * of compression, in pieces of any size; bytes of the specification; and whatever is cut, flipped
 * or a lie is an error, not more. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "codec/native_compress.h"
#include "codec/native_crc.h"
#include "codec/native_outbox.h"
#include "codec/native_request.h"
#include "codec/native_response.h"
#include "codec/native_segment.h"
#include "base/arena.h"
#include "base/memory.h"
#include "storage/schema/type.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new(1 << 16);
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(native, .init = setup, .fini = teardown, .timeout = 60);

/* A copy that ends where memory ends, so that the sanitizer sees a read past it. */
static struct bytes exact(struct bytes bytes)
{
    return bytes_of(memory_copy(bytes.data == NULL ? (const uint8_t *)"" : bytes.data, bytes.size),
                    bytes.size);
}

static void exact_free(struct bytes bytes)
{
    memory_free((void *)(uintptr_t)bytes.data);
}

/* ---- requests ---- */

static const struct cql_value some_values[] = {
    {.state = CQL_VALUE_SET, .data = {(const uint8_t *)"\0\0\0\7", 4}},
    {.state = CQL_VALUE_NULL},
    {.state = CQL_VALUE_SET, .data = {(const uint8_t *)"", 0}},
};

static const struct cql_value named_values[] = {
    {.state = CQL_VALUE_SET,
     .data = {(const uint8_t *)"abc", 3},
     .name = {(const uint8_t *)"name", 4}},
    {.state = CQL_VALUE_UNSET, .name = {(const uint8_t *)"caf\xc3\xa9", 5}},
};

static const struct cql_payload some_payload[] = {
    {{(const uint8_t *)"daybook-request-id", 18}, {(const uint8_t *)"0123456789abcdef", 16}},
    {{(const uint8_t *)"nothing", 7}, {NULL, 0}},
};

static const struct cql_payload startup_options[] = {
    {{(const uint8_t *)"CQL_VERSION", 11}, {(const uint8_t *)"3.0.0", 5}},
    {{(const uint8_t *)"DRIVER_NAME", 11}, {(const uint8_t *)"", 0}},
};

static const struct bytes event_names[] = {{(const uint8_t *)"SCHEMA_CHANGE", 13},
                                           {(const uint8_t *)"STATUS_CHANGE", 13}};

static const struct cql_batch_item batch_items[] = {
    {.text = {(const uint8_t *)"INSERT", 6}, .values = some_values, .value_count = 3},
    {.is_prepared = true, .text = {(const uint8_t *)"0123456789abcdef", 16}},
    {.text = {(const uint8_t *)"DELETE", 6}},
};

static struct bytes text(const char *string)
{
    return bytes_text(string);
}

/* One of each kind of request, and of each of its parts; what is left of them in `version`. */
static uint32_t make_requests(uint8_t version, struct native_request requests[16])
{
    uint32_t count = 0;

    requests[count++] = (struct native_request){.opcode = NATIVE_OPTIONS};
    requests[count++] = (struct native_request){
        .opcode = NATIVE_STARTUP, .options = startup_options, .option_count = 2};
    requests[count++] =
        (struct native_request){.opcode = NATIVE_REGISTER, .events = event_names, .event_count = 2};
    requests[count++] =
        (struct native_request){.opcode = NATIVE_AUTH_RESPONSE, .token = bytes_of("\0u\0p", 4)};
    requests[count++] = (struct native_request){
        .opcode = NATIVE_QUERY, .cql = {.text = text("SELECT 1"), .consistency = CQL_LOCAL_ONE}};
    requests[count++] =
        (struct native_request){.opcode = NATIVE_QUERY,
                                .skips_metadata = true,
                                .cql = {.text = text("SELECT * FROM caf\xc3\xa9"),
                                        .consistency = CQL_QUORUM,
                                        .serial_consistency = CQL_LOCAL_SERIAL,
                                        .values = some_values,
                                        .value_count = 3,
                                        .page_size = 5000,
                                        .is_traced = true,
                                        .paging_state = text("where it goes on"),
                                        .has_timestamp = true,
                                        .timestamp_us = -1,
                                        .has_now = version >= 5,
                                        .now_s = 1385654400,
                                        .keyspace = version >= 5 ? text("ks") : text("")}};
    requests[count++] = (struct native_request){.opcode = NATIVE_QUERY,
                                                .cql = {.text = text("INSERT"),
                                                        .values = named_values,
                                                        .value_count = version >= 4 ? 2 : 1,
                                                        .values_are_named = true}};
    requests[count++] =
        (struct native_request){.opcode = NATIVE_PREPARE,
                                .cql = {.kind = CQL_PREPARE,
                                        .text = text("SELECT ?"),
                                        .keyspace = version >= 5 ? text("ks") : text("")}};
    requests[count++] =
        (struct native_request){.opcode = NATIVE_EXECUTE,
                                .metadata_id = version >= 5 ? text("0123456789ABCDEF") : text(""),
                                .cql = {.kind = CQL_EXECUTE,
                                        .text = text("0123456789abcdef"),
                                        .values = some_values,
                                        .value_count = 3,
                                        .payload = some_payload,
                                        .payload_count = version >= 4 ? 2 : 0}};
    requests[count++] = (struct native_request){.opcode = NATIVE_BATCH,
                                                .cql = {.kind = CQL_BATCH,
                                                        .batch_kind = CQL_BATCH_COUNTER,
                                                        .items = batch_items,
                                                        .item_count = 3,
                                                        .consistency = CQL_ONE,
                                                        .has_timestamp = true,
                                                        .timestamp_us = 12345}};
    for (uint32_t i = 0; i < count; i++)
        if (requests[i].cql.serial_consistency == CQL_ANY)
            requests[i].cql.serial_consistency = CQL_SERIAL;
    return count;
}

Test(native, every_request_reads_back_as_it_was_written_in_every_version)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct native_request requests[16];
        uint32_t count = make_requests(version, requests);

        for (uint32_t i = 0; i < count; i++) {
            struct native_envelope envelope = {.version = version,
                                               .flags = native_request_flags(&requests[i]),
                                               .opcode = (uint8_t)requests[i].opcode};
            struct buffer body = {0};
            struct buffer again = {0};
            struct native_request read;
            struct error err = {0};

            native_request_encode(&requests[i], version, &body);
            envelope.body = exact(buffer_view(&body));
            cr_assert(native_request_decode(&envelope, arena, &read, &err) == 0, "%s", err.text);
            native_request_encode(&read, version, &again);
            cr_expect(bytes_equal(buffer_view(&body), buffer_view(&again)), "v%u %s", version,
                      native_opcode_name(envelope.opcode));
            cr_expect(native_request_flags(&read) == envelope.flags);
            exact_free(envelope.body);
            buffer_release(&body);
            buffer_release(&again);
        }
    }
}

Test(native, the_parts_of_a_query_are_what_the_client_sent)
{
    static const uint8_t body[] = "\0\0\0\6SELECT\0\6" /* the statement, LOCAL_QUORUM */
                                  "\x7d"               /* values, page, state, serial, time,
                                                        * names */
                                  "\0\2\0\1a\0\0\0\1x\0\1b\xff\xff\xff\xfe" /* a = x, b unset */
                                  "\0\0\0\x64\0\0\0\2st\0\x09"
                                  "\0\0\0\0\0\0\0\5";
    struct native_envelope envelope = {
        .version = 4, .opcode = NATIVE_QUERY, .body = bytes_of(body, sizeof body - 1)};
    struct native_request request;
    struct error err = {0};

    cr_assert(native_request_decode(&envelope, arena, &request, &err) == 0, "%s", err.text);
    cr_expect(bytes_equal(request.cql.text, text("SELECT")));
    cr_expect(request.cql.consistency == CQL_LOCAL_QUORUM);
    cr_expect(request.cql.serial_consistency == CQL_LOCAL_SERIAL);
    cr_expect(request.cql.values_are_named && request.cql.value_count == 2);
    cr_expect(bytes_equal(request.cql.values[0].name, text("a")));
    cr_expect(bytes_equal(request.cql.values[0].data, text("x")));
    cr_expect(request.cql.values[1].state == CQL_VALUE_UNSET);
    cr_expect(request.cql.page_size == 100);
    cr_expect(bytes_equal(request.cql.paging_state, text("st")));
    cr_expect(request.cql.has_timestamp && request.cql.timestamp_us == 5);
    cr_expect(!request.skips_metadata && !request.cql.has_now);
}

Test(native, unset_is_null_before_version_4_and_lower_sizes_are_refused_after)
{
    static const uint8_t unset[] = "\0\0\0\1q\0\1\1\0\1\xff\xff\xff\xfe";
    static const uint8_t lower[] = "\0\0\0\1q\0\1\1\0\1\xff\xff\xff\xfd";
    struct native_envelope envelope = {
        .version = 3, .opcode = NATIVE_QUERY, .body = bytes_of(unset, sizeof unset - 1)};
    struct native_request request;

    cr_assert(native_request_decode(&envelope, arena, &request, NULL) == 0);
    cr_expect(request.cql.values[0].state == CQL_VALUE_NULL);
    envelope.version = 4;
    cr_assert(native_request_decode(&envelope, arena, &request, NULL) == 0);
    cr_expect(request.cql.values[0].state == CQL_VALUE_UNSET);
    envelope.body = bytes_of(lower, sizeof lower - 1);
    cr_expect(native_request_decode(&envelope, arena, &request, NULL) == ERROR_CORRUPT);
}

/* A body that is cut anywhere is refused; one that is longer is read as far as it goes. */
Test(native, a_request_that_is_cut_at_any_byte_is_refused)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct native_request requests[16];
        uint32_t count = make_requests(version, requests);

        for (uint32_t i = 0; i < count; i++) {
            struct native_envelope envelope = {.version = version,
                                               .flags = native_request_flags(&requests[i]),
                                               .opcode = (uint8_t)requests[i].opcode};
            struct buffer body = {0};
            struct native_request read;
            struct error err;

            native_request_encode(&requests[i], version, &body);
            for (size_t size = 0; size < body.size; size++) {
                envelope.body = exact(bytes_of(body.data, size));
                cr_expect(native_request_decode(&envelope, arena, &read, &err) == ERROR_CORRUPT,
                          "v%u %s cut at %zu of %zu", version, native_opcode_name(envelope.opcode),
                          size, body.size);
                exact_free(envelope.body);
            }
            buffer_release(&body);
        }
    }
}

Test(native, a_request_with_any_bit_turned_over_is_read_or_refused)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct native_request requests[16];
        uint32_t count = make_requests(version, requests);

        for (uint32_t i = 0; i < count; i++) {
            struct native_envelope envelope = {.version = version,
                                               .flags = native_request_flags(&requests[i]),
                                               .opcode = (uint8_t)requests[i].opcode};
            struct buffer body = {0};

            native_request_encode(&requests[i], version, &body);
            for (size_t bit = 0; bit < body.size * 8; bit++) {
                struct native_request read;
                struct buffer again = {0};

                body.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
                envelope.body = exact(buffer_view(&body));
                if (native_request_decode(&envelope, arena, &read, NULL) == 0)
                    native_request_encode(&read, version, &again);
                exact_free(envelope.body);
                buffer_release(&again);
                body.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
            buffer_release(&body);
            arena_reset(arena);
        }
    }
}

Test(native, lies_about_kinds_and_limits_are_named)
{
    static const struct {
        uint8_t opcode;
        const char *body;
        size_t size;
        const char *says;
    } cases[] = {
        {NATIVE_BATCH, "\3\0\0\0\1\0", 6, "Invalid BATCH message type 3"},
        {NATIVE_BATCH, "\0\0\1\2\0\0\0\0", 8,
         "Invalid query kind in BATCH messages. Must be 0 or 1 but got 2"},
        {NATIVE_QUERY, "\0\0\0\1q\0\1\x20\x80\0\0\0\0\0\0\0", 16,
         "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got "
         "-9223372036854775808)"},
        {NATIVE_QUERY, "\0\0\0\1q\0\x0b\0", 8, "Invalid or truncated body of a QUERY message"},
        {NATIVE_QUERY, "\0\0\0\2\xff\xfe\0\1\0", 9, "Invalid or truncated body of a QUERY message"},
        {NATIVE_QUERY, "\xff\xff\xff\xff\0\1\0", 7, "Invalid or truncated body of a QUERY message"},
        {NATIVE_BATCH, "\0\xff\xff\0\0\0\0\1q\0\0", 11,
         "Invalid or truncated body of a BATCH message"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native_envelope envelope = {.version = 4,
                                           .opcode = cases[i].opcode,
                                           .body = bytes_of(cases[i].body, cases[i].size)};
        struct native_request request;
        struct error err = {0};

        cr_expect(native_request_decode(&envelope, arena, &request, &err) == ERROR_CORRUPT);
        cr_expect_str_eq(err.text, cases[i].says);
    }
}

Test(native, a_statement_over_its_limit_is_refused_as_such)
{
    struct native_request request = {.opcode = NATIVE_QUERY};
    struct native_envelope envelope = {.version = 4, .opcode = NATIVE_QUERY};
    struct buffer statement = {0};
    struct buffer body = {0};

    buffer_put_zeros(&statement, CQL_TEXT_MAX + 1);
    request.cql.text = buffer_view(&statement);
    native_request_encode(&request, 4, &body);
    envelope.body = buffer_view(&body);
    cr_expect(native_request_decode(&envelope, arena, &request, NULL) == ERROR_LIMIT);
    buffer_release(&statement);
    buffer_release(&body);
}

/* ---- answers ---- */

static const struct cql_column *make_columns(void)
{
    static const struct cql_column columns[] = {{"shop", "orders", "id", NULL},
                                                {"shop", "orders", "at", NULL},
                                                {"shop", "orders", "tags", NULL},
                                                {"shop", "orders", "place", NULL},
                                                {"shop", "orders", "took", NULL}};
    static const char *const texts[] = {"int", "date", "map<text, frozen<list<smallint>>>",
                                        "frozen<place>", "frozen<tuple<duration, time>>"};
    static const char *const names[] = {"street", "number"};
    struct cql_column *typed = arena_alloc(arena, sizeof columns, 8);
    const struct type **fields = arena_alloc(arena, 2 * sizeof *fields, 8);
    struct type *place = arena_alloc(arena, sizeof *place, 8);

    fields[0] = type_builtin(TYPE_TEXT);
    fields[1] = type_builtin(TYPE_TINYINT);
    *place = (struct type){.kind = TYPE_UDT,
                           .argument_count = 2,
                           .arguments = fields,
                           .name = "place",
                           .field_names = names};
    memcpy(typed, columns, sizeof columns);
    for (size_t i = 0; i < 5; i++) {
        typed[i].type = place;
        if (i != 3)
            cr_assert(type_parse(bytes_text(texts[i]), arena, NULL, NULL, &typed[i].type, NULL) ==
                      0);
    }
    return typed;
}

static const char *const warnings[] = {"Aggregation query used without partition key", ""};
static const char *const argument_types[] = {"tinyint", "tinyint"};
static const struct cql_failure failures[] = {{{.bytes = {10, 0, 0, 1}, .size = 4}, 1},
                                              {{.bytes = {1}, .size = 16}, 2}};

Test(native_codec, a_timeout_of_a_condition_counts_contentions_from_version_5_on)
{
    static const struct cql_error error = {.code = CQL_WRITE_TIMEOUT,
                                           .message = "",
                                           .consistency = CQL_ONE,
                                           .write_type = "CAS",
                                           .contentions = 100};
    static const uint8_t end[] = {0, 3, 'C', 'A', 'S', 0, 100};
    for (uint8_t version = 4; version <= 5; version++) {
        struct buffer body = {0};
        size_t size = version == 5 ? sizeof(end) : sizeof(end) - 2;
        native_response_put_error(&error, version, &body);
        cr_expect_arr_eq(body.data + body.size - size, end, size);
        buffer_release(&body);
    }
}

static uint32_t make_errors(struct cql_error errors[32])
{
    static const uint32_t codes[] = {0x0000, 0x000A, 0x0100, 0x1000, 0x1001, 0x1002,
                                     0x1003, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500,
                                     0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x2500};
    uint32_t count = sizeof codes / sizeof codes[0];

    for (uint32_t i = 0; i < count; i++)
        errors[i] = (struct cql_error){.code = codes[i],
                                       .message = "what went wrong",
                                       .consistency = CQL_QUORUM,
                                       .received = 1,
                                       .required = 2,
                                       .write_type = "BATCH",
                                       .has_data = true,
                                       .failure_count = 2,
                                       .failures = failures,
                                       .keyspace = "ks",
                                       .name = "t",
                                       .argument_types = argument_types,
                                       .argument_type_count = 2,
                                       .id = "0123456789abcde"};
    errors[count] = errors[7];
    check(errors[count].code == CQL_WRITE_TIMEOUT);
    errors[count].write_type = "CAS";
    errors[count++].contentions = 3;
    return count;
}

/* One of each kind of result. */
static uint32_t make_results(struct cql_result results[16])
{
    static const uint8_t cells[] = "\0\0\0\4\0\0\0\1\xff\xff\xff\xff\0\0\0\0\0\0\0\1x\0\0\0\0"
                                   "\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    static const uint16_t key_indexes[] = {1, 0};
    struct cql_metadata metadata = {make_columns(), 5};
    struct cql_rows rows = {.metadata = metadata,
                            .metadata_id = "fedcba9876543210",
                            .row_count = 2,
                            .cells = bytes_of(cells, sizeof cells - 1)};
    uint32_t count = 0;

    results[count++] = (struct cql_result){.kind = CQL_RESULT_VOID};
    results[count++] = (struct cql_result){.kind = CQL_RESULT_SET_KEYSPACE, .keyspace = "Shop"};
    results[count++] = (struct cql_result){.kind = CQL_RESULT_ROWS, .rows = rows};
    rows.paging_state = text("and so on");
    results[count++] = (struct cql_result){.kind = CQL_RESULT_ROWS, .rows = rows};
    results[count++] = (struct cql_result){.kind = CQL_RESULT_PREPARED,
                                           .prepared = {.id = "0123456789abcdef",
                                                        .metadata_id = "fedcba9876543210",
                                                        .bind = metadata,
                                                        .key_indexes = key_indexes,
                                                        .key_count = 2,
                                                        .result = metadata}};
    results[count++] =
        (struct cql_result){.kind = CQL_RESULT_PREPARED, .prepared = {.id = "0123456789abcdef"}};
    results[count++] =
        (struct cql_result){.kind = CQL_RESULT_SCHEMA_CHANGE,
                            .change = {CQL_UPDATED, CQL_TARGET_TABLE, "shop", "orders"}};
    results[count++] = (struct cql_result){
        .kind = CQL_RESULT_SCHEMA_CHANGE, .change = {CQL_DROPPED, CQL_TARGET_KEYSPACE, "shop", ""}};
    return count;
}

/* Every answer there is, each as flags, opcode and body; the caller releases the bodies. */
struct answer {
    uint8_t opcode;
    uint8_t flags;
    struct buffer body;
};

static uint32_t make_answers(uint8_t version, struct answer answers[64])
{
    struct cql_extras extras = {.trace_id = (const uint8_t *)"0123456789abcdef",
                                .warnings = warnings,
                                .warning_count = 2,
                                .payload = some_payload,
                                .payload_count = 2};
    struct native_event events[] = {
        {.kind = NATIVE_STATUS_CHANGE,
         .change = "UP",
         .address = {.bytes = {127, 0, 0, 1}, .size = 4, .port = 9042}},
        {.kind = NATIVE_TOPOLOGY_CHANGE, .change = "NEW_NODE", .address = {.size = 16}},
        {.kind = NATIVE_SCHEMA_CHANGE, .schema = {CQL_CREATED, CQL_TARGET_TYPE, "shop", "place"}}};
    struct cql_error errors[32];
    struct cql_result results[16];
    uint32_t count = 0;
    uint32_t made = make_errors(errors);

    for (uint32_t i = 0; i < made; i++) {
        answers[count].opcode = NATIVE_ERROR;
        native_response_put_error(&errors[i], version, &answers[count++].body);
    }
    made = make_results(results);
    for (uint32_t i = 0; i < made; i++) {
        answers[count].opcode = NATIVE_RESULT;
        answers[count].flags = native_response_extras_flags(&extras, version);
        native_response_put_extras(&extras, version, &answers[count].body);
        native_response_put_result(&results[i], false, bytes_of(NULL, 0), version,
                                   &answers[count++].body);
    }
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        answers[count].opcode = NATIVE_EVENT;
        native_response_put_event(&events[i], &answers[count++].body);
    }
    answers[count].opcode = NATIVE_SUPPORTED;
    native_response_put_supported(&answers[count++].body);
    answers[count++].opcode = NATIVE_READY;
    answers[count].opcode = NATIVE_AUTHENTICATE;
    notation_put_text(&answers[count++].body, "org.apache.cassandra.auth.PasswordAuthenticator");
    answers[count].opcode = NATIVE_AUTH_SUCCESS;
    notation_put_bytes(&answers[count++].body, bytes_of(NULL, 0));
    return count;
}

/* What was read, written again. */
static void write_again(const struct native_response *response, uint8_t version,
                        struct buffer *body)
{
    native_response_put_extras(&response->extras, version, body);
    if (response->opcode == NATIVE_ERROR)
        native_response_put_error(&response->error, version, body);
    else if (response->opcode == NATIVE_RESULT)
        native_response_put_result(&response->result, !response->has_metadata,
                                   response->new_metadata_id, version, body);
    else if (response->opcode == NATIVE_EVENT)
        native_response_put_event(&response->event, body);
    else if (response->opcode == NATIVE_SUPPORTED)
        native_response_put_supported(body);
    else if (response->opcode == NATIVE_AUTHENTICATE)
        notation_put_text(body, response->authenticator);
    else if (response->opcode == NATIVE_AUTH_SUCCESS)
        notation_put_bytes(body, response->token);
}

Test(native, every_answer_reads_back_as_it_was_written_in_every_version)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct answer answers[64] = {0};
        uint32_t count = make_answers(version, answers);

        for (uint32_t i = 0; i < count; i++) {
            struct native_envelope envelope = {
                .version = version, .flags = answers[i].flags, .opcode = answers[i].opcode};
            struct native_response response;
            struct buffer again = {0};
            struct error err = {0};

            envelope.body = exact(buffer_view(&answers[i].body));
            cr_assert(native_response_decode(&envelope, arena, &response, &err) == 0, "v%u %u %s",
                      version, i, err.text);
            write_again(&response, version, &again);
            cr_expect(bytes_equal(buffer_view(&answers[i].body), buffer_view(&again)),
                      "v%u answer %u, %s", version, i, native_opcode_name(envelope.opcode));
            exact_free(envelope.body);
            buffer_release(&again);
            buffer_release(&answers[i].body);
        }
    }
}

Test(native, an_answer_cut_or_with_a_bit_turned_over_is_read_or_refused)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct answer answers[64] = {0};
        uint32_t count = make_answers(version, answers);

        for (uint32_t i = 0; i < count; i++) {
            struct bytes body = buffer_view(&answers[i].body);
            struct native_envelope envelope = {
                .version = version, .flags = answers[i].flags, .opcode = answers[i].opcode};
            struct native_response response;

            for (size_t size = 0; size < body.size; size++) {
                envelope.body = exact(bytes_of(body.data, size));
                cr_expect(native_response_decode(&envelope, arena, &response, NULL) ==
                              ERROR_CORRUPT,
                          "v%u answer %u cut at %zu", version, i, size);
                exact_free(envelope.body);
            }
            for (size_t bit = 0; bit < body.size * 8; bit++) {
                int rc;

                answers[i].body.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
                envelope.body = exact(body);
                rc = native_response_decode(&envelope, arena, &response, NULL);
                cr_expect(rc == 0 || rc == ERROR_CORRUPT);
                exact_free(envelope.body);
                answers[i].body.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
            buffer_release(&answers[i].body);
            arena_reset(arena);
        }
    }
}

Test(native, rows_leave_their_metadata_out_only_when_the_client_has_the_same)
{
    struct cql_result result = {
        .kind = CQL_RESULT_ROWS,
        .rows = {.metadata = {make_columns(), 5}, .metadata_id = "fedcba9876543210"}};
    static const struct {
        uint8_t version;
        bool skips;
        const char *known;
        bool has_metadata;
        bool is_changed;
    } cases[] = {
        {4, false, "", true, false},
        {4, true, "", false, false},
        {5, true, "fedcba9876543210", false, false},
        {5, true, "0000000000000000", true, true},
        {5, false, "0000000000000000", true, true},
        {5, false, "fedcba9876543210", true, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native_envelope envelope = {.version = cases[i].version, .opcode = NATIVE_RESULT};
        struct native_response response;
        struct buffer body = {0};

        native_response_put_result(&result, cases[i].skips, bytes_text(cases[i].known),
                                   cases[i].version, &body);
        envelope.body = buffer_view(&body);
        cr_assert(native_response_decode(&envelope, arena, &response, NULL) == 0);
        cr_expect(response.has_metadata == cases[i].has_metadata, "case %zu", i);
        cr_expect((response.new_metadata_id.size > 0) == cases[i].is_changed, "case %zu", i);
        cr_expect(response.column_count == 5);
        buffer_release(&body);
    }
}

/* Columns of two tables name theirs one by one. */
Test(native, columns_of_different_tables_carry_their_own_names)
{
    struct cql_column columns[] = {{"a", "t", "x", type_builtin(TYPE_INT)},
                                   {"b", "t", "x", type_builtin(TYPE_INT)}};
    struct cql_result result = {.kind = CQL_RESULT_ROWS, .rows = {.metadata = {columns, 2}}};
    struct native_envelope envelope = {.version = 4, .opcode = NATIVE_RESULT};
    struct native_response response;
    struct buffer body = {0};

    native_response_put_result(&result, false, bytes_of(NULL, 0), 4, &body);
    envelope.body = buffer_view(&body);
    cr_assert(native_response_decode(&envelope, arena, &response, NULL) == 0);
    cr_expect_str_eq(response.result.rows.metadata.columns[1].keyspace, "b");
    buffer_release(&body);
}

Test(native, types_that_a_version_does_not_know_go_by_their_class)
{
    static const struct {
        enum type_kind kind;
        uint8_t version;
        bool is_class;
    } cases[] = {{TYPE_DATE, 3, true},     {TYPE_DATE, 4, false},     {TYPE_TIME, 3, true},
                 {TYPE_SMALLINT, 3, true}, {TYPE_TINYINT, 4, false},  {TYPE_DURATION, 3, true},
                 {TYPE_DURATION, 4, true}, {TYPE_DURATION, 5, false}, {TYPE_INET, 3, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer bytes = {0};
        const struct type *type = NULL;

        notation_put_type(&bytes, type_builtin(cases[i].kind), "ks", cases[i].version);
        cr_expect((bytes.size > 2) == cases[i].is_class, "case %zu", i);
        struct notation notation = notation_reading(buffer_view(&bytes), cases[i].version, arena);
        notation_type(&notation, &type, "ks");
        cr_expect(type->kind == cases[i].kind && !notation.reader.failed);
        buffer_release(&bytes);
    }
}

Test(native, types_nested_without_end_are_refused)
{
    struct buffer bytes = {0};
    const struct type *type = NULL;

    for (int i = 0; i < 100000; i++)
        buffer_put_u16_be(&bytes, TYPE_LIST);
    struct notation notation = notation_reading(buffer_view(&bytes), 4, arena);
    notation_type(&notation, &type, "ks");
    cr_expect(notation.reader.failed);
    buffer_release(&bytes);
}

Test(native, a_long_message_is_cut_between_characters)
{
    struct buffer message = {0};
    struct buffer bytes = {0};
    struct notation writing = notation_writing(&bytes, 4);
    struct bytes read = {0};

    buffer_append_text(&message, "x");
    while (message.size <= UINT16_MAX)
        buffer_append_text(&message, "\xe2\x82\xac");
    struct bytes whole = buffer_view(&message);
    notation_string(&writing, &whole);
    struct notation notation = notation_reading(buffer_view(&bytes), 4, arena);
    notation_string(&notation, &read);
    cr_expect(read.size == UINT16_MAX - 2);
    cr_expect(!notation.reader.failed && reader_left(&notation.reader) == 0);
    buffer_release(&message);
    buffer_release(&bytes);
}

/* ---- checksums and segments ---- */

Test(native, segments_are_those_of_the_specification)
{
    static const uint8_t hello[] = {0x05, 0x00, 0x02, 0x19, 0x99, 0x9a, 'h', 'e',
                                    'l',  'l',  'o',  0x74, 0x80, 0x0e, 0xb6};
    static const uint8_t lz4_header[] = {0x64, 0x00, 0x58, 0x02, 0x00, 0xb1, 0xf3, 0x5d};
    struct native_segment segment;
    struct buffer wire = {0};

    native_segment_put(&wire, bytes_text("hello"), true, false);
    cr_expect(bytes_equal(buffer_view(&wire), bytes_of(hello, sizeof hello)));
    cr_assert(native_segment_header(bytes_of(lz4_header, sizeof lz4_header), true, &segment) == 1);
    cr_expect(!segment.is_whole && segment.is_compressed);
    cr_expect(segment.payload_size == 100 && segment.plain_size == 300);
    buffer_release(&wire);
}

Test(native, a_segment_with_any_bit_turned_over_is_refused)
{
    for (int is_lz4 = 0; is_lz4 < 2; is_lz4++) {
        struct buffer payload = {0};
        struct buffer wire = {0};

        for (int i = 0; i < 100; i++)
            buffer_append_text(&payload, "all the same ");
        native_segment_put(&wire, buffer_view(&payload), true, is_lz4);
        for (size_t bit = 0; bit < wire.size * 8; bit++) {
            struct bytes bytes = buffer_view(&wire);
            struct native_segment segment;
            struct buffer plain = {0};
            struct bytes out;

            wire.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cr_expect(native_segment_header(bytes, is_lz4, &segment) < 0 ||
                          native_segment_payload(bytes, &segment, &plain, &out) == ERROR_CORRUPT,
                      "bit %zu", bit);
            wire.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            buffer_release(&plain);
        }
        buffer_release(&payload);
        buffer_release(&wire);
    }
}

/* ---- compressed bodies ---- */

Test(native, a_compressed_body_that_lies_about_its_size_is_refused)
{
    static const struct {
        enum native_compression compression;
        const char *body;
        size_t size;
        int rc;
    } cases[] = {
        {NATIVE_LZ4, "\0\0", 2, ERROR_CORRUPT},
        {NATIVE_LZ4, "\0\0\0\6\x50hello", 10, ERROR_CORRUPT}, /* says 6, holds 5 */
        {NATIVE_LZ4, "\0\0\0\4\x50hello", 10, ERROR_CORRUPT},
        {NATIVE_LZ4, "\x7f\xff\xff\xff\x50hello", 10, ERROR_LIMIT},
        {NATIVE_LZ4, "\0\0\0\5\x50hello", 10, 0},
        {NATIVE_SNAPPY, "", 0, ERROR_CORRUPT},
        {NATIVE_SNAPPY, "\6\x10hello", 7, ERROR_CORRUPT},
        {NATIVE_SNAPPY, "\xff\xff\xff\x7f\x10hello", 10, ERROR_LIMIT},
        {NATIVE_SNAPPY, "\5\x10hello", 7, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer plain = {0};
        struct bytes body = exact(bytes_of(cases[i].body, cases[i].size));

        cr_expect(native_compress_undo_body(cases[i].compression, body, 1 << 20, &plain) ==
                      cases[i].rc,
                  "case %zu", i);
        cr_expect(cases[i].rc != 0 ? plain.size == 0
                                   : bytes_equal(buffer_view(&plain), bytes_text("hello")));
        exact_free(body);
        buffer_release(&plain);
    }
}

/* ---- whole conversations ---- */

/* Envelopes of sizes up to several segments arrive as they left, whatever the pieces. */
static void converse(uint8_t version, enum native_compression compression, size_t piece)
{
    static const size_t sizes[] = {0, 1, 300, 5000, 131062, 131063, 400000, 7};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    struct native_outbox outbox;
    struct native_inbox inbox;
    struct buffer wire = {0};
    uint32_t seen = 0;
    struct error err = {0};

    native_outbox_init(&outbox, true);
    native_inbox_init(&inbox, false, NATIVE_BODY_MAX);
    outbox.version = version;
    inbox.version = version;
    native_outbox_start(&outbox, compression);
    native_inbox_start(&inbox, compression);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct buffer *body = native_outbox_begin(&outbox, 0, (int16_t)i, NATIVE_QUERY);

        for (size_t at = 0; at < sizes[i]; at++)
            buffer_put_u8(body, (uint8_t)(at * at >> 8));
        native_outbox_end(&outbox);
    }
    native_outbox_take(&outbox, &wire);
    for (size_t at = 0; at < wire.size; at += piece) {
        struct native_envelope envelope;
        size_t size = wire.size - at < piece ? wire.size - at : piece;
        int rc;

        native_inbox_add(&inbox, bytes_of(wire.data + at, size));
        while ((rc = native_inbox_next(&inbox, &envelope, &err)) > 0) {
            cr_assert(envelope.stream == (int16_t)seen && envelope.version == version);
            cr_assert(envelope.body.size == sizes[seen], "%zu", envelope.body.size);
            for (size_t i = 0; i < envelope.body.size; i++)
                cr_assert(envelope.body.data[i] == (uint8_t)(i * i >> 8));
            seen++;
        }
        cr_assert(rc == 0, "%s", err.text);
    }
    cr_expect(seen == COUNT);
    cr_expect(native_inbox_held(&inbox) <= 256 << 10, "%zu", native_inbox_held(&inbox));
    native_outbox_release(&outbox);
    native_inbox_release(&inbox);
    buffer_release(&wire);
}

Test(native, envelopes_arrive_as_they_left_in_pieces_of_any_size)
{
    static const size_t pieces[] = {1 << 30, 65536, 4099, 7};

    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        for (uint8_t version = 3; version <= 5; version++) {
            converse(version, NATIVE_PLAIN, pieces[i]);
            converse(version, NATIVE_LZ4, pieces[i]);
        }
        converse(4, NATIVE_SNAPPY, pieces[i]);
    }
}

static int take_error(struct native_inbox *inbox, struct bytes bytes,
                      struct native_envelope *envelope, struct error *err)
{
    int rc;

    native_inbox_add(inbox, bytes);
    do
        rc = native_inbox_next(inbox, envelope, err);
    while (rc > 0);
    return rc;
}

Test(native, what_is_no_request_of_a_known_version_is_told_apart)
{
    static const struct {
        const char *bytes;
        size_t size;
        int rc;
        uint8_t version;
    } cases[] = {
        {"\x42", 1, ERROR_UNSUPPORTED, 0x42},
        {"\1\0\0\5\0\0\0\0", 8, ERROR_UNSUPPORTED, 1},
        {"\0", 1, ERROR_UNSUPPORTED, 0},
        {"\6", 1, 0, 6},
        {"\6\x10", 2, ERROR_UNSUPPORTED, 6},
        {"\x84", 1, ERROR_INVALID, 4},
        {"\4\0\0\0\5\0\0\0\0\3", 10, ERROR_CONFLICT, 3},
        {"\4\0\0\0\5\xff\xff\xff\xff", 9, ERROR_CORRUPT, 4},
        {"\4\1\0\0\7\0\0\0\1x", 10, ERROR_CORRUPT, 4},
        {"GET / HTTP/1.1\r\n", 16, ERROR_UNSUPPORTED, 'G'},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native_envelope envelope;
        struct native_inbox inbox;
        struct error err;

        native_inbox_init(&inbox, false, NATIVE_BODY_MAX);
        cr_expect(take_error(&inbox, bytes_of(cases[i].bytes, cases[i].size), &envelope, &err) ==
                      cases[i].rc,
                  "case %zu", i);
        cr_expect(envelope.version == cases[i].version, "case %zu", i);
        native_inbox_release(&inbox);
    }
}

/* Its memory is not asked for, and what follows is read. */
Test(native, an_envelope_that_is_too_large_is_named_and_passed_over)
{
    for (int is_framed = 0; is_framed < 2; is_framed++) {
        struct native_outbox outbox;
        struct native_inbox inbox;
        struct native_envelope envelope;
        struct buffer wire = {0};
        struct error err;

        native_outbox_init(&outbox, true);
        native_inbox_init(&inbox, false, 150000);
        outbox.version = inbox.version = is_framed ? 5 : 4;
        native_outbox_start(&outbox, NATIVE_PLAIN);
        native_inbox_start(&inbox, NATIVE_PLAIN);
        buffer_put_zeros(native_outbox_begin(&outbox, 0, 7, NATIVE_QUERY), 600000);
        native_outbox_end(&outbox);
        (void)native_outbox_begin(&outbox, 0, 8, NATIVE_OPTIONS);
        native_outbox_end(&outbox);
        native_outbox_take(&outbox, &wire);
        native_inbox_add(&inbox, buffer_view(&wire));
        cr_assert(native_inbox_next(&inbox, &envelope, &err) == 1);
        cr_expect(envelope.is_too_large && envelope.stream == 7 && envelope.size == 600000);
        cr_assert(native_inbox_next(&inbox, &envelope, &err) == 1);
        cr_expect(!envelope.is_too_large && envelope.stream == 8);
        cr_expect(native_inbox_next(&inbox, &envelope, &err) == 0);
        native_outbox_release(&outbox);
        native_inbox_release(&inbox);
        buffer_release(&wire);
    }
}

/* Parts of an envelope may not be mixed with others, nor a whole segment end within one. */
Test(native, segments_that_do_not_fit_their_envelopes_are_refused)
{
    static const uint8_t half[] = {5, 0, 0, 1, NATIVE_QUERY, 0, 0, 0, 4, 'a', 'b'};
    static const uint8_t whole[] = {5, 0, 0, 1, NATIVE_OPTIONS, 0, 0, 0, 0};
    static const struct {
        struct bytes first, second;
        bool first_is_whole, second_is_whole;
    } cases[] = {
        {{half, sizeof half}, {NULL, 0}, true, false},
        {{half, sizeof half}, {whole, sizeof whole}, false, true},
        {{half, sizeof half}, {whole, sizeof whole}, false, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native_envelope envelope;
        struct native_inbox inbox;
        struct buffer wire = {0};
        struct error err;

        native_inbox_init(&inbox, false, NATIVE_BODY_MAX);
        inbox.version = 5;
        native_inbox_start(&inbox, NATIVE_PLAIN);
        native_segment_put(&wire, cases[i].first, cases[i].first_is_whole, false);
        if (cases[i].second.size > 0)
            native_segment_put(&wire, cases[i].second, cases[i].second_is_whole, false);
        cr_expect(take_error(&inbox, buffer_view(&wire), &envelope, &err) == ERROR_CORRUPT,
                  "case %zu", i);
        native_inbox_release(&inbox);
        buffer_release(&wire);
    }
}
