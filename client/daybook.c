/* daybook: see daybook.h.
 *
 * What must hold: a batch keeps its number, and keeps its place in the ring until it is
 * acknowledged.  After any failure, the next connection begins with the batch after the last
 * acknowledged one. */
#include "client/daybook.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "client/daybook_private.h"

enum {
    BATCH_ROWS_DEFAULT = 4096,
    BATCH_TEXT_MAX = 6 << 20, /* bytes; the server's limit is 8 MiB */
    WINDOW_DEFAULT = 16,
    PATIENCE_MS_DEFAULT = 30000,
    OUT_TARGET = 256 << 10, /* no batch is written while this many bytes are unsent */
    STREAM_SIZE_MAX = 1000
};

int daybook_fail(struct daybook *daybook, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(daybook->error, sizeof daybook->error, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- life ---- */

static int options_take(struct daybook *daybook, const struct daybook_options *options)
{
    const char *address = options->address != NULL ? options->address : "127.0.0.1:7600";

    daybook->epoch = options->epoch != 0 ? options->epoch : 1;
    daybook->batch_rows = options->batch_rows != 0 ? options->batch_rows : BATCH_ROWS_DEFAULT;
    daybook->window = options->window != 0 ? options->window : WINDOW_DEFAULT;
    daybook->patience_ms = options->patience_ms != 0 ? options->patience_ms : PATIENCE_MS_DEFAULT;
    daybook->rejected = options->rejected;
    daybook->context = options->context;
    daybook->totals.acknowledged = options->acknowledged;
    daybook->written = options->acknowledged;
    daybook->gathering = options->acknowledged + 1;
    daybook->is_known = options->acknowledged > 0;
    if (strrchr(address, ':') == NULL || daybook->batch_rows > BATCH_ROWS_MAX ||
        daybook->window > WINDOW_MAX || daybook->epoch > INT64_MAX ||
        options->acknowledged >= INT64_MAX ||
        (options->stream != NULL && strlen(options->stream) > STREAM_SIZE_MAX))
        return DAYBOOK_INVALID;
    daybook->address = strdup(address);
    daybook->stream = options->stream != NULL ? strdup(options->stream) : NULL;
    if (daybook->address == NULL || (options->stream != NULL && daybook->stream == NULL))
        return DAYBOOK_NO_MEMORY;
    if (options->producer != NULL)
        memcpy(daybook->producer, options->producer, PRODUCER_SIZE);
    else if (getrandom(daybook->producer, PRODUCER_SIZE, 0) != PRODUCER_SIZE)
        return DAYBOOK_NO_MEMORY;
    return 0;
}

int daybook_open(const struct daybook_options *options, struct daybook **daybook_out)
{
    struct daybook *daybook = calloc(1, sizeof *daybook);

    *daybook_out = NULL;
    if (daybook == NULL)
        return DAYBOOK_NO_MEMORY;
    daybook->descriptor = -1;
    int rc = options_take(daybook, options);
    if (rc != 0) {
        daybook_close(daybook);
        return rc;
    }
    *daybook_out = daybook;
    return 0;
}

void daybook_close(struct daybook *daybook)
{
    if (daybook == NULL)
        return;
    daybook_disconnect(daybook);
    for (int i = 0; i <= WINDOW_MAX; i++)
        click_batch_release(&daybook->batches[i]);
    frame_writer_release(&daybook->writer);
    frame_reader_release(&daybook->reader);
    free(daybook->lines);
    free(daybook->address);
    free(daybook->stream);
    free(daybook);
}

/* ---- working ---- */

static struct click_batch *batch_of(struct daybook *daybook, uint64_t number)
{
    return &daybook->batches[number % (WINDOW_MAX + 1)];
}

static int write_batches(struct daybook *daybook)
{
    while (daybook->written + 1 < daybook->gathering &&
           daybook->writer.out_size - daybook->sent < OUT_TARGET) {
        struct click_columns columns = click_batch_columns(batch_of(daybook, daybook->written + 1));
        int rc = frame_writer_batch(&daybook->writer, &columns, daybook->written + 1);

        if (rc != 0)
            return daybook_fail(daybook, rc, "out of memory");
        daybook->written++;
    }
    return 0;
}

/* Wait until retry_at_ms and connect, or, with a connection, send and receive.  Both wait at most
 * `wait_ms` (negative: without a limit). */
static int work_step(struct daybook *daybook, int wait_ms, bool *progress)
{
    int rc = 0;

    if (daybook->descriptor < 0) {
        int64_t pause = daybook->retry_at_ms - daybook_now_ms();

        if (pause > 0 && wait_ms >= 0 && pause > wait_ms)
            pause = wait_ms;
        if (pause > 0)
            (void)poll(NULL, 0, (int)pause);
        if (daybook->retry_at_ms <= daybook_now_ms())
            rc = daybook_connect(daybook);
    } else {
        if (!daybook->is_connecting)
            rc = write_batches(daybook);
        if (rc == 0)
            rc = daybook_exchange(daybook, wait_ms, progress);
    }
    return rc;
}

enum goal {
    GOAL_ROOM,
    GOAL_SENT, /* passed to the kernel */
    GOAL_ACKNOWLEDGED
};

static bool is_reached(const struct daybook *daybook, enum goal goal)
{
    uint64_t waiting = daybook->gathering - 1 - daybook->totals.acknowledged;

    switch (goal) {
    case GOAL_ROOM:
        return waiting < daybook->window;
    case GOAL_SENT:
        return waiting == 0 || (daybook->written + 1 == daybook->gathering &&
                                daybook->writer.out_size == daybook->sent);
    case GOAL_ACKNOWLEDGED:
        break;
    }
    return waiting == 0;
}

static int work_once(struct daybook *daybook, int wait_ms, bool *progress)
{
    int rc = work_step(daybook, wait_ms, progress);

    if (*progress)
        daybook->retry_ms = 0;
    /* If rc is not 0, the error text is newer than the answer, and stays. */
    if (*progress && rc == 0)
        daybook->error[0] = '\0';
    /* An error may lose received bytes, so the connection cannot be used any more. */
    if (rc != 0)
        daybook_disconnect(daybook);
    if (rc == DAYBOOK_REFUSED)
        daybook->status = rc;
    return rc;
}

static int out_of_patience(struct daybook *daybook)
{
    char waiting[WAITING_SIZE];

    memcpy(waiting, daybook->waiting, sizeof waiting);
    daybook_disconnect(daybook);
    if (daybook->error[0] != '\0')
        return DAYBOOK_UNREACHABLE;
    return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: no answer for %d ms%s%s",
                        daybook->address, daybook->patience_ms,
                        waiting[0] != '\0' ? "; the server waits: " : "", waiting);
}

static int daybook_work(struct daybook *daybook, enum goal goal)
{
    int64_t start = daybook_now_ms();

    while (daybook->status == 0 && !is_reached(daybook, goal)) {
        int64_t left = start + daybook->patience_ms - daybook_now_ms();
        bool progress = false;

        if (daybook->patience_ms >= 0 && left <= 0)
            return out_of_patience(daybook);
        if (work_once(daybook, daybook->patience_ms < 0 ? -1 : (int)left, &progress) ==
            DAYBOOK_NO_MEMORY)
            return DAYBOOK_NO_MEMORY;
        if (progress)
            start = daybook_now_ms();
    }
    return daybook->status;
}

/* ---- calls ---- */

/* DAYBOOK_REFUSED is final, so its error text stays. */
static int daybook_begin(struct daybook *daybook)
{
    if (daybook->status == 0)
        daybook->error[0] = '\0';
    return daybook->status;
}

static void batch_end(struct daybook *daybook)
{
    if (batch_of(daybook, daybook->gathering)->rows > 0)
        daybook->gathering++;
}

int daybook_add(struct daybook *daybook, const struct daybook_click *click)
{
    bool progress = false;
    int rc = daybook_begin(daybook);

    if (rc == 0)
        rc = daybook_work(daybook, GOAL_ROOM);
    if (rc != 0)
        return rc;
    struct click_batch *batch = batch_of(daybook, daybook->gathering);
    rc = click_batch_add(batch, click);
    if (rc != 0)
        return daybook_fail(daybook, rc,
                            rc == DAYBOOK_INVALID ? "a click without an id, or one that cannot be"
                                                  : "out of memory");
    if (batch->rows < daybook->batch_rows && batch->text_size < BATCH_TEXT_MAX)
        return 0;
    /* The click was added, so this call returns 0.  The next call reports a failure. */
    batch_end(daybook);
    (void)work_once(daybook, 0, &progress);
    return 0;
}

int daybook_flush(struct daybook *daybook)
{
    int rc = daybook_begin(daybook);

    if (rc != 0)
        return rc;
    batch_end(daybook);
    return daybook_work(daybook, GOAL_SENT);
}

int daybook_sync(struct daybook *daybook)
{
    int rc = daybook_begin(daybook);

    if (rc != 0)
        return rc;
    batch_end(daybook);
    return daybook_work(daybook, GOAL_ACKNOWLEDGED);
}

const char *daybook_waiting(const struct daybook *daybook)
{
    return daybook->waiting;
}

void daybook_totals(const struct daybook *daybook, struct daybook_totals *totals_out)
{
    *totals_out = daybook->totals;
}

const uint8_t *daybook_producer(const struct daybook *daybook)
{
    return daybook->producer;
}

const char *daybook_error(const struct daybook *daybook)
{
    return daybook->error;
}
