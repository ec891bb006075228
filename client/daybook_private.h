/* daybook_private: the producer's state, shared by the parts of the library. */
#ifndef DAYBOOK_CLIENT_DAYBOOK_PRIVATE_H
#define DAYBOOK_CLIENT_DAYBOOK_PRIVATE_H

#include <stdbool.h>

#include "client/frame_reader.h"
#include "client/frame_writer.h"

enum {
    PRODUCER_SIZE = 16,
    BATCH_ROWS_MAX = 65536,
    WINDOW_MAX = 64,
    ANSWER_MAX = 64 << 10,             /* bytes of a line */
    ERROR_SIZE = 512,
    WAITING_SIZE = 32
};

/* The producer's batches are in a ring, by their number modulo WINDOW_MAX + 1:
 *
 *     acknowledged + 1 .. written      in the writer, or sent
 *     written + 1 .. gathering - 1     complete, not yet in the writer
 *     gathering                        open for clicks */
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
    uint64_t gathering;                /* the batch that is open for clicks */
    uint64_t written;                  /* the last batch that the writer got */
    bool is_known;                     /* the producer has an acknowledged batch */
    struct daybook_totals totals;
    /* the connection */
    int descriptor;                    /* -1: none */
    bool is_connecting;
    uint32_t failed_connects;
    struct frame_writer writer;
    size_t sent;                       /* bytes of writer.out that were sent */
    struct frame_reader reader;
    char *lines;                       /* an answer's unfinished line */
    size_t line_size, line_capacity;
    char waiting[WAITING_SIZE];
    int64_t retry_at_ms;               /* when to connect again */
    int retry_ms;                      /* between attempts to connect */
    /* errors */
    int status;                        /* 0 or DAYBOOK_REFUSED */
    char error[ERROR_SIZE];
};

int daybook_fail(struct daybook *daybook, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- daybook_answers.c ---- */

/* Set `*progress` if a batch was acknowledged.  DAYBOOK_UNREACHABLE: a new connection may
 * succeed. */
int daybook_take_answers(struct daybook *daybook, const uint8_t *bytes, size_t size,
                         bool *progress);

/* ---- daybook_connection.c ---- */

int64_t daybook_now_ms(void);

int daybook_connect(struct daybook *daybook);
void daybook_disconnect(struct daybook *daybook);

/* Wait until the socket is ready, up to `wait_ms` milliseconds (negative: without a limit), and use
 * it once.  Returns the same as daybook_take_answers. */
int daybook_exchange(struct daybook *daybook, int wait_ms, bool *progress);
#endif
