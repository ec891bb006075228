/* daybook: sends clicks to a daybook server, which counts each click once.
 *
 *     struct daybook_options options = {.address = "127.0.0.1:7600"};
 *     struct daybook *daybook;
 *
 *     if (daybook_open(&options, &daybook) != 0)
 *         ...
 *     daybook_add(daybook, &(struct daybook_click){.reseller = "supaboobs", .ad = "ad42",
 *                                                  .day = DAYBOOK_DAY_NONE,
 *                                                  .time_ms = 1385654400123,
 *                                                  .amount = 5, .scale = 3});       0.005
 *     if (daybook_sync(daybook) != 0)
 *         fprintf(stderr, "%s\n", daybook_error(daybook));
 *     daybook_close(daybook);
 *
 * Compile with `pkg-config --cflags --libs daybook`.
 *
 * WHAT IT DOES.  A struct daybook is a producer: it sends numbered batches of clicks over one TCP
 * connection (docs/PROTOCOL.md "Binary door").  A batch is acknowledged when its clicks, their
 * counters and its number are on the server's disk.  After a broken connection the producer
 * repeats all unacknowledged batches.  The server counts each number once.
 *
 * EXACTLY ONCE, ALSO ACROSS RESTARTS OF YOUR PROGRAM.  Keep the producer's 16 bytes and the number
 * of the last acknowledged batch (daybook_totals), and pass both to daybook_open after a restart.
 * The program must make all later batches exactly as before: the same clicks in the same order,
 * with the same ends of batches (daybook_flush ends a batch).  The server refuses a number that
 * comes again with other content.  A program that cannot do this must use a new producer, and its
 * last batches may count twice.
 *
 * ERRORS.  Calls return 0, or a negative code below; daybook_error returns the text.  After
 * DAYBOOK_UNREACHABLE nothing is lost: call again, as often as you like.  A click that the server
 * rejects is not an error of a call: the server records it, and the library calls `rejected`.
 *
 * THREADS AND SIGNALS.  Only one thread at a time may use a struct daybook.  The library has no
 * threads and no global state, raises no SIGPIPE, never exits and never prints.  Only calls that
 * say so block. */
#ifndef DAYBOOK_CLIENT_DAYBOOK_H
#define DAYBOOK_CLIENT_DAYBOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DAYBOOK_API
#define DAYBOOK_API __attribute__((visibility("default")))
#endif

enum daybook_status {
    DAYBOOK_INVALID = -1,              /* nothing was done */
    DAYBOOK_NO_MEMORY = -2,            /* call again to continue */
    DAYBOOK_UNREACHABLE = -3,          /* no answer for `patience_ms`; call again */
    DAYBOOK_REFUSED = -4               /* final for this struct */
};

struct daybook;

/* A rejected row, or a number of such rows.  An answer may be lost with its connection, but the
 * server's table daybook.reject has all rows.  The texts are valid until the callback returns.  The
 * callback must not call the library. */
struct daybook_rejected {
    uint64_t batch;
    uint64_t row;                      /* from 1; 0: `count` more of this code */
    uint64_t count;                    /* number of rows */
    const char *code;                  /* PROTOCOL.md "Refused lines" */
    const char *text;                  /* the wrong text as a JSON string, or "" */
};

/* 0 or NULL stands for the default.  daybook_open copies texts and bytes. */
struct daybook_options {
    const char *address;               /* HOST:PORT, or :PORT for 127.0.0.1; default:
                                        * "127.0.0.1:7600" */
    const char *stream;                /* default: the server's */
    const uint8_t *producer;           /* 16 bytes; default: random */
    uint64_t epoch;                    /* default: 1; the server refuses one below the highest */
    uint64_t acknowledged;             /* the last batch before a restart; 0: none */
    uint32_t batch_rows;               /* at most 65,536; default: 4,096.  A batch also ends at
                                        * 6 MiB of text */
    uint32_t window;                   /* unanswered batches, at most 64; default: 16 */
    int patience_ms;                   /* to wait for an answer; default: 30,000; negative: no
                                        * limit */
    void (*rejected)(void *context, const struct daybook_rejected *rejected);      /* may be NULL */
    void *context;
};

/* The caller closes the producer by daybook_close.  This call does not connect. */
DAYBOOK_API int daybook_open(const struct daybook_options *options, struct daybook **daybook_out);

/* Clicks that are not acknowledged are lost, so call daybook_sync before.  NULL is fine. */
DAYBOOK_API void daybook_close(struct daybook *daybook);

enum {
    DAYBOOK_ID_MAX = 65535,            /* bytes; the server rejects more than 4,096 */
    DAYBOOK_SCALE_MAX = 18
};
#define DAYBOOK_DAY_NONE INT32_MIN     /* the server computes the day */

struct daybook_click {
    const char *reseller;              /* UTF-8 */
    const char *ad;                    /* UTF-8 */
    size_t reseller_size;              /* bytes; 0: up to a NUL */
    size_t ad_size;                    /* as reseller_size */
    int32_t day;                       /* days since 1970-01-01, or DAYBOOK_DAY_NONE */
    int64_t time_ms;                   /* since 1970-01-01T00:00Z */
    int64_t amount;                    /* the amount is this times 10^-scale; up to 18 digits */
    uint8_t scale;                     /* 0 to DAYBOOK_SCALE_MAX; 0.10 stays 0.10 */
};

/* Copy a click, and send a full batch.  Blocks only while `window` batches wait for answers, or a
 * host name is resolved.  After an error the click was not added. */
DAYBOOK_API int daybook_add(struct daybook *daybook, const struct daybook_click *click);

/* End the batch, and block until all batches are passed to the kernel. */
DAYBOOK_API int daybook_flush(struct daybook *daybook);

/* End the batch, and block until all batches are acknowledged. */
DAYBOOK_API int daybook_sync(struct daybook *daybook);

struct daybook_totals {
    uint64_t acknowledged;             /* the last batch; 0: none */
    uint64_t accepted;                 /* rows since daybook_open */
    uint64_t rejected;                 /* rows since daybook_open */
    uint64_t duplicates;               /* batches that the server had already */
    uint64_t connects;
};
DAYBOOK_API void daybook_totals(const struct daybook *daybook, struct daybook_totals *totals_out);

/* 16 bytes. */
DAYBOOK_API const uint8_t *daybook_producer(const struct daybook *daybook);

/* Why the server accepts no clicks at present, such as "disk_full", or "".  Valid until the next
 * call. */
DAYBOOK_API const char *daybook_waiting(const struct daybook *daybook);

/* The text of the last error, one line.  Valid until the next call. */
DAYBOOK_API const char *daybook_error(const struct daybook *daybook);

#ifdef __cplusplus
}
#endif
#endif
