/* daybook_private: the producer's state, shared by the parts of the library. */
#ifndef DAYBOOK_CLIENT_DAYBOOK_PRIVATE_H
#define DAYBOOK_CLIENT_DAYBOOK_PRIVATE_H

#include <stdbool.h>

#include "client/frame_reader.h"
#include "client/frame_writer.h"

enum {
    PRODUCER_SIZE = 16,
    BATCH_ROWS_MAX = 65536,
    WINDOW_MAX = 64,                   /* batches of a producer that the server keeps */
    ANSWER_MAX = 64 << 10,             /* bytes of one line of an answer */
    ERROR_SIZE = 512,
    WAITING_SIZE = 32
};

/* The producer's batches are in a ring, by their number modulo WINDOW_MAX + 1:
 *
 *     acknowledged   written   gathering
 *          |sent ...... |waiting ...|open|                                    */
struct daybook {
    /* options */
    char *address, *stream;
    uint8_t producer[PRODUCER_SIZE];
    uint64_t epoch;
    uint32_t batch_rows, window;
    int patience_ms;
    void (*rejected)(void *context, const struct daybook_rejected *rejected);
    void *context;
    /* batches */
    struct click_batch batches[WINDOW_MAX + 1];
    uint64_t gathering;                /* number of the batch that clicks are added to */
    uint64_t written;                  /* the last batch that is in the writer or sent */
    bool is_known;                     /* a batch of this producer was acknowledged */
    struct daybook_totals totals;
    /* the connection */
    int descriptor;                    /* -1: none */
    bool is_connecting;
    uint32_t failed_connects;
    struct frame_writer writer;
    size_t sent;                       /* bytes of writer.out that were passed to the kernel */
    struct frame_reader reader;
    char *lines;                       /* answers: the beginning of a line */
    size_t line_size, line_capacity;
    char waiting[WAITING_SIZE];        /* the result of daybook_waiting */
    int64_t retry_at_ms;               /* no connection is begun before this daybook_now_ms */
    int retry_ms;                      /* the last wait between two attempts to connect */
    /* errors */
    int status;                        /* 0, or DAYBOOK_REFUSED, which is final */
    char error[ERROR_SIZE];
};

/* Set the error text; returns `status`. */
int daybook_fail(struct daybook *daybook, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- daybook_answers.c ---- */

/* Process `size` bytes from the server.  *progress is set if a batch was acknowledged.
 * DAYBOOK_UNREACHABLE: this connection cannot be used any more, but a new one can be tried. */
int daybook_take_answers(struct daybook *daybook, const uint8_t *bytes, size_t size,
                         bool *progress);

/* ---- daybook_connection.c ---- */

/* The monotonic time in milliseconds. */
int64_t daybook_now_ms(void);

/* Begin to connect, and put the first frames of the connection into the writer. */
int daybook_connect(struct daybook *daybook);
/* Close the connection; batches that were not acknowledged will be written again. */
void daybook_disconnect(struct daybook *daybook);

/* Wait up to `wait_ms` milliseconds, or without a limit if negative, until the socket is ready.
 * Then finish connecting, or receive once and send once without blocking.  Returns the same as
 * daybook_take_answers. */
int daybook_exchange(struct daybook *daybook, int wait_ms, bool *progress);
#endif
