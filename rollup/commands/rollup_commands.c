/* The rollup's subcommands, and what they share. */
#include <errno.h>
#include <inttypes.h>

#include "rollup/commands/command_private.h"
#include "base/memory.h"

enum { FULL_PAUSE_MS = 20 };

/* ---- options ---- */

int command_usage(struct argp_state *state, const struct error *err)
{
    argp_error(state, "%s", err->text);
    return EINVAL;
}

static int parse_day(const char *argument, int32_t *day_out, struct argp_state *state)
{
    struct error err;
    if (rate_parse_day(bytes_text(argument), day_out, &err) < 0)
        return command_usage(state, &err);
    return 0;
}

int day_choice_parse(struct day_choice *choice, int key, const char *argument,
                     struct argp_state *state)
{
    if (key != OPTION_DAY && key != OPTION_FROM && key != OPTION_TO)
        return ARGP_ERR_UNKNOWN;
    if (!choice->is_limited)
        *choice = (struct day_choice){true, DAY_MIN, DAY_MAX};
    if (key == OPTION_TO)
        return parse_day(argument, &choice->to, state);
    int rc = parse_day(argument, &choice->from, state);
    if (key == OPTION_DAY)
        choice->to = choice->from;
    return rc;
}

int day_choice_finish(struct day_choice *choice, struct argp_state *state)
{
    if (!choice->is_limited)
        *choice = (struct day_choice){false, DAY_MIN, DAY_MAX};
    if (choice->from > choice->to) {
        argp_error(state, "the days end before they begin");
        return EINVAL;
    }
    return 0;
}

int reseller_check(struct bytes reseller, struct error *err)
{
    if (reseller.size == 0)
        return error_set(err, ERROR_INVALID, "a reseller's id is not empty");
    if (reseller.size > RESELLER_SIZE_MAX)
        return error_set(err, ERROR_INVALID, "a reseller's id has at most %d bytes",
                         RESELLER_SIZE_MAX);
    if (!bytes_valid_utf8(reseller))
        return error_set(err, ERROR_INVALID, "a reseller's id is valid UTF-8");
    for (size_t i = 0; i < reseller.size; i++)
        if (reseller.data[i] < 0x20 || reseller.data[i] == 0x7F)
            return error_set(err, ERROR_INVALID, "a reseller's id has no control characters");
    return 0;
}

/* ---- writing ---- */

struct apply_call {
    struct rollup *rollup;
    struct write_batch *batch;
    struct timer again;
    bool is_accepted; /* store_apply returned 0 and its caller knows */
    bool is_durable;  /* `done` came before that */
    int status;
    struct error err;
    void (*accepted)(void *context);
    store_done done;
    void *context;
};

static void apply_finish(struct apply_call *call)
{
    store_done done = call->done;
    void *context = call->context;
    int status = call->status;
    struct error err = call->err;
    memory_free(call);
    done(context, status, status < 0 ? &err : NULL);
}

static void apply_done(void *context, int status, const struct error *err)
{
    struct apply_call *call = context;
    call->status = status;
    if (status < 0)
        error_set(&call->err, status, "%s", err != NULL ? err->text : error_text(status));
    call->is_durable = true;
    if (call->is_accepted)
        apply_finish(call);
}

static void apply_try(struct timer *timer)
{
    struct apply_call *call = timer->context;
    struct executor *executor = call->rollup->world->executor;
    struct error err = {0};
    int rc = store_apply(call->rollup->store, call->batch, apply_done, call, &err);
    if (rc == ERROR_FULL) {
        executor->timer_start(executor, &call->again, FULL_PAUSE_MS);
        return;
    }
    if (rc < 0) {
        call->status = rc;
        call->err = err;
        apply_finish(call);
        return;
    }
    call->accepted(call->context);
    call->is_accepted = true;
    if (call->is_durable)
        apply_finish(call);
}

void command_apply(struct rollup *rollup, struct write_batch *batch,
                   void (*accepted)(void *context), store_done done, void *context)
{
    struct apply_call *call = memory_zeroed(1, sizeof(*call));
    *call = (struct apply_call){
        .rollup = rollup, .batch = batch, .accepted = accepted, .done = done, .context = context};
    call->again = (struct timer){.fire = apply_try, .context = call};
    apply_try(&call->again);
}

void command_flush(struct command_output *output, struct buffer *text, bool is_last)
{
    if (text->size == 0 || (!is_last && text->size < COMMAND_WRITE_SIZE))
        return;
    output->write(output, COMMAND_OUT, buffer_view(text));
    buffer_clear(text);
}

/* ---- text ---- */

void append_count(struct buffer *text, uint64_t count, const char *singular)
{
    buffer_printf(text, "%" PRIu64 " %s%s", count, singular, count == 1 ? "" : "s");
}

void append_day(struct buffer *text, int32_t day)
{
    char digits[DAY_TEXT_SIZE + 1];
    day_format(day, digits);
    buffer_append_text(text, digits);
}

/* ---- the commands ---- */

static bool never_writes(const void *options)
{
    (void)options;
    return false;
}

static const struct command commands[] = {
    {.name = "rate",
     .summary = "set, delete, list or load the rates of resellers",
     .argp = &rate_argp,
     .options_size = sizeof(struct rate_options),
     .writes = rate_writes,
     .input_file = rate_input_file,
     .run = rate_run},
    {.name = "rollup",
     .summary = "bring amount_by_day up to date and publish days",
     .argp = &rollup_argp,
     .options_size = sizeof(struct rollup_command_options),
     .writes = rollup_command_writes,
     .run = rollup_command_run},
    {.name = "clicks",
     .summary = "list clicks, void them, restore what was voided",
     .argp = &clicks_argp,
     .options_size = sizeof(struct clicks_options),
     .writes = clicks_writes,
     .run = clicks_run},
    {.name = "retention",
     .summary = "set or show for how many days clicks are kept",
     .argp = &retention_argp,
     .options_size = sizeof(struct retention_options),
     .writes = retention_writes,
     .run = retention_run},
    {.name = "restatements",
     .summary = "show what changed in published figures, why, and by whom",
     .argp = &restatements_argp,
     .options_size = sizeof(struct restatements_options),
     .writes = never_writes,
     .run = restatements_run},
    {.name = "verify",
     .summary = "prove that files, stats, counters, figures and ledger agree",
     .argp = &verify_argp,
     .options_size = sizeof(struct verify_options),
     .writes = verify_writes,
     .run = verify_run},
};

const struct command *rollup_commands(uint32_t *count_out)
{
    *count_out = sizeof(commands) / sizeof(commands[0]);
    return commands;
}
