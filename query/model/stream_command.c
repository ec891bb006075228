/* stream: `daybook stream`: creates, lists, shows and drops streams over tables.
 *
 * The steps must be done in this order:
 *
 *   create   1. Memtables are flushed, so that the flush of step 2 has little to do.
 *            2. CQL requests wait, and memtables are flushed.  The stream is refused if a write
 *               timestamp in its tables is not before the server's time.
 *            3. One frame adds the stream's definition and tables, and the flags of the tables that
 *               the stream uses.
 *            4. When the frame is durable, the stream's rollup opens.
 *            5. CQL requests go on, and the rollup marks the day of each write.
 *            6. The days of older rows are marked page by page, and refreshed.
 *   drop     1. CQL requests wait.
 *            2. The stream's rollup finishes and closes.
 *            3. One frame removes the definition.
 *
 * After a crash between two steps, the definition exists as a whole or not at all. */
#include <stdio.h>
#include <string.h>

#include "query/cql/common/cql_session.h"
#include "query/model/model.h"
#include "rollup/days/rollup.h"
#include "rollup/streams/streams.h"
#include "storage/engine/engine.h"
#include "base/memory.h"

enum {
    KEY_TABLE = 0x20001,
    KEY_RESELLER,
    KEY_DAY,
    KEY_TIME,
    KEY_AD,
    KEY_AMOUNT,
    KEY_RATES,
    KEY_RATES_UNIT,
    KEY_COUNTERS,
    KEY_ZONE,
    KEY_CURRENCY
};

enum stream_action { STREAM_NONE, STREAM_CREATE, STREAM_LIST, STREAM_SHOW, STREAM_DROP };
enum { STREAM_PART_MAX = 2 * SCHEMA_NAME_MAX + 2 };
struct stream_options {
    enum stream_action action;
    struct stream_definition definition; /* its texts are words of the command, or in `rates` */
    char rates[4][STREAM_PART_MAX];
};

/* ---- options ---- */

/* Parse KEYSPACE.TABLE(reseller,since,rate). */
static error_t parse_rates(struct stream_options *options, const char *argument,
                           struct argp_state *state)
{
    static const enum stream_text parts[] = {STREAM_RATES, STREAM_RATES_RESELLER,
                                             STREAM_RATES_SINCE, STREAM_RATES_RATE};
    const char *at = argument;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *end_at = i == 0 ? "(" : i < 3 ? "," : ")";
        size_t size = strcspn(at, "(,)");
        if (size == 0 || size >= STREAM_PART_MAX || at[size] != end_at[0] ||
            (end_at[0] == ')' && at[size + 1] != '\0')) {
            return command_refuse(
                state, "--rates takes KEYSPACE.TABLE(reseller,since,rate), not '%s'", argument);
        }
        memcpy(options->rates[i], at, size);
        options->rates[i][size] = '\0';
        options->definition.texts[parts[i]] = options->rates[i];
        at += size + 1;
    }
    return 0;
}

static error_t parse_unit(struct stream_options *options, const char *argument,
                          struct argp_state *state)
{
    bool is_percent = strcmp(argument, "percent") == 0;
    if (!is_percent && strcmp(argument, "fraction") != 0)
        return command_refuse(state, "--rates-unit takes fraction or percent, not '%s'", argument);
    options->definition.texts[STREAM_RATES_UNIT] = is_percent ? argument : "";
    return 0;
}

/* With `left`, the stream changes no counter tables.  With kept=TABLE,... updates by clients are
 * refused; with ignore=TABLE,... they are ignored with a warning. */
static error_t parse_counters(struct stream_options *options, const char *argument,
                              struct argp_state *state)
{
    const char *tables = strchr(argument, '=');
    bool is_kept = strncmp(argument, "kept=", 5) == 0;
    bool is_ignored = strncmp(argument, "ignore=", 7) == 0;
    if (strcmp(argument, "left") != 0 && !is_kept && !is_ignored) {
        return command_refuse(
            state,
            "--counters takes left, kept=KEYSPACE.TABLE,... or ignore=KEYSPACE.TABLE,..., not '%s'",
            argument);
    }
    options->definition.texts[STREAM_COUNTERS] = tables != NULL ? tables + 1 : "";
    options->definition.texts[STREAM_REFUSAL] = is_ignored ? "ignore" : "";
    return 0;
}

static error_t take_word(struct stream_options *options, const char *word, struct argp_state *state)
{
    static const char *const actions[] = {[STREAM_CREATE] = "create",
                                          [STREAM_LIST] = "list",
                                          [STREAM_SHOW] = "show",
                                          [STREAM_DROP] = "drop"};
    if (options->action != STREAM_NONE && options->definition.name == NULL &&
        options->action != STREAM_LIST) {
        options->definition.name = word;
        return 0;
    }
    uint32_t action = command_word(word, actions, STREAM_DROP + 1);
    if (options->action == STREAM_NONE && action <= STREAM_DROP) {
        options->action = (enum stream_action)action;
        return 0;
    }
    return command_refuse(state,
                          options->action == STREAM_NONE ? "create, list, show or drop, not '%s'"
                                                         : "'%s' is one word too many",
                          word);
}

static error_t check_options(struct stream_options *options, struct argp_state *state)
{
    static const struct {
        enum stream_text text;
        const char *option;
    } needed[] = {{STREAM_CLICKS, "--table"}, {STREAM_RESELLER, "--reseller"},
                  {STREAM_DAY, "--day"},      {STREAM_TIME, "--time"},
                  {STREAM_AD, "--ad"},        {STREAM_AMOUNT, "--amount"},
                  {STREAM_RATES, "--rates"}};
    const char *missing = NULL;
    if (options->action == STREAM_NONE)
        return command_refuse(state, "what is to be done: create, list, show or drop");
    if (options->action != STREAM_LIST && options->definition.name == NULL)
        missing = "NAME";
    for (size_t i = 0; options->action == STREAM_CREATE && missing == NULL && i < 7; i++)
        if (options->definition.texts[needed[i].text] == NULL)
            missing = needed[i].option;
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        if (options->definition.texts[i] == NULL)
            options->definition.texts[i] = "";
        else if (options->action != STREAM_CREATE)
            missing = "create, which alone takes a definition,";
    return missing == NULL ? 0 : command_refuse(state, "%s is needed", missing);
}

static error_t stream_parse(int key, char *argument, struct argp_state *state)
{
    static const struct {
        int key;
        enum stream_text text;
    } texts[] = {{KEY_TABLE, STREAM_CLICKS}, {KEY_RESELLER, STREAM_RESELLER},
                 {KEY_DAY, STREAM_DAY},      {KEY_TIME, STREAM_TIME},
                 {KEY_AD, STREAM_AD},        {KEY_AMOUNT, STREAM_AMOUNT},
                 {KEY_ZONE, STREAM_ZONE},    {KEY_CURRENCY, STREAM_CURRENCY}};
    struct stream_options *options = state->input;
    switch (key) {
    case KEY_RATES:
        return parse_rates(options, argument, state);
    case KEY_RATES_UNIT:
        return parse_unit(options, argument, state);
    case KEY_COUNTERS:
        return parse_counters(options, argument, state);
    case ARGP_KEY_ARG:
        return take_word(options, argument, state);
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].key == key) {
            options->definition.texts[texts[i].text] = argument;
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option stream_argp_options[] = {
    {"table", KEY_TABLE, "KEYSPACE.TABLE", 0,
     "Whose rows are the clicks; partition key (reseller, day)", 0},
    {"reseller", KEY_RESELLER, "COLUMN", 0, "Who earns: text", 0},
    {"day", KEY_DAY, "COLUMN", 0, "A click's day: text, such as 2013-11-28", 0},
    {"time", KEY_TIME, "COLUMN", 0, "Its time: timestamp", 0},
    {"ad", KEY_AD, "COLUMN", 0, "What was clicked: text", 0},
    {"amount", KEY_AMOUNT, "COLUMN", 0, "What it is worth: a number of any type", 0},
    {"rates", KEY_RATES, "KEYSPACE.TABLE(RESELLER,SINCE,RATE)", 0,
     "The share that is earned, from a day on", 0},
    {"rates-unit", KEY_RATES_UNIT, "UNIT", 0,
     "fraction (unless given): 0.25 is a quarter; percent: 25 is", 0},
    {"counters", KEY_COUNTERS, "HOW", 0,
     "left (unless given): to the clients; kept=KEYSPACE.TABLE,...: by the stream, clients' own "
     "updates are refused; ignore=KEYSPACE.TABLE,...: by the stream, theirs are answered OK",
     0},
    {"zone", KEY_ZONE, "ZONE", 0, "When its days end; the directory's unless given", 0},
    {"currency", KEY_CURRENCY, "CODE", 0, "Of its amounts; the directory's unless given", 0},
    {0},
};

static const struct argp stream_argp = {
    .options = stream_argp_options,
    .parser = stream_parse,
    .args_doc = "create NAME|list|show NAME|drop NAME",
    .doc = "Lay a stream over tables of your own: their rows are rolled up by reseller and day, as "
           "clicks are."
           "\vFigures are the table daybook.NAME_by_day, their ledger daybook.NAME_restatement; "
           "report, rate, rollup, restatements and verify take --stream NAME.  Rows that are there "
           "already are rolled up too.  Drop takes figures and ledger away; the tables it was laid "
           "over stay as they are.\n\n"
           "Examples:\n"
           "  daybook stream create network --table ad_network.ad_click --reseller reseller_id \\\n"
           "      --day day --time time --ad ad_id --amount amount \\\n"
           "      --rates 'ad_network.reseller(id,effective_since,reward_percent)'\n"
           "  daybook report --stream network --by month\n"
           "  daybook stream drop network",
};

static bool stream_writes(const void *options)
{
    const struct stream_options *stream = options;
    return stream->action == STREAM_CREATE || stream->action == STREAM_DROP;
}

/* ---- running ---- */

struct stream_call {
    const struct model *model;
    const struct stream_options *options;
    struct command_output *output;
    struct cql_session session;
    struct cql_edit edit;
    struct cql_schema_change changes[2];
    char tables[2][SCHEMA_NAME_MAX + 1];
    struct stream_definition *dropped; /* the definition of the stream to drop, or NULL */
    struct rollup *rollup;             /* of a new stream, while its days are refreshed */
};

static void call_finish(struct stream_call *call, int exit_status)
{
    struct command_output *output = call->output;
    if (call->rollup != NULL)
        rollup_leave(call->rollup);
    stream_definition_free(call->dropped);
    memory_free(call);
    output->finish(output, exit_status);
}

static void rolled_up(void *context, int status, const struct error *err)
{
    struct stream_call *call = context;
    if (status < 0) {
        command_printf(call->output, COMMAND_ERR,
                       "daybook: stream %s is there, and not all of its days are worked out: %s\n",
                       call->options->definition.name, err->text);
        call_finish(call, command_exit_of(status));
        return;
    }
    if (call->options->definition.texts[STREAM_COUNTERS][0] != '\0')
        command_printf(call->output, COMMAND_ERR,
                       "daybook: note: counters count from now on; daybook verify --repair "
                       "--stream %s makes them count the rows that were there\n",
                       call->options->definition.name);
    command_printf(call->output, COMMAND_OUT, "stream %s: figures are daybook.%s\n",
                   call->options->definition.name, call->tables[0]);
    call_finish(call, EXIT_DONE);
}

static void answered(void *context, const struct cql_result *result)
{
    struct stream_call *call = context;
    const char *name = call->options->definition.name;
    if (result->kind == CQL_RESULT_ERROR) {
        command_printf(call->output, COMMAND_ERR, "daybook: %s\n", result->error.message);
        call_finish(call, model_exit_of(result->error.code));
        return;
    }
    if (call->options->action == STREAM_DROP) {
        command_printf(call->output, COMMAND_OUT, "stream %s is dropped\n", name);
        call_finish(call, EXIT_DONE);
        return;
    }
    call->rollup = streams_enter(call->model->streams, name, call->output);
    check(call->rollup != NULL);
    streams_take_rows(call->model->streams, name, rolled_up, call);
}

static void create_prepare(void *context, store_done ready, void *ready_context)
{
    const struct stream_call *call = context;
    struct error err = {0};
    int rc = engine_flush(call->model->store, ready, ready_context, &err);
    if (rc < 0)
        ready(ready_context, rc, &err);
}

/* The stream's own writes must be newer than all rows, because its deletions would not delete newer
 * rows. */
static int check_timestamps(struct store *store, const struct table *table, struct error *err)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(store, &count);
    int64_t now_us = store_now_us(store);
    int64_t newest_us = INT64_MIN;
    for (uint32_t i = 0; i < count; i++)
        if (tables[i].table_id == table->id)
            newest_us = tables[i].newest_us;
    memory_free(tables);
    if (newest_us < now_us)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s.%s has a write with the timestamp %lld, which is later than now, %lld "
                     "microseconds: the stream's own writes could not replace or delete it; wait "
                     "until then, or copy the rows to a new table without USING TIMESTAMP",
                     table->keyspace, table->name, (long long)newest_us, (long long)now_us);
}

static int create_edit(void *context, struct schema *schema, struct write_batch *batch,
                       struct error *err)
{
    const struct stream_call *call = context;
    const struct stream_definition *definition = &call->options->definition;
    struct store *store = call->model->store;
    struct click_stream stream;
    int rc = stream_definition_make(definition, schema, batch, err);
    if (rc == 0)
        rc = stream_definition_resolve(definition, schema, &stream, err);
    if (rc == 0)
        rc = check_timestamps(store, schema_table(schema, stream.clicks.table_id), err);
    if (rc == 0)
        rc = check_timestamps(store, schema_table(schema, stream.rates.table_id), err);
    return rc;
}

static void create_applied(void *context, store_done ready, void *ready_context)
{
    const struct stream_call *call = context;
    struct error err = {0};
    int rc =
        streams_add(call->model->streams, &call->options->definition, ready, ready_context, &err);
    if (rc < 0)
        ready(ready_context, rc, &err);
}

static int drop_edit(void *context, struct schema *schema, struct write_batch *batch,
                     struct error *err)
{
    const struct stream_call *call = context;
    return stream_definition_drop(call->dropped, schema, batch, err);
}

static void drop_prepare(void *context, store_done ready, void *ready_context)
{
    const struct stream_call *call = context;
    struct error err = {0};
    int rc = streams_remove(call->model->streams, call->options->definition.name, ready,
                            ready_context, &err);
    if (rc < 0)
        ready(ready_context, rc, &err);
}

static void run_edit(struct stream_call *call)
{
    const struct cql_request edit = {.kind = CQL_EDIT, .edit = &call->edit};
    cql_run(&call->session, &edit, answered, call);
}

static void create_flushed(void *context, int status, const struct error *err)
{
    struct stream_call *call = context;
    if (status < 0)
        call_finish(call, command_report(call->output, status, err));
    else
        run_edit(call);
}

/* Drop the stream `dropped`; NULL: create a stream. */
static void change(const struct model *model, const struct stream_options *options,
                   const struct stream_definition *dropped, struct command_output *output)
{
    struct stream_call *call = memory_zeroed(1, sizeof(*call));
    const char *name = options->definition.name;
    bool is_drop = dropped != NULL;
    call->model = model;
    call->options = options;
    call->output = output;
    call->dropped = is_drop ? stream_definition_copy(dropped) : NULL;
    cql_session_init(&call->session, model->cql);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(call->tables[i], sizeof(call->tables[i]), i == 0 ? "%s_by_day" : "%s_restatement",
                 name);
        call->changes[i] = (struct cql_schema_change){is_drop ? CQL_DROPPED : CQL_CREATED,
                                                      CQL_TARGET_TABLE, "daybook", call->tables[i]};
    }
    call->edit = (struct cql_edit){.prepare = is_drop ? drop_prepare : create_prepare,
                                   .edit = is_drop ? drop_edit : create_edit,
                                   .applied = is_drop ? NULL : create_applied,
                                   .context = call,
                                   .changes = call->changes,
                                   .change_count = 2};
    if (is_drop)
        run_edit(call);
    else
        create_prepare(call, create_flushed, call);
}

/* ---- list and show ---- */

static void list(const struct streams *streams, struct command_output *output)
{
    for (uint32_t i = 0; streams_at(streams, i) != NULL; i++)
        command_printf(output, COMMAND_OUT, "%s\n", rollup_stream(streams_at(streams, i))->name);
    output->finish(output, EXIT_DONE);
}

static void show(const struct streams *streams, const char *name, struct command_output *output)
{
    const struct stream_definition *definition;
    if (streams_find(streams, name) == NULL) {
        command_fail(output, EXIT_WRONG_USAGE, "there is no stream '%s'", name);
        return;
    }
    command_printf(output, COMMAND_OUT, "name            %s\n", name);
    if (streams_definition(streams, name, &definition) < 0)
        command_printf(output, COMMAND_OUT, "built in        over daybook.ad_click\n");
    else
        for (uint32_t i = 0; i < STREAM_TEXTS; i++)
            if (definition->texts[i][0] != '\0')
                command_printf(output, COMMAND_OUT, "%-15s %s\n", stream_definition_text_name(i),
                               definition->texts[i]);
    output->finish(output, EXIT_DONE);
}

static void stream_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    const struct model *model = room;
    const struct stream_options *options = request->options;
    const struct stream_definition *found = NULL;
    const char *name = options->definition.name;
    int rc = name != NULL ? streams_definition(model->streams, name, &found) : 0;
    if (options->action == STREAM_LIST)
        list(model->streams, output);
    else if (options->action == STREAM_SHOW)
        show(model->streams, name, output);
    else if (options->action == STREAM_DROP && rc < 0)
        command_fail(output, EXIT_WRONG_USAGE, "there is no stream '%s' that could be dropped",
                     name);
    else if (options->action == STREAM_CREATE && streams_find(model->streams, name) != NULL)
        command_fail(output, EXIT_WRONG_USAGE, "there is a stream %s already", name);
    else
        change(model, options, options->action == STREAM_DROP ? found : NULL, output);
}

const struct command stream_command = {
    .name = "stream",
    .summary = "roll up tables of your own as clicks are: define, list, show and drop streams",
    .argp = &stream_argp,
    .options_size = sizeof(struct stream_options),
    .writes = stream_writes,
    .run = stream_run};
