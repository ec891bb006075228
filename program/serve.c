/* serve: see the header.
 *
 * At SIGTERM or SIGINT the server closes in this order: commands, HTTP door, CQL door, ingest,
 * rollup, store.  A second signal ends the process at once; nothing that was acknowledged is lost.
 *
 * After a failed write or sync the store acknowledges nothing more, and the server exits with
 * status 3.
 *
 * After the options are parsed, all messages of a server are events of the log. */
#include "program/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "program/access.h"
#include "program/control/config_file.h"
#include "program/control/control_server.h"
#include "query/native/native_door.h"
#include "program/hangup.h"
#include "query/web/api.h"
#include "query/web/live_events.h"
#include "query/web/page/page.h"
#include "query/web/page/view.h"
#include "door/door.h"
#include "door/http_door.h"
#include "door/http_proxy.h"
#include "base/arena.h"
#include "base/world/descriptors.h"
#include "base/world/disk_posix.h"
#include "base/world/loop_times.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/world/thread.h"
#include "ingest/connection/http_ingest.h"
#include "program/http_pages.h"
#include "program/version.h"
#include "program/waiting.h"
#include "storage/engine/engine.h"

enum {
    WATCH_MS = 500,
    IDLE_POLL_US = 200,
    IDLE_POLL_US_MAX = 10000,
    STATEMENT_TIME_S = 10,
    STATEMENT_TIME_S_MAX = 3600,
    PAGE_ADDRESS_MAX = 512,
    GIVE_BACK_WATCHES = 120, /* one minute of serve_watch calls */
    KEY_INGEST = 0x20001,
    KEY_CQL,
    KEY_CQL_PASSWORDS,
    KEY_HTTP,
    KEY_HTTP_HOST,
    KEY_HTTP_BASE,
    KEY_HTTP_PROXY,
    KEY_HTTP_READ_ONLY,
    KEY_HTTP_OPEN,
    KEY_CONFIG,
    KEY_MEMORY,
    KEY_KEEP_LOG,
    KEY_IDLE_POLL,
    KEY_SALVAGE,
    KEY_INGEST_OPEN,
    KEY_CQL_OPEN,
    KEY_STATEMENT_TIME,
    KEY_CORE_DUMPS,
    KEY_LOG,
    KEY_LOG_FORMAT
};

struct serve_options {
    const char *ingest;
    const char *cql;
    const char *cql_passwords;
    const char *http;
    const char *http_host;
    const char *http_base;
    const char *http_proxy;
    const char *config;
    const char *log;
    enum log_form log_form;
    uint64_t memory;
    uint64_t keep_log;
    int64_t idle_poll_us;     /* valid only if given */
    int64_t statement_time_s; /* valid only if given */
    uint32_t given;
};

struct serve {
    struct job giving_back; /* must be first: give_back_done casts it */
    struct loop *loop;
    struct network *network;
    struct instance *instance;
    struct control_server *control;
    struct hangup hangup; /* contains the CQL door's passwords */
    struct native_door *cql_door;
    struct http_door *http_door;
    struct http_ingest *http_ingest;
    struct web_commands *web_commands;
    struct web_cql *web_cql;
    struct web_token web_token;
    struct api *api;
    struct live_events *live_events;
    struct page *page;
    struct door_shares shares;
    struct timer watch;
    const char *path;
    struct waiting waiting;
    uint32_t watches;
    bool is_giving_back;
    uint64_t memory_limit;
    int64_t idle_poll_us;
    int64_t statement_time_s; /* of a CQL request; 0: no limit */
    int64_t began_ms;         /* monotonic */
    int64_t stopped_ms;       /* when the server began to stop */
    bool is_stopping;
    bool has_failed;
};

/* For reading the file of --config; an option on the command line overrides the file's. */
struct serve_config {
    struct serve_options *options;
    uint32_t seen;
    struct arena *texts;
};

/* ---- options ---- */

/* Parse bytes; the suffixes K, M and G are powers of 1024. */
static bool parse_size(const char *text, uint64_t *size_out)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    unsigned shift = 0;
    const char *unit = *end == '\0' ? NULL : strchr(units, *end);
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
    }
    if (end == text || *end != '\0' || text[0] == '-' || errno == ERANGE ||
        count > UINT64_MAX >> shift)
        return false;
    *size_out = (uint64_t)count << shift;
    return true;
}

static bool parse_count(const char *text, int64_t max, int64_t *count_out)
{
    char *end;
    errno = 0;
    long long count = strtoll(text, &end, 10);
    *count_out = count;
    return end != text && *end == '\0' && errno == 0 && count >= 0 && count <= max;
}

/* Parse seconds: "10s" or "10". */
static bool parse_seconds(const char *text, int64_t *seconds_out)
{
    char digits[16];
    size_t size = strlen(text);
    if (size == 0 || size >= sizeof(digits))
        return false;
    memcpy(digits, text, size + 1);
    if (digits[size - 1] == 's')
        digits[size - 1] = '\0';
    return parse_count(digits, STATEMENT_TIME_S_MAX, seconds_out);
}

static uint32_t key_bit(int key)
{
    return UINT32_C(1) << (key - KEY_INGEST);
}

static bool is_given(const struct serve_options *options, int key)
{
    return (options->given & key_bit(key)) != 0;
}

/* ERROR_INVALID: not a value of the option.  ERROR_UNSUPPORTED: no option has the key. */
static int serve_set(struct serve_options *options, int key, const char *text, struct error *err)
{
    switch (key) {
    case KEY_INGEST:
        options->ingest = text;
        break;
    case KEY_CQL:
        options->cql = text;
        break;
    case KEY_CQL_PASSWORDS:
        options->cql_passwords = text;
        break;
    case KEY_HTTP:
        options->http = text;
        break;
    case KEY_HTTP_HOST:
        if (!http_request_are_names(text))
            return error_set(err, ERROR_INVALID,
                             "http-host takes names with commas, such as clicks.example.com, "
                             "without http:// and port, not '%s'",
                             text);
        options->http_host = text;
        break;
    case KEY_HTTP_BASE:
        if (!http_proxy_is_base(text))
            return error_set(err, ERROR_INVALID,
                             "http-base takes a path such as /clicks, without a / at its end, "
                             "not '%s'",
                             text);
        options->http_base = text;
        break;
    case KEY_HTTP_PROXY:
        if (!http_proxy_are_addresses(text))
            return error_set(err, ERROR_INVALID,
                             "http-proxy takes addresses with commas, such as 127.0.0.1, not '%s'",
                             text);
        options->http_proxy = text;
        break;
    case KEY_CONFIG:
        options->config = text;
        break;
    case KEY_MEMORY:
        if (!parse_size(text, &options->memory) || options->memory < INSTANCE_MEMORY_MIN)
            return error_set(err, ERROR_INVALID,
                             "memory takes at least 128M, such as 512M or 4G, not '%s'", text);
        break;
    case KEY_KEEP_LOG:
        if (!parse_size(text, &options->keep_log) || options->keep_log == 0)
            return error_set(err, ERROR_INVALID, "keep-log takes a size such as 20G, not '%s'",
                             text);
        break;
    case KEY_IDLE_POLL:
        if (!parse_count(text, IDLE_POLL_US_MAX, &options->idle_poll_us))
            return error_set(err, ERROR_INVALID, "idle-poll takes microseconds, 0 to %d, not '%s'",
                             IDLE_POLL_US_MAX, text);
        break;
    case KEY_STATEMENT_TIME:
        if (!parse_seconds(text, &options->statement_time_s))
            return error_set(err, ERROR_INVALID,
                             "statement-time takes seconds, 0s to %ds, such as 10s, not '%s'",
                             STATEMENT_TIME_S_MAX, text);
        break;
    case KEY_LOG:
        options->log = text;
        break;
    case KEY_LOG_FORMAT:
        if (strcmp(text, "logfmt") != 0 && strcmp(text, "json") != 0)
            return error_set(err, ERROR_INVALID, "log-format takes logfmt or json, not '%s'", text);
        options->log_form = strcmp(text, "json") == 0 ? LOG_JSON : LOG_LOGFMT;
        break;
    case KEY_SALVAGE:
    case KEY_CORE_DUMPS:
    case KEY_INGEST_OPEN:
    case KEY_CQL_OPEN:
    case KEY_HTTP_READ_ONLY:
    case KEY_HTTP_OPEN:
        break;
    default:
        return ERROR_UNSUPPORTED;
    }
    options->given |= key_bit(key);
    return 0;
}

static error_t serve_parse(int key, char *argument, struct argp_state *state)
{
    struct error err = {0};
    if (key == ARGP_KEY_ARG)
        return command_refuse(state, "'%s' is one word too many", argument);
    int rc = serve_set(state->input, key, argument, &err);
    if (rc == ERROR_UNSUPPORTED)
        return ARGP_ERR_UNKNOWN;
    return rc != 0 ? command_refuse(state, "--%s", err.text) : 0;
}

static const struct argp_option serve_argp_options[] = {
    {"ingest", KEY_INGEST, "ADDR", 0, "Take clicks at HOST:PORT; 127.0.0.1:7600 unless given", 0},
    {"ingest-open-to-all", KEY_INGEST_OPEN, NULL, 0,
     "Whoever reaches ADDR may send clicks; needed where that is not a loopback address", 0},
    {"cql", KEY_CQL, "ADDR", 0, "Speak CQL at HOST:PORT; 127.0.0.1:9042 unless given", 0},
    {"cql-passwords", KEY_CQL_PASSWORDS, "FILE", 0,
     "Lines NAME:HASH of who may log in there, as htpasswd -nBC 12 NAME prints them", 0},
    {"cql-open-to-all-read-only", KEY_CQL_OPEN, NULL, 0,
     "Whoever reaches ADDR may read everything; needed without passwords where that is not a "
     "loopback address",
     0},
    {"http", KEY_HTTP, "ADDR", 0,
     "Answer HTTP at HOST:PORT, such as /metrics; 127.0.0.1:7680 unless given", 0},
    {"http-host", KEY_HTTP_HOST, "NAME", 0,
     "The name by which browsers or a proxy reach that door, or several with commas; requests for "
     "other names than these, localhost and addresses are refused",
     0},
    {"http-base", KEY_HTTP_BASE, "PATH", 0,
     "The path before all addresses of that door, such as /clicks, where a proxy has other sites "
     "beside it",
     0},
    {"http-proxy", KEY_HTTP_PROXY, "ADDR", 0,
     "The address of a proxy whose X-Forwarded-For and X-Forwarded-Proto are believed, or several "
     "with commas",
     0},
    {"http-readonly", KEY_HTTP_READ_ONLY, NULL, 0, "Change nothing through that door", 0},
    {"http-open-to-all-read-only", KEY_HTTP_OPEN, NULL, 0,
     "Whoever reaches ADDR may read everything there; needed where that is not a loopback address",
     0},
    {"config", KEY_CONFIG, "FILE", 0,
     "Lines NAME = VALUE for options that are not given here, such as memory = 4G", 0},
    {"memory", KEY_MEMORY, "N", 0,
     "Bytes that the server may take, at least 128M, such as 4G; 1G unless given", 0},
    {"keep-log", KEY_KEEP_LOG, "N", 0,
     "Keep so many bytes of log files whose clicks are in segments, for backup and restore --to",
     0},
    {"idle-poll", KEY_IDLE_POLL, "US", 0,
     "Poll for so many microseconds before the processor is given back, where requests follow each "
     "other that soon; 200 unless given, 0: never",
     0},
    {"statement-time", KEY_STATEMENT_TIME, "S", 0,
     "Seconds that a request by CQL may take, such as 30s; 10s unless given, 0: without end", 0},
    {"log", KEY_LOG, "FILE", 0,
     "Append the log to FILE, which SIGHUP opens again; standard error unless given", 0},
    {"log-format", KEY_LOG_FORMAT, "FORMAT", 0, "Lines of the log: logfmt, unless given, or json",
     0},
    {"salvage", KEY_SALVAGE, NULL, 0,
     "Start without the frames of the log that are damaged, or with a manifest made again, and "
     "keep a copy of what is damaged; and make segments with damaged pages again from the log",
     0},
    {"core-dumps", KEY_CORE_DUMPS, NULL, 0,
     "Let the system dump the server's memory, with passwords that are just being checked, if it "
     "ends by a bug; without this it never does",
     0},
    {0},
};

static const struct argp serve_argp = {
    .options = serve_argp_options,
    .parser = serve_parse,
    .doc = "Hold a data directory, take clicks and run commands for it, until SIGTERM or SIGINT."
           "\vADDR is HOST:PORT, :PORT on 127.0.0.1, port 0 for a free one, or none to keep a door "
           "closed.  A missing or empty directory is made first.  When every door is open, one "
           "line on standard error says ready and the addresses.  At SIGHUP the server opens the "
           "file of --log again, and reads that of --cql-passwords again.\n\n"
           "Examples:\n"
           "  daybook serve -d /var/lib/daybook\n"
           "  daybook serve --ingest 10.0.0.5:7600 --ingest-open-to-all --memory 4G\n"
           "  daybook serve -d /var/lib/daybook --config /etc/daybook.conf\n"
           "  daybook serve --cql 10.0.0.5:9042 --cql-passwords /etc/daybook.passwords\n"
           "  daybook serve --log /var/log/daybook.log --log-format json\n"
           "  daybook serve --http 127.0.0.1:8080 --http-host clicks.example.com\n"
           "  daybook serve --http-host example.com --http-base /clicks --http-proxy 127.0.0.1\n"
           "  nc -N 127.0.0.1 7600 < clicks.csv",
};

const struct command serve_command = {.name = "serve",
                                      .summary = "hold a directory, take clicks, run commands",
                                      .argp = &serve_argp,
                                      .options_size = sizeof(struct serve_options)};

/* ---- a file of options ---- */

static bool is_setting(const struct argp_option *option)
{
    return option->arg != NULL && option->key != KEY_CONFIG;
}

static const struct argp_option *find_setting(const char *name)
{
    for (const struct argp_option *option = serve_argp_options; option->name != NULL; option++)
        if (is_setting(option) && strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

static int refuse_setting(const char *name, struct error *err)
{
    struct buffer names = {0};
    for (const struct argp_option *option = serve_argp_options; option->name != NULL; option++)
        if (is_setting(option))
            buffer_printf(&names, "%s%s", names.size > 0 ? ", " : "", option->name);
    error_set(err, ERROR_INVALID,
              "'%s' is no setting; those are %.*s (-d or DAYBOOK_DIR says the directory)", name,
              (int)names.size, (const char *)names.data);
    buffer_release(&names);
    return ERROR_INVALID;
}

static int config_setting(void *context, const char *name, const char *value, struct error *err)
{
    struct serve_config *config = context;
    struct serve_options unused = {0};
    const struct argp_option *option = find_setting(name);
    if (option == NULL)
        return refuse_setting(name, err);
    if ((config->seen & key_bit(option->key)) != 0)
        return error_set(err, ERROR_INVALID, "%s is there twice", name);
    config->seen |= key_bit(option->key);
    return serve_set(
        is_given(config->options, option->key) ? &unused : config->options, option->key,
        (const char *)arena_copy(config->texts, bytes_of(value, strlen(value) + 1)).data, err);
}

/* ---- doors ---- */

static bool is_none(const char *address)
{
    return address != NULL && strcmp(address, "none") == 0;
}

static int explain_door(int rc, const char *door, const char *address, struct error *err)
{
    if (rc == -EADDRINUSE) {
        return error_set(err, rc,
                         "the %s door: %s is in use by another program; --%s HOST:PORT moves the "
                         "door, --%s none keeps it closed",
                         door, address, door, door);
    }
    if (rc != 0)
        error_wrap(err, "the %s door (--%s)", door, door);
    return rc;
}

static int open_ingest_door(struct serve *serve, const struct serve_options *options,
                            const char **address_out, struct error *err)
{
    const char *address = options->ingest != NULL ? options->ingest : "127.0.0.1:7600";
    *address_out = "none";
    if (is_none(address))
        return 0;
    struct door_place place = {.address = address,
                               .slots_max = serve->shares.ingest,
                               .is_open_to_all = is_given(options, KEY_INGEST_OPEN),
                               .remedy = "--ingest-open-to-all lets whoever reaches it send "
                                         "clicks; 127.0.0.1 is this machine's own"};
    int rc = ingest_listen(serve->instance->ingest, &place, address_out, err);
    return explain_door(rc, "ingest", address, err);
}

static void make_cql_door(struct serve *serve)
{
    size_t share = instance_door_share(serve->instance);
    struct native_options door = {.cql = serve->instance->cql,
                                  .world = serve->instance->world,
                                  .network = serve->network,
                                  .metrics = serve->instance->metrics,
                                  .store = serve->instance->store,
                                  .passwords = serve->hangup.passwords,
                                  .limits = {.connections_max = serve->shares.cql,
                                             .bytes_max = share,
                                             .answer_bytes_max = share}};
    cql_set_statement_time(serve->instance->cql, serve->statement_time_s * 1000000);
    serve->cql_door = native_door_new(&door);
    serve->instance->dump.cql = serve->cql_door;
}

static int open_cql_door(struct serve *serve, const struct serve_options *options,
                         const char **address_out, struct error *err)
{
    const char *address = options->cql != NULL ? options->cql : "127.0.0.1:9042";
    *address_out = "none";
    if (is_none(address))
        return 0;
    if (options->cql_passwords != NULL) {
        int rc = native_password_load(options->cql_passwords, &serve->hangup.passwords, err);
        if (rc != 0) {
            error_wrap(err, "the passwords of the CQL door");
            return rc;
        }
    }
    struct door_place place = {
        .address = address,
        .is_open_to_all = is_given(options, KEY_CQL_OPEN),
        .remedy = "--cql-passwords FILE says who may log in, --cql-open-to-all-read-only lets "
                  "whoever reaches it read everything; 127.0.0.1 is this machine's own"};
    make_cql_door(serve);
    int rc = native_door_listen(serve->cql_door, &place, address_out, err);
    return explain_door(rc, "cql", address, err);
}

static void cql_door_closed(void *context)
{
    struct serve *serve = context;
    serve->cql_door = NULL;
    serve->instance->dump.cql = NULL;
}

static void close_cql_door(struct serve *serve)
{
    if (serve->cql_door != NULL) {
        native_door_close(serve->cql_door, cql_door_closed, serve);
        while (serve->cql_door != NULL)
            (void)loop_step(serve->loop);
    }
    native_password_free(serve->hangup.passwords);
}

/* Requests and answers of HTTP are counted together with those of CQL. */
static void charge_http(void *context, int64_t request_bytes, int64_t answer_bytes)
{
    const struct serve *serve = context;
    memory_held_change(serve->instance->store->held, MEMORY_HELD_REQUESTS, request_bytes);
    memory_held_change(serve->instance->store->held, MEMORY_HELD_ANSWERS, answer_bytes);
}

static void charge_commands(void *context, int64_t change_bytes)
{
    const struct serve *serve = context;
    memory_held_change(serve->instance->store->held, MEMORY_HELD_COMMANDS, change_bytes);
}

static void attach_ingest(void *context, struct connection *connection)
{
    struct serve *serve = context;
    ingest_attach(serve->instance->ingest, connection);
}

static const char *stream_at(void *context, uint32_t index, const char **currency_out)
{
    const struct rollup *rollup = streams_at(context, index);

    if (rollup == NULL)
        return NULL;
    *currency_out = rollup_stream(rollup)->currency;
    return rollup_stream(rollup)->name;
}

static void add_pages(struct serve *serve, const char *ingest)
{
    size_t share = instance_door_share(serve->instance);
    struct web_commands_options options = {
        .world = serve->instance->world,
        .entries = serve->instance->entries,
        .entry_count = serve->instance->entry_count,
        .bytes_max = share < CONTROL_BYTES_MAX ? share : CONTROL_BYTES_MAX,
        .held = charge_commands,
        .held_context = serve};
    serve->web_commands = web_command_open(&options);
    serve->web_cql = web_cql_open(serve->instance->cql);
    web_token_make(options.world->random, &serve->web_token);
    http_pages_add(serve->http_door, serve->instance);
    serve->http_ingest =
        http_ingest_new(serve->http_door, &(struct http_ingest_options){.network = serve->network,
                                                                        .world = options.world,
                                                                        .attach = attach_ingest,
                                                                        .context = serve});
    serve->api = api_new(serve->http_door, &(struct api_options){.commands = serve->web_commands,
                                                                 .cql = serve->web_cql,
                                                                 .token = &serve->web_token});
    serve->live_events = live_events_new(serve->http_door, &serve->instance->query, options.world);
    serve->page = page_new(
        serve->http_door,
        &(struct page_options){.world = options.world,
                               .commands = serve->web_commands,
                               .cql = serve->web_cql,
                               .live = live_events_live(serve->live_events),
                               .token = &serve->web_token,
                               .ingest = ingest,
                               .version = DAYBOOK_VERSION,
                               .currency = serve->instance->query.currency,
                               .stream_at = stream_at,
                               .stream_context = serve->instance->streams,
                               .bytes_max = share < VIEW_BYTES_MAX ? share : VIEW_BYTES_MAX,
                               .held = charge_commands,
                               .held_context = serve});
}

static int open_http_door(struct serve *serve, const struct serve_options *options,
                          const char *ingest, const char **address_out, struct error *err)
{
    const char *address = options->http != NULL ? options->http : "127.0.0.1:7680";
    *address_out = "none";
    if (is_none(address))
        return 0;
    size_t share = instance_door_share(serve->instance);
    struct http_options door = {
        .world = serve->instance->world,
        .network = serve->network,
        .metrics = serve->instance->metrics,
        .host_names = options->http_host,
        .base = options->http_base,
        .proxies = options->http_proxy,
        .is_read_only = is_given(options, KEY_HTTP_READ_ONLY) || is_given(options, KEY_HTTP_OPEN),
        .held = charge_http,
        .held_context = serve,
        .limits = {.connections_max = serve->shares.http,
                   .bytes_max = share < HTTP_BYTES_MAX ? share : HTTP_BYTES_MAX}};
    struct door_place place = {
        .address = address,
        .is_open_to_all = is_given(options, KEY_HTTP_OPEN),
        .remedy = "--http-open-to-all-read-only lets whoever reaches it read everything; "
                  "127.0.0.1 is this machine's own"};
    serve->http_door = http_door_new(&door);
    serve->instance->dump.http = serve->http_door;
    add_pages(serve, ingest);
    int rc = http_door_listen(serve->http_door, &place, address_out, err);
    return explain_door(rc, "http", address, err);
}

static void http_door_closed(void *context)
{
    struct serve *serve = context;
    serve->http_door = NULL;
    serve->instance->dump.http = NULL;
}

static void web_cql_closed(void *context)
{
    ((struct serve *)context)->web_cql = NULL;
}

static void live_events_closed(void *context)
{
    ((struct serve *)context)->live_events = NULL;
}

static void http_ingest_closed(void *context)
{
    ((struct serve *)context)->http_ingest = NULL;
}

static void web_commands_closed(void *context)
{
    ((struct serve *)context)->web_commands = NULL;
}

static void close_http_door(struct serve *serve)
{
    if (serve->http_door == NULL)
        return;
    http_door_close(serve->http_door, http_door_closed, serve);
    while (serve->http_door != NULL || !page_is_idle(serve->page))
        (void)loop_step(serve->loop);
    page_free(serve->page);
    http_ingest_close(serve->http_ingest, http_ingest_closed, serve);
    api_free(serve->api);
    live_events_close(serve->live_events, live_events_closed, serve);
    web_cql_close(serve->web_cql, web_cql_closed, serve);
    web_command_close(serve->web_commands, web_commands_closed, serve);
    while (serve->http_ingest != NULL || serve->web_cql != NULL || serve->live_events != NULL ||
           serve->web_commands != NULL)
        (void)loop_step(serve->loop);
}

static int open_control(struct serve *serve, const char *path, struct error *err)
{
    struct control_server_options options = {.network = serve->network,
                                             .world = serve->instance->world,
                                             .path = path,
                                             .entries = serve->instance->entries,
                                             .entry_count = serve->instance->entry_count,
                                             .connections_max = serve->shares.control,
                                             .bytes_max = instance_door_share(serve->instance),
                                             .held = charge_commands,
                                             .ingest = attach_ingest,
                                             .context = serve};
    int rc = control_server_open(&options, &serve->control, err);
    serve->instance->dump.control = rc == 0 ? serve->control : NULL;
    return rc;
}

/* ---- running ---- */

static int64_t monotonic_ms(void)
{
    return loop_times_now_ns() / 1000000;
}

static void serve_stop(void *context, int signal_number)
{
    struct serve *serve = context;
    log_event(LOG_NOTICE, "stopping", log_text("path", serve->path),
              log_text("signal", signal_number == SIGINT ? "SIGINT" : "SIGTERM"));
    serve->stopped_ms = monotonic_ms();
    serve->is_stopping = true;
}

static void serve_hung_up(void *context)
{
    struct serve *serve = context;
    log_event(LOG_NOTICE, "hangup", log_text("path", serve->path));
    if (!serve->is_stopping)
        hangup_begin(&serve->hangup);
}

/* The log may be renamed while the server starts, so SIGHUP is blocked until the server can handle
 * it. */
static void hold_hangups(int how)
{
    sigset_t hangup;
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)pthread_sigmask(how, &hangup, NULL);
}

static void give_back_run(struct job *job)
{
    (void)job;
    memory_return_free();
}

static void give_back_done(struct job *job)
{
    struct serve *serve = (struct serve *)job;
    serve->is_giving_back = false;
}

/* Return free memory to the system once a minute, and while over three quarters of --memory are
 * resident. */
static void serve_give_back(struct serve *serve)
{
    bool is_short = memory_resident() > serve->memory_limit / 4 * 3;
    bool is_due = ++serve->watches >= GIVE_BACK_WATCHES || is_short;
    if (serve->is_giving_back || !is_due)
        return;
    serve->watches = 0;
    engine_return_memory(serve->instance->store, is_short);
    serve->is_giving_back = true;
    world_submit(serve->instance->world, LANE_BACKGROUND, &serve->giving_back, give_back_run,
                 give_back_done);
}

static void serve_watch(struct timer *timer)
{
    struct serve *serve = timer->context;
    const struct world *world = serve->instance->world;
    struct store_status status;
    store_status(serve->instance->store, &status);
    if (status.failed) {
        serve->has_failed = serve->is_stopping = true;
        serve->stopped_ms = monotonic_ms();
        log_announce(LOG_ERROR, "failed", log_text("path", serve->path),
                     log_text("reason", status.failure), log_text("effect", "the server stops"));
        return;
    }
    waiting_look(&serve->waiting, &status.waiting, serve->path, world_monotonic_us(world));
    store_watch_clock(serve->instance->store);
    serve_give_back(serve);
    world_timer_start(world, &serve->watch, serve_watch, serve, WATCH_MS);
}

static void control_closed(void *context)
{
    struct serve *serve = context;
    serve->control = NULL;
}

static void serve_until_stopped(struct serve *serve)
{
    const struct world *world = serve->instance->world;
    thread_set(THREAD_LATENCY);
    store_watch_clock(serve->instance->store);
    serve->watches = GIVE_BACK_WATCHES - 1;
    world_timer_start(world, &serve->watch, serve_watch, serve, WATCH_MS);
    loop_poll_beside(serve->loop, serve->idle_poll_us, world);
    while (!serve->is_stopping)
        (void)loop_step(serve->loop);
    loop_poll_beside(serve->loop, 0, NULL);
    world_timer_stop(world, &serve->watch);
    while (serve->is_giving_back || serve->hangup.is_running) /* the jobs are members of `serve` */
        (void)loop_step(serve->loop);
}

/* The control socket opens last, because commands expect that a server with a socket is ready. */
static int serve_doors(struct serve *serve, const struct serve_options *options, const char *path,
                       struct error *err)
{
    const char *ingest;
    const char *cql;
    const char *http;
    char page[PAGE_ADDRESS_MAX] = "none";
    char *socket = access_socket_path(path);
    int rc = open_ingest_door(serve, options, &ingest, err);
    rc = rc == 0 ? open_cql_door(serve, options, &cql, err) : rc;
    rc = rc == 0 ? open_http_door(serve, options, ingest, &http, err) : rc;
    rc = rc == 0 ? open_control(serve, socket, err) : rc;
    if (rc == 0) {
        if (!is_none(http))
            (void)snprintf(page, sizeof page, "http://%s%s/", http,
                           options->http_base != NULL ? options->http_base : "");
        log_announce(LOG_NOTICE, "ready", log_text("ingest", ingest), log_text("cql", cql),
                     log_text("http", http), log_text("page", page), log_text("socket", socket),
                     log_number("took_ms", monotonic_ms() - serve->began_ms));
        serve_until_stopped(serve);
        backup_stop(
            serve->instance->backup); /* a copy may take hours; the next backup continues it */
        control_server_close(serve->control, control_closed, serve);
        while (serve->control != NULL)
            (void)loop_step(serve->loop);
    }
    serve->is_stopping = true; /* so that SIGHUP begins nothing more */
    close_http_door(serve);
    close_cql_door(serve);
    memory_free(socket);
    return rc;
}

/* Say that a server holds the directory.  The error of an attempt to lock it names the process. */
static int serve_explain_holder(const char *path, struct error *err)
{
    struct error held = {.text = "it has just ended"};
    struct disk *disk;
    if (disk_posix_open(path, false, &disk, &held) == 0) {
        if (disk->lock(disk, DISK_LOCK_EXCLUSIVE, &held) == 0)
            disk->unlock(disk);
        disk_posix_close(disk);
    }
    return error_set(err, ERROR_BUSY, "a server holds %s already: %s", path, held.text);
}

/* Wait up to --wait for a directory in use, unless a server answers there. */
static int serve_take(struct serve *serve, const struct serve_options *options,
                      const struct command_common *common, const char *path, struct error *err)
{
    struct instance_options how = {.path = path,
                                   .create_if_missing = true,
                                   .is_automatic = true,
                                   .salvages = is_given(options, KEY_SALVAGE),
                                   .memory_limit = options->memory,
                                   .archive_bytes = options->keep_log,
                                   .notes_are_logged = true};
    struct access access;
    int rc = access_open(&how, common->wait_ms, &access, err);
    if (rc != 0)
        return rc;
    if (is_given(options, KEY_SALVAGE) && err->text[0] != '\0')
        log_announce(LOG_WARNING, "note", log_text("text", err->text));
    serve->loop = access.loop;
    serve->network = access.network;
    serve->instance = access.instance;
    if (access.server != NULL) {
        network_close(access.server);
        return serve_explain_holder(path, err);
    }
    return 0;
}

/* Resume the backup that ran with --follow when the last server stopped. */
static void serve_resume_backup(struct serve *serve)
{
    struct error err = {0};
    if (backup_resume(serve->instance->backup, disk_posix_open, disk_posix_close, &err) != 0)
        log_announce(LOG_WARNING, "backup_not_resumed", log_text("reason", err.text),
                     log_text("effect", "nothing follows the directory"));
}

static void share_descriptors(struct door_shares *shares)
{
    descriptors_raise_limit();
    struct descriptors descriptors = descriptors_look();
    *shares = (struct door_shares){CONTROL_CONNECTIONS_MAX, HTTP_CONNECTIONS_MAX,
                                   INGEST_CONNECTIONS_MAX, NATIVE_CONNECTIONS_MAX};
    door_share(descriptors_left(&descriptors), shares);
}

static int serve_open_log(const struct serve_options *options, const char *path, struct error *err)
{
    log_set_form(options->log_form);
    int rc = options->log != NULL ? log_open(options->log, err) : 0;
    if (rc == 0)
        log_event(LOG_NOTICE, "starting", log_text("path", path),
                  log_text("version", DAYBOOK_VERSION), log_number("pid", getpid()));
    return rc;
}

/* Returns the exit status. */
static int serve_log_end(const struct serve *serve, int rc, int closed, const struct error *err)
{
    if (rc != 0) {
        log_announce(LOG_ERROR, "not_started", log_text("path", serve->path),
                     log_text("reason", err->text));
        return command_exit_of(rc);
    }
    if (closed != 0 && !serve->has_failed)
        log_announce(LOG_ERROR, "failed", log_text("path", serve->path),
                     log_text("reason", err->text));
    int status = closed != 0 || serve->has_failed ? EXIT_SYSTEM_FAILED : EXIT_DONE;
    log_event(LOG_NOTICE, "stopped", log_text("path", serve->path),
              log_number("exit_status", status),
              log_number("took_ms", monotonic_ms() - serve->stopped_ms));
    return status;
}

static int serve_with(const struct serve_options *options, const struct command_common *common)
{
    const char *path = directory_path(common->directory);
    struct serve serve = {
        .path = path,
        .began_ms = monotonic_ms(),
        .hangup = {.log_path = options->log,
                   .passwords_path = is_none(options->cql) ? NULL : options->cql_passwords},
        .memory_limit = options->memory > 0 ? options->memory : INSTANCE_MEMORY_DEFAULT,
        .idle_poll_us = is_given(options, KEY_IDLE_POLL) ? options->idle_poll_us : IDLE_POLL_US,
        .statement_time_s =
            is_given(options, KEY_STATEMENT_TIME) ? options->statement_time_s : STATEMENT_TIME_S};
    struct error err = {0};
    /* The process's memory has passwords and clicks, so it must not be dumped, or read by other
     * processes of the user. */
    if (!is_given(options, KEY_CORE_DUMPS))
        (void)prctl(PR_SET_DUMPABLE, 0);
    hold_hangups(SIG_BLOCK);
    share_descriptors(&serve.shares);
    memory_return_large(serve.memory_limit);
    int rc = serve_open_log(options, path, &err);
    rc = rc == 0 ? serve_take(&serve, options, common, path, &err) : rc;
    if (rc == 0) {
        serve.hangup.world = serve.instance->world;
        serve.hangup.door = &serve.cql_door;
        loop_on_stop(serve.loop, serve_stop, &serve);
        loop_on_hangup(serve.loop, serve_hung_up, &serve);
        hold_hangups(SIG_UNBLOCK);
        serve_resume_backup(&serve);
        rc = serve_doors(&serve, options, path, &err);
    }
    struct error *last = rc == 0 ? &err : NULL;
    int closed = 0;
    if (serve.loop != NULL) {
        struct access access = {serve.loop, serve.network, NULL, serve.instance};
        closed = access_close(&access, last);
    }
    return serve_log_end(&serve, rc, closed, &err);
}

int serve_run(const struct cli_call *call)
{
    struct serve_options options = *(const struct serve_options *)call->options;
    struct serve_config config = {.options = &options, .texts = arena_new(CONFIG_SIZE_MAX)};
    struct error err = {0};
    int status = EXIT_WRONG_USAGE;
    if (options.config == NULL ||
        config_file_load(options.config, config_setting, &config, &err) == 0)
        status = serve_with(&options, call->common);
    else
        fprintf(stderr, "daybook: --config: %s\n", err.text);
    arena_free(config.texts);
    return status;
}
