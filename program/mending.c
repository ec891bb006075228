/* mending: see the header. */
#include "program/mending.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "program/directory.h"
#include "program/instance.h"
#include "query/clock_command.h"
#include "program/cli_run.h"
#include "base/calendar.h"

static void print_table(void *context, const struct table *table, uint64_t times)
{
    const struct engine_restamp *restamp = context;
    printf("%s.%s: %" PRIu64 " timestamp%s %s\n", table->keyspace, table->name, times,
           times == 1 ? "" : "s", restamp->is_dry_run ? "would be restamped" : "restamped");
}

static void print_time(const char *name, int64_t time_us)
{
    struct buffer text = {0};
    int64_t time_ms = time_us / 1000;
    if (time_ms < TIME_MS_MIN || time_ms > TIME_MS_MAX)
        buffer_printf(&text, "%" PRId64 " microseconds, which is no time", time_us);
    else
        calendar_time_format(time_ms, &text);
    printf("%-18s %.*s\n", name, (int)text.size, (const char *)text.data);
    buffer_release(&text);
}

static void print_result(const struct engine_restamp *restamp)
{
    print_time("clock", restamp->now_us);
    print_time("last write", restamp->before_us);
    if (restamp->before_us <= restamp->now_us)
        printf("nothing is ahead of the clock\n");
    else
        print_time(restamp->is_dry_run ? "would become" : "is now", restamp->after_us);
}

static int open_and_close(const char *path, struct engine_restamp *restamp, struct error *err)
{
    const struct engine_options options = {.restamp = restamp};
    const struct table_definition *builtin[DIRECTORY_TABLES_MAX];
    uint32_t count = directory_tables(builtin);
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    struct store *store;
    struct world *world;
    struct loop *loop = loop_new();
    int rc = world_uv_open(path, false, loop_uv(loop), &world, err);
    rc = rc == -ENOENT ? ERROR_NOT_FOUND : rc;
    if (rc == 0) {
        rc = engine_open(world, &options, builtin, count, &store, err);
        if (rc == 0) {
            store_close(store, instance_done, &waiter);
            rc = instance_wait(loop, &waiter, err);
        }
        world_uv_close(world);
    }
    loop_free(loop);
    return rc;
}

static int mend(const struct clock_command_options *options, const struct command_common *common)
{
    const char *path = directory_path(common->directory);
    struct engine_restamp restamp = {.is_dry_run = options->is_dry_run, .table = print_table};
    struct error err = {0};
    restamp.context = &restamp;
    int rc = open_and_close(path, &restamp, &err);
    if (rc == 0) {
        print_result(&restamp);
        return EXIT_DONE;
    }
    if (rc == ERROR_BUSY)
        error_set(&err, rc,
                  "%s is held by another process; stop the server, mend, and start it "
                  "again",
                  path);
    else
        directory_explain(path, rc, &err);
    fprintf(stderr, "daybook: %s\n", err.text);
    return command_exit_of(rc);
}

int mending_run(const struct cli_call *call)
{
    const struct clock_command_options *options = call->options;
    return options->mends ? mend(options, call->common) : cli_run_command(call);
}
