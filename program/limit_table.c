/* limit_table: see the header.
 *
 * docs/OPERATIONS.md contains the printed table; a test compares the two. */
#include "program/limit_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "door/http_door.h"
#include "program/instance.h"
#include "query/web/api.h"
#include "query/web/page/view.h"
#include "ingest/connection/http_ingest.h"
#include "ingest/connection/ingest.h"
#include "ingest/connection/input_quota.h"
#include "ingest/load/load.h"
#include "counters/producer.h"
#include "ingest/parse/reject.h"
#include "ingest/parse/row_builder.h"
#include "ingest/connection/ingest_connection_private.h"
#include "query/cql/session/cql.h"
#include "query/native/native_connection.h"
#include "query/report/counters.h"
#include "query/report/report.h"
#include "query/report/report_chart.h"
#include "rollup/streams/streams.h"
#include "program/cli_run.h"
#include "storage/backup/backup.h"
#include "storage/engine/engine.h"
#include "storage/schema/type.h"
#include "storage/cell/write_batch.h"

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_MS };

struct limit {
    const char *name;
    uint64_t value;
    enum unit unit;
    const char *reached;
};

static const struct limit limits[] = {
    {"id of a reseller or ad", RECORD_ID_MAX, UNIT_BYTES, "the line is refused: `id_too_long`"},
    {"line at the text door", RECORD_LINE_MAX, UNIT_BYTES,
     "it is refused, `line_too_long`, and skipped to its end"},
    {"batch as sent", NUMBERED_BATCH_BYTES_MAX, UNIT_BYTES,
     "`error N batch_too_large`, nothing of it is kept, the connection is closed"},
    {"batches of a producer remembered", PRODUCER_WINDOW, UNIT_COUNT,
     "a copy of an older one is answered `ok N duplicate` without its counts"},
    {"producers remembered", PRODUCERS_MAX, UNIT_COUNT,
     "of those with one batch the one that came last is forgotten for a new one, else the one "
     "silent "
     "longest; if all had two batches within a day, the new one is refused: `error - "
     "too_many_producers`"},
    {"of these, kept for `daybook load`", PRODUCERS_KEPT, UNIT_COUNT, "others are too many"},
    {"days of silence until a producer may be forgotten", PRODUCER_SILENT_DAYS, UNIT_COUNT,
     "it is unknown when it comes back: `error - unknown_producer`"},
    {"connections at the ingest door", INGEST_CONNECTIONS_MAX, UNIT_COUNT,
     "the address that has most gives the place of its longest idle one up, which is told `error - "
     "too_many_connections`; the new one is told so only while all that could give theirs up wait "
     "for answers"},
    {"strings of all binary connections", INGEST_STRINGS_MAX, UNIT_BYTES,
     "or an eighth of the account: `error - too_many_strings`, and the connection is closed"},
    {"lines, frames and batches that have come in part, of all connections", INGEST_INPUT_MAX,
     UNIT_BYTES,
     "or an eighth of the account: a connection that has begun something waits for its turn; one "
     "that holds some and sends nothing is closed, `error - too_slow`"},
    {"of these, of each connection, free", INPUT_QUOTA_FREE, UNIT_BYTES, "it counts"},
    {"time for which one may hold some and send nothing, while others wait", INGEST_HOLD_MS,
     UNIT_MS, "`error - too_slow`, and the connection is closed"},
    {"answers of all ingest connections that wait", INGEST_ANSWERS_MAX, UNIT_BYTES,
     "or a sixteenth of the account: of each less waits, and it is not read until they are sent"},
    {"answers of a connection that wait for the disk", INGEST_REPLIES_MAX, UNIT_COUNT,
     "the server stops reading it until some are sent"},
    {"answers that wait for their reader", INGEST_ACCOUNT_ANSWERS_MAX, UNIT_BYTES,
     "or half of what is left for all, and 16 KiB at least: the server stops reading the "
     "connection"},
    {"time for which they may wait", DOOR_SLOW_READER_MS, UNIT_MS, "the connection is closed"},
    {"lines told one by one as refused", INGEST_REJECT_LINES_MAX, UNIT_COUNT,
     "further ones of the batch are told as sums by code"},
    {"kept of a refused line", REJECT_CONTENT_MAX, UNIT_BYTES, "the rest is cut"},
    {"memory of the server (`--memory`)", INSTANCE_MEMORY_DEFAULT, UNIT_BYTES,
     "the server stops reading until clicks and rows are in segments"},
    {"write of one frame", WRITE_BATCH_BYTES_MAX, UNIT_BYTES, "it is refused as over the limit"},
    {"log not in segments", ENGINE_UNFLUSHED_LOG_MAX, UNIT_BYTES,
     "memory is written to segments at once"},
    {"log held back for a backup that follows", BACKUP_LOG_MAX, UNIT_BYTES,
     "nothing more is held; it begins again with a point"},
    {"connections at the CQL door", NATIVE_CONNECTIONS_MAX, UNIT_COUNT,
     "the address that has most gives the place of its longest idle one up, which is closed; the "
     "new one is closed only while all that could give theirs up wait for answers"},
    {"CQL request before a login", NATIVE_GREETING_MAX, UNIT_BYTES, "error 0x2200"},
    {"time to log in at the CQL door", NATIVE_LOGIN_MS, UNIT_MS,
     "the connection is closed; the time for which a password waits does not count"},
    {"memory of all CQL connections that have not logged in", NATIVE_GUEST_BYTES, UNIT_BYTES,
     "the one that came first is closed"},
    {"passwords that wait to be checked", LOGIN_WAITING_MAX, UNIT_COUNT,
     "the address that has most waiting loses its newest: error 0x1001, try again"},
    {"CQL request", NATIVE_BODY_MAX, UNIT_BYTES, "error 0x2200; the connection goes on"},
    {"CQL requests that come or wait, of all connections", NATIVE_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: error 0x1001, nothing of the request was done"},
    {"CQL requests while they are carried out, with their answers", CQL_WORK_BYTES_DEFAULT,
     UNIT_BYTES,
     "or an eighth of the account: from half of it on pages are short and further requests wait; "
     "what finds no room is refused, 0x1001, and the last quarter is for requests of at most 256 "
     "KiB; one that alone takes more than three quarters is refused, 0x2200"},
    {"row in memory, as writes over CQL make it grow", CQL_WORK_BYTES_DEFAULT / CQL_ROW_SHARE,
     UNIT_BYTES,
     "or a sixteenth of the account: the write is refused, 0x2200, until the row is deleted or "
     "its collections are written anew"},
    {"CQL answers that wait for their readers, of all connections", NATIVE_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: a client that has not read its answers is not served, pages "
     "are short, a row of over 64 KiB is refused, 0x1200"},
    {"CQL requests of a connection that run at a time", NATIVE_RUNNING_MAX, UNIT_COUNT,
     "further ones wait"},
    {"CQL statement", CQL_TEXT_MAX, UNIT_BYTES, "error 0x2200; the connection goes on"},
    {"prepared statements", CQL_PREPARED_BYTES_DEFAULT, UNIT_BYTES,
     "the one used longest ago is forgotten, and prepared again by its client"},
    {"connections at the HTTP door", HTTP_CONNECTIONS_MAX, UNIT_COUNT,
     "the address that has most gives the place of its longest idle one up, which is closed"},
    {"head of an HTTP request", HTTP_HEAD_MAX, UNIT_BYTES, "431, and the connection is closed"},
    {"headers of an HTTP request", HTTP_HEADERS_MAX, UNIT_COUNT,
     "431, and the connection is closed"},
    {"time for the head of an HTTP request", HTTP_HEAD_MS, UNIT_MS,
     "408, and the connection is closed"},
    {"time for the body of an HTTP request", HTTP_BODY_MS, UNIT_MS,
     "408, and the connection is closed"},
    {"time between two HTTP requests", HTTP_IDLE_MS, UNIT_MS, "the connection is closed"},
    {"input of HTTP connections that is no whole request, of all connections", HTTP_GUEST_BYTES,
     UNIT_BYTES, "the connection that began first is closed"},
    {"HTTP requests under way, of all connections", HTTP_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: 503, try again; bodies leave an eighth of this, and one takes "
     "at "
     "most half of the rest"},
    {"HTTP answers that wait for their readers, of all connections", HTTP_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: the connection that holds most is closed"},
    {"clients that send clicks over HTTP at a time", HTTP_INGEST_POSTS_MAX, UNIT_COUNT,
     "503, try again"},
    {"time until clicks over HTTP are on disk", HTTP_INGEST_MS, UNIT_MS,
     "503; the same batch may be sent again"},
    {"clicks in an HTTP request", HTTP_INGEST_BODY_MAX, UNIT_BYTES, "413"},
    {"commands that the HTTP door runs at a time", WEB_RUNS_MAX, UNIT_COUNT,
     "further ones wait, brief ones excepted"},
    {"CSV without a limit over HTTP at a time", WEB_RUNS_MAX / 2, UNIT_COUNT,
     "or half of the memory of commands: 503, try again"},
    {"commands over HTTP that wait for others", WEB_WAITING_MAX, UNIT_COUNT, "503, try again"},
    {"time that a command over HTTP waits for others", WEB_WAIT_MS, UNIT_MS, "503, try again"},
    {"memory of commands that the HTTP door runs, with what they print", CONTROL_BYTES_MAX,
     UNIT_BYTES, "or an eighth of the account: further ones wait; 503 if one that runs needs more"},
    {"time for an answer of a command over HTTP, except CSV without a limit", WEB_MS, UNIT_MS,
     "503; a change goes on"},
    {"answer of a command over HTTP, except CSV without a limit", WEB_OUT_MAX, UNIT_BYTES, "413"},
    {"rows in a page of JSON over HTTP", API_ROWS_MAX, UNIT_COUNT,
     "400; a page ends earlier after 1 MiB, and `next` leads on"},
    {"cells in a page of CQL over HTTP", WEB_CQL_CELLS_MAX, UNIT_BYTES, "413"},
    {"views of the page that are made at a time", VIEW_CALLS_MAX, UNIT_COUNT, "503, try again"},
    {"memory of the views that are being made", VIEW_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: 503, try again"},
    {"parameters of an HTTP request", HTTP_PARAMETERS_MAX, UNIT_COUNT, "400"},
    {"partition key", KEY_SIZE_MAX, UNIT_BYTES, "the write is refused"},
    {"what goes along with a command", CLI_RUN_INPUT_MAX, UNIT_BYTES,
     "exit status 3: it is over the limit"},
    {"files in one `load`", LOAD_FILES_MAX, UNIT_COUNT, "exit status 2"},
    {"resellers named in one report", REPORT_RESELLERS_MAX, UNIT_COUNT,
     "exit status 2; without any, all are reported"},
    {"figures of all reports that wait to be given in order", STREAMS_FIGURES_BYTES_DEFAULT,
     UNIT_BYTES,
     "or an eighth of the account: what there is no room for is read again when those before it "
     "are given"},
    {"resellers in a picture over time", CHART_PANELS, UNIT_COUNT,
     "exit status 2; it says what else may be asked for"},
    {"days or months in a picture", CHART_PERIODS, UNIT_COUNT,
     "exit status 2; it says what else may be asked for"},
    {"`counters --top`", COUNTERS_TOP_MAX, UNIT_COUNT, "exit status 2"},
    {"answer of a command that waits for its reader", CONTROL_QUEUED_MAX, UNIT_BYTES,
     "it is made no further until it is read"},
    {"connections of commands to a server", CONTROL_CONNECTIONS_MAX, UNIT_COUNT,
     "an idle one is closed for it; exit status 3, too many commands at a time, if all run some; "
     "`status` has 32 more"},
    {"commands that run in a server, with what goes along with them", CONTROL_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: further ones wait, but for `status`, and are refused after "
     "10 s, exit status 3"},
    {"answers of all commands that wait for their readers", CONTROL_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: of each less waits, and it is made no further until it is read"},
    {"what commands keep by ad, reseller or key", CONTROL_BYTES_MAX, UNIT_BYTES,
     "or an eighth of the account: `verify` counts in several rounds, `report --by ad` and "
     "`counters --top` end with exit status 3"},
};

static void print_count(uint64_t value)
{
    if (value >= 1000) {
        print_count(value / 1000);
        printf(",%03" PRIu64, value % 1000);
    } else {
        printf("%" PRIu64, value);
    }
}

static void print_value(const struct limit *limit)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    uint64_t value = limit->value;
    size_t unit = 0;
    switch (limit->unit) {
    case UNIT_COUNT:
        print_count(value);
        return;
    case UNIT_MS:
        printf("%" PRIu64 " s", value / 1000);
        return;
    case UNIT_BYTES:
        while (value >= 1024 && value % 1024 == 0 && unit < 3) {
            value /= 1024;
            unit++;
        }
        print_count(value);
        printf(" %s", units[unit]);
        return;
    }
}

static error_t limit_table_parse(int key, char *argument, struct argp_state *state)
{
    return key == ARGP_KEY_ARG ? command_refuse(state, "'%s' is one word too many", argument)
                               : ARGP_ERR_UNKNOWN;
}

static const struct argp limit_table_argp = {
    .parser = limit_table_parse,
    .doc = "Print what is bounded, by how much, and what is seen when it is reached, as a table in "
           "Markdown.\vExample:\n"
           "  daybook limits",
};

const struct command limit_table_command = {
    .name = "limits",
    .summary = "print all limits, and what happens at each",
    .argp = &limit_table_argp,
};

int limit_table_run(const struct cli_call *call)
{
    (void)call;
    printf("| what | limit | when it is reached |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        printf("| %s | ", limits[i].name);
        print_value(&limits[i]);
        printf(" | %s |\n", limits[i].reached);
    }
    return EXIT_DONE;
}
