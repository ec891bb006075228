/* make_corpus: the seeds of the fuzzers, in the directory given: DIR/<target>/<name>.
 *
 * Files are those that an engine leaves in a simulated directory after a short history; pages,
 * payloads and mutations are parts of it.  Linked with the fuzzers' checksums (open_checksum.c). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/murmur3.h"
#include "query/cql/write/cql_idempotency.h"
#include "query/cql/read/cql_page.h"
#include "codec/native_outbox.h"
#include "codec/native_request.h"
#include "codec/native_response.h"
#include "rollup/days/seal.h"
#include "rollup/streams/stream_definition.h"
#include "storage/backup/backup_following.h"
#include "storage/backup/backup_point.h"
#include "client/frame_writer.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "storage/engine/engine.h"
#include "storage/manifest/manifest_snapshot.h"
#include "storage/segment/segment_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/engine_fixture.h"
#include "tests/lib/segment_alone.h"
#include "tests/sim/sim_world.h"

struct seeds {
    const char *directory;
    struct world *world;
    const char *folder; /* whose files are being saved */
};

static void save(const struct seeds *seeds, const char *target, const char *name,
                 struct bytes prefix, struct bytes content)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", seeds->directory, target);
    check(mkdir(path, 0777) == 0 || errno == EEXIST);
    snprintf(path, sizeof(path), "%s/%s/%s", seeds->directory, target, name);
    FILE *file = fopen(path, "wb");
    check(file != NULL);
    check(fwrite(prefix.data, 1, prefix.size, file) == prefix.size);
    check(fwrite(content.data, 1, content.size, file) == content.size);
    check(fclose(file) == 0);
}

static void save_text(const struct seeds *seeds, const char *target, const char *name,
                      const char *text)
{
    save(seeds, target, name, bytes_text(""), bytes_text(text));
}

/* ---- text ---- */

/* Every 20th of the recorded statements. */
static void save_statements(const struct seeds *seeds)
{
    FILE *file = fopen("tests/data/cql_statements.txt", "r");
    unsigned count = 0;
    char line[2000];
    char name[20];

    check(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] != '>' || count++ % 20 != 0)
            continue;
        snprintf(name, sizeof(name), "%u", count);
        save_text(seeds, "cql", name, line + 2);
    }
    fclose(file);
}

static void save_json(const struct seeds *seeds)
{
    save_text(seeds, "cql_json", "map",
              "map<int, frozen<list<decimal>>>\n{\"7\": [0.50, \"1E-9\", 12e3], \"-1\": \"[1]\"}");
    save_text(seeds, "cql_json", "tuple",
              "tuple<text, double, blob, boolean, timestamp, inet>\n"
              "[\"a\\u00e9\\uD83D\\uDE00\\n\", 1e-7, \"0x00ff\", true, 1385604000123, \"::1\"]");
    save_text(seeds, "cql_json", "set", "set<duration>\n[\"1y2mo3d\", \"PT5H\"]");
    save_text(seeds, "cql_json", "uuid", "uuid\n\"12345678-1234-1234-1234-123456789abc\"");
}

static void save_lines(const struct seeds *seeds)
{
    save(seeds, "csv", "plain", bytes_of("", 1),
         bytes_text("r1,2013-11-28,1385654400123,ad42,0.005\n"
                    "r2,,2013-11-28T16:00:00.5+01:00,caf\xc3\xa9,12\r\n"));
    save(seeds, "csv", "quoted", bytes_of("", 1),
         bytes_text("\"r,\"\"1\",2013-11-28,1385654400123,\"#a\",1\n\"open,,0,a,1\n\n#sync\n"));
    save_text(seeds, "csv", "header",
              "\1ad_id,amount,time,reseller_id\na,0.10,1385654400123,r\n,,,\na,1,2,r,x\n");
    save_text(seeds, "ndjson", "plain",
              "{\"reseller_id\":\"r1\",\"time\":1385654400123,\"ad_id\":\"ad42\","
              "\"amount\":0.005}\n"
              "{\"reseller_id\":\"r\\u00e9\\n\",\"day\":\"2013-11-28\",\"time\":"
              "\"2013-11-28T16:00:00Z\",\"ad_id\":7,\"amount\":\"1\"}\n");
    save_text(seeds, "ndjson", "wrong",
              "{\"reseller_id\":[{}],\"day\":null}\n[1]\n{\"amount\":\"\\ud83d\\ude00\"\n{}{}\n");
    save_text(seeds, "rate_file", "plain",
              "reseller_id,effective_since,reward_percent\nsupaboobs,2011-02-13,0.2\n"
              "\"another, Ltd\",2013-11-01,25%\nsupaboobs,2012-01-01,\n");
    save_text(seeds, "config_file", "plain",
              "# a comment\ningest = 10.0.0.5:7600\nmemory=4G ; half\r\n\ncql =none\n");
    save_text(seeds, "config_file", "wrong", "[serve]\nmemory = 4G\n  8G\nwrong = 1\nb\n");
    save_text(seeds, "native_password", "plain",
              "# who\nalice:$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy\r\n"
              "bob:$2y$12$abcdefghijklmnopqrstuuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01\n");
    save_text(seeds, "text", "day", "2013-11-28");
    save_text(seeds, "text", "time", "2013-11-28 02:16:52.5+01:00");
    save_text(seeds, "text", "milliseconds", "1385654400123");
    save_text(seeds, "text", "amount", "12345678901234567.8");
    save_text(seeds, "text", "exponent", "-1.25e-17");
}

/* The first byte is fuzz_definitions.c's. */
static void save_definitions(const struct seeds *seeds)
{
    save(seeds, "definitions", "cli", bytes_of("", 1),
         bytes_text("create keyspace k with strategy_options = {replication_factor: 1}; use k;\n"
                    "create column family f with column_type=Super and comparator='CompositeType("
                    "LongType(reversed=true),UTF8Type)' and subcomparator=BytesType -- c\n"
                    "and column_metadata=[{column_name: a, validation_class: UTF8Type, "
                    "index_type: KEYS, index_name: i}] and default_time_to_live=1;"));
    save(seeds, "definitions", "counters", bytes_of("", 1),
         bytes_text("create column family \"Likes\" with key_validation_class = UUIDType /* c */ "
                    "and default_validation_class=CounterColumnType and comment='it\\'s';"));
    save(seeds, "definitions", "xml", bytes_of("\1", 1),
         bytes_text("<?xml version='1.0'?><Storage><Keyspace Name='A'><ColumnFamily Name='S' "
                    "ColumnType='Super' CompareWith='TimeUUIDType' CompareSubcolumnsWith="
                    "'BytesType' Comment='c'/><ReplicationFactor>3</ReplicationFactor>"
                    "</Keyspace></Storage>"));
    save_text(seeds, "query_flow", "plain",
              "# queries\nQ1 -> reseller Rates\nQ2 reseller -> ad_click\nQ3 ad_click -> reseller\n"
              "Q4 ad_click -> ad_click\n");
}

/* ---- frames ---- */

static struct daybook_click click_of(const char *reseller, int32_t day, const char *ad)
{
    return (struct daybook_click){.reseller = reseller,
                                  .ad = ad,
                                  .day = day,
                                  .time_ms = INT64_C(1385654400123),
                                  .amount = day,
                                  .scale = (uint8_t)(day & 3)};
}

/* What fuzz_binary_decoder takes: the frames of a batch without hello. */
static void save_frames(const struct seeds *seeds, const char *name,
                        const struct daybook_click *clicks, size_t count)
{
    struct click_batch batch = {0};
    struct frame_writer writer = {0};
    struct click_columns columns;
    for (size_t i = 0; i < count; i++)
        check(click_batch_add(&batch, &clicks[i]) == 0);
    columns = click_batch_columns(&batch);
    check(frame_writer_batch(&writer, &columns, 1) == 0);
    save(seeds, "binary_decoder", name, bytes_of("", 0), bytes_of(writer.out, writer.out_size));
    frame_writer_release(&writer);
    click_batch_release(&batch);
}

static void save_binary(const struct seeds *seeds)
{
    static const char answers[] = "\7\13\0\0\0\200\0\0\0\132\132\132\132binary 1\nok"
                                  "\65\0\0\0\200\0\0\0\132\132\132\132 1 accepted 2 rejected 1\n"
                                  "reject 2 1 bad_day \"x\"\nok 2 ";
    const struct daybook_click clicks[] = {
        click_of("r1", 16037, "ad42"), click_of("r2", 16037, "ad42"),
        click_of("r1", 16038, "a"),    click_of("r1", DAYBOOK_DAY_NONE, "ad42"),
        click_of("\xff", 99, "ad42"),
    };
    save_frames(seeds, "plain", clicks, 3);
    save_frames(seeds, "one", clicks, 1);
    save_frames(seeds, "derived", clicks, 4);
    save_frames(seeds, "refused", clicks, 5);
    save(seeds, "client_answers", "two", bytes_of("", 0), bytes_of(answers, sizeof(answers) - 1));
}

static void save_values(const struct seeds *seeds)
{
    static const char map[] = "map<text, frozen<list<int>>>\n\0\0\0\1\0\0\0\1a\0\0\0\14"
                              "\0\0\0\1\0\0\0\4\0\0\0\7";
    static const char decimal[] = "decimal\n\0\0\0\2\0\377";
    static const char duration[] = "duration\n\2\4\6";
    save(seeds, "value", "map", bytes_of("", 0), bytes_of(map, sizeof(map) - 1));
    save(seeds, "value", "decimal", bytes_of("", 0), bytes_of(decimal, sizeof(decimal) - 1));
    save(seeds, "value", "duration", bytes_of("", 0), bytes_of(duration, sizeof(duration) - 1));
    save_text(seeds, "value", "tuple", "frozen<tuple<int, varint, set<inet>>>\n");
    save_text(seeds, "value", "timestamp", "timestamp\n2013-11-28T02:16:52Z");
    save_text(seeds, "value", "uuid", "timeuuid\n13814000-1dd2-11b2-8080-808080808080");
    save_text(seeds, "value", "inet", "inet\n2001:db8::1");
}

static void save_zones(const struct seeds *seeds)
{
    static const char *const names[] = {"Asia/Tokyo", "Europe/Berlin", "America/St_Johns"};
    static const char *const files[] = {"tokyo", "berlin", "st-johns"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        uint8_t content[8192], time[8];
        snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", names[i]);
        FILE *file = fopen(path, "rb");
        check(file != NULL);
        size_t size = fread(content, 1, sizeof(content), file);
        fclose(file);
        store_u64(time, UINT64_C(1385654400123));
        save(seeds, "zone", files[i], bytes_of(time, 8), bytes_of(content, size));
    }
}

static void save_messages(const struct seeds *seeds)
{
    static const char run[] = "\40\21\0\0\0\1\0\2me\4text\1\6status\0\1\0\0\0\2";
    save(seeds, "control_message", "run", bytes_of("", 0), bytes_of(run, sizeof(run) - 1));
}

static void save_requests(const struct seeds *seeds)
{
    save_text(
        seeds, "http_request", "get",
        "GET /metrics?a=b HTTP/1.1\r\nHost: localhost:7680\r\nIf-None-Match: \"a\", W/\"b\"\r\n"
        "Connection: keep-alive\r\n\r\n");
    save_text(seeds, "http_request", "post",
              "POST /ingest HTTP/1.1\r\nHost: [::1]:7680\r\nOrigin: http://[::1]:7680\r\n"
              "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
    save_text(seeds, "http_request", "head", "HEAD / HTTP/1.0\r\nHost: a.example.com\r\n\r\n");
    save_text(
        seeds, "http_request", "chunked",
        "POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n");
    save_text(
        seeds, "http_request", "upgrade",
        "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n");
    save_text(seeds, "http_request", "proxy",
              "GET /api/a HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: 1.2.3.4, [::1]:80\r\n"
              "Accept-Encoding: br;q=0, gzip; q=0.5\r\nSec-Fetch-Site: none\r\n\r\n");
    save_text(seeds, "http_parameters", "report", "from=2013-11-01&reseller=caf%C3%A9+3&&live");
    save_text(seeds, "http_parameters", "wrong", "a=%4&b=%00&%ff=1");
    save_text(seeds, "http_request", "wrong", "CONNECT a:1 HTTP/1.1\nHost : b\r\n folded\r\n\r\n");
}

static void save_parameters(const struct seeds *seeds)
{
    /* Two columns, text and decimal, a paging state, and a row. */
    static const char rows[] = "\2\1\0\1\2\7\7\1\1a\5\0\0\0\2\7";

    save_text(seeds, "api", "report",
              "by=month&reseller=R%201&reseller=b&from=2013-11-01&as-of=2013-12-01&round=2");
    save_text(seeds, "api", "counters", "table=clicks_per_ad&top=3&limit=10&offset=20");
    save_text(seeds, "api", "restatements",
              "day=2013-11-28&all=true&change=3f2504e0-4f89-11d3-"
              "9a0c-0305e82c3301");
    save_text(seeds, "api", "explain", "reseller=caf%C3%A9&day=2013-11-28");
    save(seeds, "api_cql", "rows",
         bytes_text("query=SELECT+a+FROM+t&keyspace=k&limit=2&page=00ff&"
                    "token=0123456789abcdef0123456789abcdef\n"),
         bytes_of(rows, sizeof rows - 1));
    save_text(seeds, "api_cql", "error",
              "query=SELEC&token=a\n\1\1\50line 1:0 no viable alternative at input 'SELEC'");
    save_text(seeds, "api_cql", "wrong", "keyspace=k&page=0&limit=20000&offset=1\n");
    save_text(seeds, "http_ingest", "batch",
              "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11\n2\n1\nclicks\n1\n"
              "reseller_id,day,time,ad_id,amount\na,2013-11-28,1385654400123,ad,0.005\n");
    save_text(seeds, "http_ingest", "lines",
              "\n\n\n\n2\n\xef\xbb\xbf\"a\",2013-11-28,,ad,1\r\n{\"day\":\"2013-11-28\"}");
    save_text(seeds, "http_ingest", "control",
              "\n1\n\na b\n0\na,2013-11-28,1385654400123,ad,1\n#sync\n");
    save_text(seeds, "api", "rows", "[\n  {\"id\": \"a\"},\n  {\"id\": \"b\"},\n  {}\n]\n");
}

static void save_page(const struct seeds *seeds)
{
    /* Every command has two rows with the usual values, and one of them an odd one. */
    static const char rows[] = "\0\2\0\3\4a<b>";

    save(seeds, "page", "revenue",
         bytes_text("/revenue?by=week&from=2013-11-01&reseller=a&with=b\n"),
         bytes_of(rows, sizeof rows - 1));
    save(seeds, "page", "last-days", bytes_text("/revenue?by=month&as-of=2014-01-15\n"),
         bytes_of(rows, sizeof rows - 1));
    save(seeds, "page", "why",
         bytes_text("/why?reseller=a&day=2013-12-30&since=2013-12-01&rate=50%25&note=n\n"),
         bytes_of(rows, sizeof rows - 1));
    save(seeds, "page", "counters", bytes_text("/counters?ad=ad42&by=week\n"),
         bytes_of(rows, sizeof rows - 1));
    save_text(seeds, "page", "top", "/counters?top=20\n");
    save(seeds, "page", "rejects", bytes_text("/rejects?from=2013-11-01&last=200\n"),
         bytes_of(rows, sizeof rows - 1));
    save(seeds, "page", "query", bytes_text("/query?query=SELECT+a&keyspace=k&limit=20&page=00\n"),
         bytes_of("\1\0\1\3", 4));
    save(seeds, "page", "live", bytes_text("/?by=reseller\n"), bytes_of(rows, sizeof rows - 1));
    save_text(seeds, "page", "status", "/status\n");
    save_text(seeds, "page", "change",
              "+/why?token=0123456789abcdef0123456789abcdef&reseller=a&day=2013-11-28&"
              "since=2013-11-01&rate=25%25&expect=none\n");
    save_text(seeds, "page", "statement",
              "+/query?token=0123456789abcdef0123456789abcdef&query=DELETE\n");
}

/* ---- the native protocol: the first byte is fuzz_native.h's ---- */

static void save_native(const struct seeds *seeds)
{
    static const struct cql_value values[] = {
        {.state = CQL_VALUE_SET, .data = {(const uint8_t *)"abc", 3}},
        {.state = CQL_VALUE_NULL},
        {.state = CQL_VALUE_UNSET}};
    static const struct cql_payload pairs[] = {
        {{(const uint8_t *)"CQL_VERSION", 11}, {(const uint8_t *)"3.0.0", 5}}};
    static const struct cql_batch_item items[] = {
        {.text = {(const uint8_t *)"DELETE", 6}, .values = values, .value_count = 3},
        {.is_prepared = true, .text = {(const uint8_t *)"0123456789abcdef", 16}}};
    const struct native_request requests[] = {
        {.opcode = NATIVE_STARTUP, .options = pairs, .option_count = 1},
        {.opcode = NATIVE_QUERY,
         .cql = {.text = bytes_text("SELECT"),
                 .consistency = CQL_QUORUM,
                 .serial_consistency = CQL_LOCAL_SERIAL,
                 .values = values,
                 .value_count = 3,
                 .page_size = 10,
                 .paging_state = bytes_text("state"),
                 .has_timestamp = true,
                 .payload = pairs,
                 .payload_count = 1}},
        {.opcode = NATIVE_PREPARE, .cql = {.kind = CQL_PREPARE, .text = bytes_text("SELECT ?")}},
        {.opcode = NATIVE_EXECUTE,
         .cql = {.kind = CQL_EXECUTE, .text = bytes_text("0123456789abcdef")}},
        {.opcode = NATIVE_BATCH, .cql = {.kind = CQL_BATCH, .items = items, .item_count = 2}},
        {.opcode = NATIVE_AUTH_RESPONSE, .token = bytes_of("\0u\0p", 4)}};
    static const char *const names[] = {"v3", "v4", "v5"};

    for (uint8_t version = NATIVE_VERSION_MIN; version <= NATIVE_VERSION_MAX; version++) {
        for (uint8_t is_lz4 = 0; is_lz4 < 2; is_lz4++) {
            uint8_t form = (uint8_t)(1 + (version - NATIVE_VERSION_MIN) * 3 + is_lz4);
            struct native_outbox outbox;
            struct buffer wire = {0};
            char name[8];

            native_outbox_init(&outbox, true);
            outbox.version = version;
            native_outbox_start(&outbox, is_lz4 ? NATIVE_LZ4 : NATIVE_PLAIN);
            for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                struct buffer *body = native_outbox_begin(
                    &outbox, native_request_flags(&requests[i]), 1, (uint8_t)requests[i].opcode);
                native_request_encode(&requests[i], version, body);
                native_outbox_end(&outbox);
            }
            native_outbox_take(&outbox, &wire);
            snprintf(name, sizeof(name), "%s%s", names[version - NATIVE_VERSION_MIN],
                     is_lz4 ? "lz4" : "");
            save(seeds, "native_request", name, bytes_of(&form, 1), buffer_view(&wire));
            native_outbox_release(&outbox);
            buffer_release(&wire);
        }
    }
}

static void save_answers(const struct seeds *seeds)
{
    static const uint8_t form = 1 + 3; /* version 4, plain */
    static const uint8_t cells[] = {0, 0, 0, 4, 0, 0, 0, 1, 255, 255, 255, 255};
    struct cql_column columns[] = {{"ks", "t", "id", type_builtin(TYPE_INT)},
                                   {"ks", "t", "took", type_builtin(TYPE_DURATION)}};
    struct cql_result results[] = {
        {.kind = CQL_RESULT_ROWS,
         .rows = {.metadata = {columns, 2},
                  .row_count = 1,
                  .cells = bytes_of(cells, sizeof(cells)),
                  .paging_state = bytes_text("state")}},
        {.kind = CQL_RESULT_PREPARED, .prepared = {.bind = {columns, 2}, .result = {columns, 1}}},
        {.kind = CQL_RESULT_SCHEMA_CHANGE, .change = {CQL_CREATED, CQL_TARGET_TABLE, "ks", "t"}}};
    struct cql_error error = {.code = CQL_WRITE_TIMEOUT, .message = "late", .write_type = "SIMPLE"};
    struct native_outbox outbox;
    struct buffer wire = {0};

    native_outbox_init(&outbox, false);
    outbox.version = 4;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        native_response_put_result(&results[i], false, bytes_of(NULL, 0), 4,
                                   native_outbox_begin(&outbox, 0, 1, NATIVE_RESULT));
        native_outbox_end(&outbox);
    }
    native_response_put_error(&error, 4, native_outbox_begin(&outbox, 0, 1, NATIVE_ERROR));
    native_outbox_end(&outbox);
    native_response_put_supported(native_outbox_begin(&outbox, 0, 1, NATIVE_SUPPORTED));
    native_outbox_end(&outbox);
    native_outbox_take(&outbox, &wire);
    save(seeds, "native_response", "v4", bytes_of(&form, 1), buffer_view(&wire));
    native_outbox_release(&outbox);
    buffer_release(&wire);
}

/* ---- batches ---- */

static void add_whole_row(struct write_batch *batch)
{
    static const uint8_t one[] = {0, 0, 0, 1};
    const struct column_value values[] = {
        {1, false, bytes_text("p")},      {2, false, bytes_of(one, 4)}, {3, false, bytes_text("c")},
        {4, false, bytes_text("static")}, {5, true, {NULL, 0}},
    };
    const struct table *table = schema_table(fuzz_schema(), FUZZ_TABLE_WHOLE);
    write_batch_insert(batch, table, values, 5);
    write_batch_delete(batch, table, values, 3);
    write_batch_delete(batch, table, values, 1);
}

static void add_range_deletion(struct write_batch *batch)
{
    static const uint8_t one[] = {0, 0, 0, 1};
    struct deletion deletion = {.timestamp_us = TIMESTAMP_SERVER};
    struct unfiltered *bounds = arena_alloc(batch->arena, 2 * sizeof(*bounds), 8);
    bounds[0] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                    .bound = {.side = BOUND_BEFORE},
                                    .before = DELETION_NONE,
                                    .after = deletion};
    bounds[0].bound.prefix.count = 1;
    bounds[0].bound.prefix.values[0] = bytes_of(one, 4);
    bounds[1] = bounds[0];
    bounds[1].bound.side = BOUND_AFTER;
    bounds[1].before = deletion;
    bounds[1].after = DELETION_NONE;
    struct mutation mutation = {.table_id = FUZZ_TABLE_WHOLE,
                                .token = murmur3_token("p", 1),
                                .key = bytes_text("p"),
                                .deletion = DELETION_NONE,
                                .items = bounds,
                                .item_count = 2};
    write_batch_add_mutation(batch, &mutation);
}

static void add_counter(struct write_batch *batch)
{
    static const uint8_t one[] = {0, 0, 0, 1};
    struct buffer packed = {0};
    struct clustering clustering = {.count = 1};
    clustering.values[0] = bytes_of(one, 4);
    row_clustering_pack(&clustering, &packed);
    const struct counter_increment increment = {.table_id = FUZZ_TABLE_COUNTER,
                                                .column_id = 3,
                                                .key = bytes_text("p"),
                                                .clustering =
                                                    arena_copy(batch->arena, buffer_view(&packed)),
                                                .change = COUNTER_SET,
                                                .value = -7};
    write_batch_add_increment(batch, &increment);
    buffer_release(&packed);
}

static void save_batch(const struct seeds *seeds, struct store *store)
{
    static const struct click clicks[] = {
        {"r1", "2013-11-28", 1385605012000, "a", "0.01"},
        {"r1", "2013-11-28", 1385605012001, "b", "12"},
        {"r2", "2013-11-29", 1385691412000, "a", "0.005"},
    };
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(store, clicks, 3);
    const struct counting_rule rule = {.column_id = AD_CLICK_AD_ID,
                                       .counter_table_id = TABLE_CLICKS_PER_AD,
                                       .counter_column_id = COUNTER_CLICKS};
    struct buffer payload = {0};
    write_batch_add_block(batch, block);
    write_batch_add_rule(batch, &rule);
    add_whole_row(batch);
    add_range_deletion(batch);
    add_counter(batch);
    write_batch_serialize(batch, NULL, &payload);
    save(seeds, "frame_payload", "mixed", bytes_of("", 0), buffer_view(&payload));
    buffer_clear(&payload);
    batch->schema = fuzz_schema();
    write_batch_serialize(batch, NULL, &payload);
    save(seeds, "frame_payload", "schema", bytes_of("", 0), buffer_view(&payload));
    buffer_clear(&payload);
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        mutation_pack(&batch->mutations[i], &payload);
    save(seeds, "mutation", "several", bytes_of("", 0), buffer_view(&payload));
    block_free(block);
    write_batch_free(batch);
    buffer_release(&payload);
}

static void save_schema(const struct seeds *seeds)
{
    struct buffer content = {0};
    struct schema *small = schema_new();
    static const char *const fields[] = {"a", "b"};
    static const char *const types[] = {"int", "list<text>"};
    check(schema_add_keyspace(small, "k", NULL) == 0);
    check(schema_add_type(small, "k", "pair", 2, fields, types, NULL) == 0);
    schema_serialize(small, &content);
    save(seeds, "schema", "small", bytes_of("", 0), buffer_view(&content));
    buffer_clear(&content);
    schema_serialize(fuzz_schema(), &content);
    save(seeds, "schema", "builtin", bytes_of("", 0), buffer_view(&content));
    schema_unref(small);
    buffer_release(&content);
}

/* ---- the files of an engine ---- */

static void write_history(struct engine_fixture *fixture)
{
    static const char *const days[] = {"2013-11-28", "2013-11-29"};
    for (uint32_t i = 0; i < 12; i++) {
        char ad[16];
        snprintf(ad, sizeof(ad), "ad%u", i % 7);
        const struct click clicks[] = {
            {i % 3 == 0 ? "r1" : "r2", days[i % 2], 1385605012000 + i * 997, ad, "0.01"},
            {"r3", days[i % 2], 1385605012000 + i, "a", i % 2 == 0 ? "1.5" : "0.25"},
        };
        check(engine_fixture_clicks(fixture, clicks, 2) == 0);
        if (i == 8)
            engine_fixture_flush(fixture);
    }
}

static struct buffer read_file(struct world *world, const char *path)
{
    struct disk_file *file;
    struct buffer content = {0};
    check(world->disk->open(world->disk, path, DISK_READ, &file, NULL) == 0);
    size_t size = (size_t)world->disk->size(world->disk, file);
    buffer_reserve(&content, size);
    check(world->disk->read(world->disk, file, 0, content.data, size) == (int64_t)size);
    content.size = size;
    world->disk->close(world->disk, file);
    return content;
}

static void save_pages(const struct seeds *seeds, const struct buffer *content)
{
    struct segment_footer footer;
    struct segment *segment;
    struct buffer page = {0};
    check(segment_format_read_footer(content->data + content->size - SEGMENT_BLOCK, content->size,
                                     &footer, NULL) == 0);
    check(segment_open_alone(seeds->world, &footer.info, &segment, NULL) == 0);
    const char *target = footer.info.kind == SEGMENT_COLUMNAR ? "columnar_page" : "row_page";
    char name[32];
    snprintf(name, sizeof(name), "table-%u", footer.info.table_id);
    check(segment_read_page(segment, 0, NULL, &page, NULL) == 0);
    save(seeds, target, name, bytes_of("", 0), buffer_view(&page));
    if (footer.info.kind == SEGMENT_ROW && segment_extra(segment).size > 0)
        save(seeds, "row_span", name, bytes_of("", 0), segment_extra(segment));
    segment_unref(segment);
    buffer_release(&page);
}

/* A byte of options goes before what the fuzzers of log and manifest take. */
static void save_file(void *context, const char *name)
{
    const struct seeds *seeds = context;
    char path[128];
    snprintf(path, sizeof(path), "%s%s%s", seeds->folder, seeds->folder[0] != '\0' ? "/" : "",
             name);
    if (strcmp(path, "log") == 0 || strcmp(path, "segments") == 0)
        return;
    struct buffer content = read_file(seeds->world, path);
    if (strcmp(path, "segments/" MANIFEST_SNAPSHOT_NAME) == 0) {
        save(seeds, "manifest_snapshot", "plain", bytes_of("", 0), buffer_view(&content));
    } else if (strcmp(seeds->folder, "segments") == 0) {
        save(seeds, "segment", name, bytes_of("", 0), buffer_view(&content));
        save_pages(seeds, &content);
    } else {
        while (content.size > 0 && content.data[content.size - 1] == 0)
            content.size--;
        bool is_log = strcmp(seeds->folder, "log") == 0;
        if (content.size > 0) {
            save(seeds, is_log ? "commit_log" : "manifest", name, bytes_of(is_log ? "\2" : "\1", 1),
                 buffer_view(&content));
        }
    }
    buffer_release(&content);
}

static void save_files(struct seeds *seeds)
{
    static const char *const folders[] = {"", "log", "segments"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        seeds->folder = folders[i];
        check(seeds->world->disk->list(seeds->world->disk, folders[i], save_file, seeds) == 0);
    }
}

/* A backup's point of the directory, whose hashes are made up. */
static void save_point(const struct seeds *seeds, struct store *store)
{
    struct engine_snapshot *snapshot;
    struct buffer content = {0};
    check(engine_snapshot_take(store, UINT64_MAX, &snapshot, NULL) == 0);
    struct hash128 *hashes = memory_zeroed(snapshot->state.segment_count, sizeof(*hashes));
    struct backup_log_file *log = memory_zeroed(snapshot->log_count, sizeof(*log));
    for (uint32_t i = 0; i < snapshot->log_count; i++)
        log[i].extent = snapshot->log[i];
    struct backup_point point = {.number = 1,
                                 .frame = snapshot->frame,
                                 .timestamp_us = snapshot->timestamp_us,
                                 .taken_us = snapshot->timestamp_us,
                                 .state = snapshot->state,
                                 .segment_hashes = hashes,
                                 .log = log,
                                 .log_count = snapshot->log_count};
    backup_point_encode(&point, &content);
    save(seeds, "backup_point", "plain", bytes_of("", 0), buffer_view(&content));
    engine_snapshot_release(store, snapshot);
    memory_free(hashes);
    memory_free(log);
    buffer_release(&content);
}

static void save_following(const struct seeds *seeds)
{
    const struct backup_following following = {.path = (char[]){"/mnt/host2/daybook"}, .keep = 2};
    struct buffer content = {0};
    backup_following_encode(&following, &content);
    save(seeds, "backup_following", "plain", bytes_of("", 0), buffer_view(&content));
    buffer_release(&content);
}

/* Of the table, and of an index. */
static void save_paging_states(const struct seeds *seeds)
{
    struct cql_page_state state = {.statement_hash = 1,
                                   .key_hash = 2,
                                   .limit_left = CQL_PAGE_NO_LIMIT,
                                   .partition_rows = 3,
                                   .partition_key = bytes_text("key"),
                                   .position = bytes_text("position")};
    struct buffer content = {0};
    cql_page_write(&state, &content);
    save(seeds, "cql_page", "table", bytes_of("", 0), buffer_view(&content));
    state.by_index = true;
    state.index_column_id = 5;
    state.index_of = 1;
    state.limit_left = 100;
    buffer_clear(&content);
    cql_page_write(&state, &content);
    save(seeds, "cql_page", "index", bytes_of("", 0), buffer_view(&content));
    buffer_release(&content);
}

/* A refused condition's row: [applied], a key, a value. */
static void save_once_answer(const struct seeds *seeds)
{
    static const char *names[] = {"[applied]", "p", "v"};
    static const uint8_t cells[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 'k', 0xff, 0xff, 0xff, 0xff};
    const struct cql_idempotency_answer answer = {
        .names = names, .count = 3, .row_count = 1, .cells = bytes_of(cells, sizeof cells)};
    struct buffer content = {0};
    cql_idempotency_answer_pack(&answer, &content);
    save(seeds, "once_answer", "plain", bytes_of("", 0), buffer_view(&content));
    buffer_release(&content);
}

/* ---- rows of the rollup ---- */

/* The row that the newest mutation of the batch inserts. */
static void save_row(const struct seeds *seeds, const char *target, const char *name,
                     struct bytes prefix, const struct write_batch *batch, uint32_t table_id)
{
    struct buffer content = {0};
    const struct page_row row = fuzz_row_of(batch, batch->mutation_count - 1);
    fuzz_put_row(&row, schema_table(fuzz_schema(), table_id), &content);
    save(seeds, target, name, prefix, buffer_view(&content));
    buffer_release(&content);
}

/* The first byte is fuzz_seal.c's. */
static void save_seals(const struct seeds *seeds)
{
    struct write_batch *batch = write_batch_new();
    struct buffer key = {0};
    struct seal seal = {.id = {7}, .ads = 2};
    struct sealed_ad ad = {.id = {7}, .ad = bytes_text("ad42"), .clicks = 2};
    engine_fixture_key(&key, "r1", "2013-11-28");
    seal.key = ad.key = buffer_view(&key);
    ad.gross = decimal_from(125, 4);
    for (int64_t i = 0; i < 3; i++) {
        stats_add_row(&seal.stats, 1385605012000 + i);
        stats_add_value(&seal.stats, 5 + i, 2);
        seal_write(batch, schema_table(fuzz_schema(), TABLE_SEALED_DAY), &seal);
        const char *name = i == 0 ? "day-of-one" : i == 1 ? "day-of-two" : "day-of-three";
        save_row(seeds, "seal", name, bytes_of("", 1), batch, TABLE_SEALED_DAY);
        stats_add_value(&seal.stats, 5, (uint8_t)(3 + i));
    }
    seal_write_ad(batch, schema_table(fuzz_schema(), TABLE_SEALED_AD), &ad);
    save_row(seeds, "seal", "ad", bytes_of("\1", 1), batch, TABLE_SEALED_AD);
    stats_release(&seal.stats);
    buffer_release(&key);
    write_batch_free(batch);
}

/* Over the tables of fuzz_stream_definition.c, and one over tables that are not there. */
static void save_stream_definitions(const struct seeds *seeds)
{
    static const struct {
        const char *name;
        const char *texts[1 + STREAM_TEXTS];
    } rows[] = {
        {"plain",
         {"network", "fuzz.hits", "who", "day", "at", "ad", "amount", "fuzz.shares", "who", "since",
          "share", "", "", "", "", ""}},
        {"kept",
         {"n2", "fuzz.hits", "who", "day", "at", "ad", "amount", "fuzz.shares", "who", "since",
          "share", "fuzz.per_ad", "ignore", "Europe/Berlin", "EUR", "percent"}},
        {"gone",
         {"old", "fuzz.gone", "who", "day", "at", "ad", "amount", "fuzz.shares", "who", "since",
          "share", "fuzz.a,fuzz.b", "", "UTC", "", ""}},
    };
    const struct table *table = schema_table(fuzz_schema(), TABLE_DEFINED_STREAM);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct write_batch *batch = write_batch_new();
        struct column_value values[2 + STREAM_TEXTS];
        values[0] = (struct column_value){DEFINED_NAME, false, bytes_text(rows[i].texts[0])};
        for (uint32_t t = 0; t < STREAM_TEXTS; t++)
            values[1 + t] = (struct column_value){stream_definition_column(t), false,
                                                  bytes_text(rows[i].texts[1 + t])};
        values[1 + STREAM_TEXTS] =
            (struct column_value){DEFINED_UNMARKED, false, STREAM_ALL_UNMARKED};
        write_batch_insert(batch, table, values, 2 + STREAM_TEXTS);
        save_row(seeds, "stream_definition", rows[i].name, bytes_of("", 0), batch,
                 TABLE_DEFINED_STREAM);
        write_batch_free(batch);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_corpus DIR\n");
        return 1;
    }
    struct sim_world *sim = sim_world_new(1);
    struct seeds seeds = {.directory = argv[1], .world = sim_world_interface(sim)};
    struct engine_fixture fixture = {.options = {.log_file_size = 1 << 20}};
    check(mkdir(argv[1], 0777) == 0 || errno == EEXIST);
    check(engine_fixture_open_in(&fixture, seeds.world, NULL) == 0);
    write_history(&fixture);
    save_statements(&seeds);
    save_json(&seeds);
    save_definitions(&seeds);
    save_lines(&seeds);
    save_binary(&seeds);
    save_values(&seeds);
    save_zones(&seeds);
    save_messages(&seeds);
    save_requests(&seeds);
    save_parameters(&seeds);
    save_page(&seeds);
    save_native(&seeds);
    save_answers(&seeds);
    save_schema(&seeds);
    save_batch(&seeds, fixture.store);
    save_files(&seeds);
    save_point(&seeds, fixture.store);
    save_following(&seeds);
    save_paging_states(&seeds);
    save_once_answer(&seeds);
    save_seals(&seeds);
    save_stream_definitions(&seeds);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
    return 0;
}
