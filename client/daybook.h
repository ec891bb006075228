/* daybook: send clicks to a daybook server, each counted once.
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
 * WHAT IT DOES.  A struct daybook is a producer: it gathers clicks into numbered batches, sends
 * them over one TCP connection and takes the answers.  A batch is acknowledged when its clicks,
 * their counters and its number are on the server's disk.  When the connection breaks it connects
 * anew and sends what was not acknowledged again; the server knows a batch by its number, so it
 * counts once however often it came.  The protocol is docs/PROTOCOL.md "Binary door".
 *
 * EXACTLY ONCE, ACROSS YOUR OWN RESTARTS TOO.  Keep the producer's 16 bytes and the last number
 * that was acknowledged (daybook_totals), and give both to daybook_open in your next life.  Batches
 * behind that number must then be made again as they were: the same clicks in the same order, ended
 * at the same places (daybook_flush ends one).  A number that comes again with other content is
 * refused.  A program that cannot do that uses a new producer, and may count a last batch twice.
 *
 * ERRORS.  Calls return 0, or one of the negative codes below; daybook_error says what happened.
 * After DAYBOOK_UNREACHABLE nothing is lost: call again, as long as you like.  DAYBOOK_REFUSED is
 * final for this struct.  A click that is not in order (a day two days off its time, an amount of
 * 19 digits) is no error of a call: the server refuses that row, records it, and `rejected` is
 * called.
 *
 * THREADS AND SIGNALS.  A struct daybook belongs to one thread at a time; several of them are
 * independent.  The library has no threads and no global state, raises no SIGPIPE, never exits and
 * never prints.  Calls block where they say so.  EINTR is gone on from. */
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
    DAYBOOK_INVALID = -1,              /* an argument that cannot be; nothing was done */
    DAYBOOK_NO_MEMORY = -2,            /* nothing was done; calling again may do */
    DAYBOOK_UNREACHABLE = -3,          /* no answer for `patience_ms`; call again to go on */
    DAYBOOK_REFUSED = -4               /* the server will not take this producer's batches */
};

struct daybook;

/* Rows that the server refused.  The callback is called for them at most once, and not at all when
 * the answer was lost with its connection; the server's table daybook.reject has all of them.  The
 * texts are valid until the callback returns, which must not call the library. */
struct daybook_rejected {
    uint64_t batch;                    /* its number */
    uint64_t row;                      /* within the batch, from 1; 0: `count` more of this code */
    uint64_t count;                    /* 1, or how many */
    const char *code;                  /* "bad_amount": PROTOCOL.md "Refused lines" */
    const char *text;                  /* what was wrong, a JSON string; "" for row 0 */
};

/* All zero is fine: every field has a default.  What it points to is copied by daybook_open. */
struct daybook_options {
    const char *address;               /* HOST:PORT; "127.0.0.1:7600" */
    const char *stream;                /* the server's default one */
    const uint8_t *producer;           /* 16 bytes, a UUID of yours; random */
    uint64_t epoch;                    /* 1; a higher one fences off every lower one */
    uint64_t acknowledged;             /* the last batch of an earlier life; 0: never any */
    uint32_t batch_rows;               /* 4,096; a batch ends there; at most 65,536.  It also ends
                                        * before its clicks as lines of text were 8 MiB */
    uint32_t window;                   /* 16; batches sent and not acknowledged; at most 64 */
    int patience_ms;                   /* 30,000; how long a call waits without an answer; negative:
                                        * for ever */
    void (*rejected)(void *context, const struct daybook_rejected *rejected);      /* none */
    void *context;                     /* of `rejected` */
};

/* *daybook_out is the caller's, to be closed.  Connects with the first batch, not yet. */
DAYBOOK_API int daybook_open(const struct daybook_options *options, struct daybook **daybook_out);

/* Hang up and free.  What is not acknowledged is given up: daybook_sync comes before.  NULL is
 * fine. */
DAYBOOK_API void daybook_close(struct daybook *daybook);

enum {
    DAYBOOK_ID_MAX = 65535,            /* bytes that can be sent; over 4,096 the server refuses */
    DAYBOOK_SCALE_MAX = 18
};
#define DAYBOOK_DAY_NONE INT32_MIN     /* the day of the time in the stream's zone */

struct daybook_click {
    const char *reseller;              /* UTF-8 */
    const char *ad;                    /* UTF-8 */
    size_t reseller_size;              /* bytes; 0: `reseller` ends with a NUL */
    size_t ad_size;                    /* the same */
    int32_t day;                       /* days since 1970-01-01, or DAYBOOK_DAY_NONE */
    int64_t time_ms;                   /* milliseconds since 1970-01-01T00:00Z */
    int64_t amount;                    /* times 10^scale: 0.005 is 5 with scale 3; 18 digits */
    uint8_t scale;                     /* 0 to DAYBOOK_SCALE_MAX; kept: 0.10 is not 0.1 */
};

/* Add a click, which is copied.  A batch that is full is sent without waiting; blocks only while
 * `window` batches wait for their answers.  Anything but 0: this click was not taken. */
DAYBOOK_API int daybook_add(struct daybook *daybook, const struct daybook_click *click);

/* End the batch and hand what is gathered to the network.  Blocks while the server takes no more;
 * does not wait for answers. */
DAYBOOK_API int daybook_flush(struct daybook *daybook);

/* daybook_flush, and wait until all is acknowledged. */
DAYBOOK_API int daybook_sync(struct daybook *daybook);

struct daybook_totals {
    uint64_t acknowledged;             /* the number of the last batch; 0: none */
    uint64_t accepted;                 /* rows on disk, */
    uint64_t rejected;                 /* and refused, of the batches acknowledged in this life */
    uint64_t duplicates;               /* of these batches: there already when they came (again) */
    uint64_t connects;
};
DAYBOOK_API void daybook_totals(const struct daybook *daybook, struct daybook_totals *totals_out);

/* The producer's 16 bytes. */
DAYBOOK_API const uint8_t *daybook_producer(const struct daybook *daybook);

/* What the server waits for before it accepts more clicks, such as "disk_full" or "no_memory"; ""
 * when it accepts them.  The server continues without a call.  Valid until the next call. */
DAYBOOK_API const char *daybook_waiting(const struct daybook *daybook);

/* The error text of the last call that failed, one line; "" when none did.  Valid until the next
 * call. */
DAYBOOK_API const char *daybook_error(const struct daybook *daybook);

#ifdef __cplusplus
}
#endif
#endif
