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
 * WHAT IT DOES.  A struct daybook is a producer.  It gathers clicks into numbered batches, sends
 * the batches over one TCP connection and reads the answers.  A batch is acknowledged when its
 * clicks, their counters and its number are on the server's disk.  If the connection breaks, the
 * producer connects again and sends all unacknowledged batches again.  The server recognizes a
 * batch by its number, so a batch counts once, however often it is sent.  The protocol is
 * docs/PROTOCOL.md "Binary door".
 *
 * EXACTLY ONCE, ALSO ACROSS RESTARTS OF YOUR PROGRAM.  Keep the producer's 16 bytes and the number
 * of the last acknowledged batch (daybook_totals), and pass both to daybook_open after a restart.
 * The program must then make all later batches again exactly as before: the same clicks in the same
 * order, with the same ends of batches (daybook_flush ends a batch).  The server refuses a batch
 * with a known number and other content.  A program that cannot make the same batches again uses
 * a new producer, and its last batches may be counted twice.
 *
 * ERRORS.  Calls return 0, or one of the negative codes below; daybook_error returns the error
 * text.  After DAYBOOK_UNREACHABLE nothing is lost: call again, as often as you like.
 * DAYBOOK_REFUSED is final for this struct.  If the server rejects a click, for example because its
 * amount has 19 digits, no call fails: the server records this row, and the library calls
 * `rejected`.
 *
 * THREADS AND SIGNALS.  Only one thread at a time may use a struct daybook; different structs are
 * independent.  The library has no threads and no global state, raises no SIGPIPE, never exits and
 * never prints.  Only functions whose comments say so block.  A call that a signal interrupts
 * continues. */
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
    DAYBOOK_INVALID = -1,              /* an invalid argument; nothing was done */
    DAYBOOK_NO_MEMORY = -2,            /* memory is out; call again to continue */
    DAYBOOK_UNREACHABLE = -3,          /* no answer for `patience_ms`; call again to continue */
    DAYBOOK_REFUSED = -4               /* the server takes no more batches of this producer */
};

struct daybook;

/* A row that the server rejected, or a number of such rows.  The callback is called at most once
 * for each row, and not at all if the answer was lost with its connection.  The server's table
 * daybook.reject has all rejected rows.  The texts are valid until the callback returns.  The
 * callback must not call the library. */
struct daybook_rejected {
    uint64_t batch;                    /* the number of the batch */
    uint64_t row;                      /* within the batch, from 1; 0: `count` more of this code */
    uint64_t count;                    /* 1; with row 0, the number of rows */
    const char *code;                  /* "bad_amount": PROTOCOL.md "Refused lines" */
    const char *text;                  /* the wrong text as a JSON string, or "" */
};

/* A field that is 0 or NULL stands for its default.  daybook_open copies all texts and bytes to
 * which fields point. */
struct daybook_options {
    const char *address;               /* HOST:PORT, or :PORT for 127.0.0.1; default:
                                        * "127.0.0.1:7600".  If the host has several addresses,
                                        * they are tried in turn */
    const char *stream;                /* default: the server's default stream */
    const uint8_t *producer;           /* 16 bytes, a UUID; default: random */
    uint64_t epoch;                    /* default: 1; the server refuses connections with a lower
                                        * epoch than the producer's highest */
    uint64_t acknowledged;             /* the last acknowledged batch before a restart; 0: none */
    uint32_t batch_rows;               /* rows at which a batch ends, at most 65,536; default:
                                        * 4,096.  A batch also ends when its clicks, as lines of
                                        * text, reach about 6 MiB */
    uint32_t window;                   /* batches without an answer, at most 64; default: 16 */
    int patience_ms;                   /* how long a call waits without an answer; default: 30,000;
                                        * negative: without a limit */
    void (*rejected)(void *context, const struct daybook_rejected *rejected);      /* may be NULL */
    void *context;                     /* for `rejected` */
};

/* Open a producer, which the caller closes by daybook_close.  The library connects with the first
 * batch, not in this call. */
DAYBOOK_API int daybook_open(const struct daybook_options *options, struct daybook **daybook_out);

/* Close the connection and free the producer.  Clicks that are not acknowledged are lost, so call
 * daybook_sync before.  NULL is fine. */
DAYBOOK_API void daybook_close(struct daybook *daybook);

enum {
    DAYBOOK_ID_MAX = 65535,            /* bytes of an id; the server rejects more than 4,096 */
    DAYBOOK_SCALE_MAX = 18
};
#define DAYBOOK_DAY_NONE INT32_MIN     /* the server computes the day in the stream's zone */

struct daybook_click {
    const char *reseller;              /* UTF-8 */
    const char *ad;                    /* UTF-8 */
    size_t reseller_size;              /* bytes; 0: `reseller` ends with a NUL */
    size_t ad_size;                    /* the same */
    int32_t day;                       /* days since 1970-01-01, or DAYBOOK_DAY_NONE */
    int64_t time_ms;                   /* milliseconds since 1970-01-01T00:00Z */
    int64_t amount;                    /* in units of 10^-scale: 0.005 is 5 with scale 3; up to 18
                                        * digits */
    uint8_t scale;                     /* 0 to DAYBOOK_SCALE_MAX; the server keeps it: 0.10 stays
                                        * 0.10 */
};

/* Add a copy of a click.  A full batch is sent without waiting for the network.  Blocks only while
 * `window` batches wait for their answers, or a host name is resolved.  If the result is not 0, the
 * click was not added. */
DAYBOOK_API int daybook_add(struct daybook *daybook, const struct daybook_click *click);

/* End the batch.  Blocks until all batches are passed to the kernel; does not wait for answers. */
DAYBOOK_API int daybook_flush(struct daybook *daybook);

/* Do the same as daybook_flush, and block until all batches are acknowledged. */
DAYBOOK_API int daybook_sync(struct daybook *daybook);

struct daybook_totals {
    uint64_t acknowledged;             /* the number of the last acknowledged batch; 0: none */
    uint64_t accepted;                 /* rows on disk that the answers since daybook_open count */
    uint64_t rejected;                 /* rejected rows that these answers count */
    uint64_t duplicates;               /* answers for batches that the server had already */
    uint64_t connects;                 /* connections made */
};
DAYBOOK_API void daybook_totals(const struct daybook *daybook, struct daybook_totals *totals_out);

/* The producer's 16 bytes. */
DAYBOOK_API const uint8_t *daybook_producer(const struct daybook *daybook);

/* The reason why the server accepts no more clicks at present, such as "disk_full" or "no_memory";
 * "" if the server accepts clicks.  The server continues by itself once the reason is gone.  Valid
 * until the next call. */
DAYBOOK_API const char *daybook_waiting(const struct daybook *daybook);

/* The error text after a call that failed, one line.  Valid until the next call. */
DAYBOOK_API const char *daybook_error(const struct daybook *daybook);

#ifdef __cplusplus
}
#endif
#endif
