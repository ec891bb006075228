/* ingest_connection_private: the state of one connection, for the files of which it is made.
 *
 *     RECORDS ──store full──▶ BLOCKED ──drain──▶ RECORDS
 *        │ └───peer half-closes, all taken──▶ ENDING ──last reply sent──▶ closed
 *        └─────error reply─────────────────▶ REFUSED ──peer hangs up, or linger──▶ closed
 *
 * Each part is a module that does not include the others; ingest_connection.c connects them.  Files
 * call downwards only:
 *
 *     ingest_connection.c                          reads, serves, closes
 *     text_decoder.c    frame_decoder.c            what lines, and frames, mean
 *     parse_ahead.c                                input parsed on another thread
 *     ingest_control.c                             control lines
 *     ingest_commit.c   loaded_file.c              rows to the store
 *     connection_memory.c  ingest_rows.c  notes.c  answer.c
 *     input_queue  reply_queue  wake_queue  numbered_batch  unnumbered_rows  ingest_account */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_PRIVATE_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_PRIVATE_H

#include <sys/queue.h>

#include "ingest/connection/ingest_account.h"
#include "ingest/connection/ingest_private.h"
#include "ingest/connection/input_queue.h"
#include "ingest/connection/numbered_batch.h"
#include "ingest/connection/reply_queue.h"
#include "ingest/connection/unnumbered_rows.h"
#include "ingest/parse/stream_rows.h"

enum {
    INGEST_REPLIES_MAX = 4096,         /* answers that wait for the disk; then reading stops */
    INGEST_REJECT_LINES_MAX = 100      /* reject lines sent of a batch, or between two #sync; of a
                                        * batch of a file all are sent */
};

enum ingest_state { INGEST_RECORDS, INGEST_BLOCKED, INGEST_ENDING, INGEST_REFUSED };

struct ingest_decoder;
struct frame_decoder;

/* A line that is too long is dropped as it comes. */
struct text_decoder {
    bool is_skipping;                  /* within such a line */
    struct buffer skipped;             /* how it begins */
};

/* The arguments of a #producer that waits until the store takes writes. */
struct producer_wanted {
    bool is_waiting;
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
};

/* The file from which the next batch comes (#file), and the key of the file that was looked up
 * (#files), which no other connection may load meanwhile. */
struct loaded_file {
    bool is_named;
    uint8_t key[16];
    uint64_t bytes;
    uint8_t hash[16];
    uint64_t lines;
    bool ends_line;
    bool holds_key;
    uint8_t held_key[16];
};

struct ingest_connection {
    struct ingest *ingest;
    struct connection *network;
    LIST_ENTRY(ingest_connection) link;
    struct door_slot slot;             /* its clock closes a slow reader, and a connection that was
                                        * refused */
    bool is_load;                      /* it came by the control socket, as `daybook load` does */
    struct wake_entry wake;
    /* life */
    enum ingest_state state;
    bool has_ended;                    /* the peer has sent its last byte */
    bool has_finished;                 /* the last reply is sent; replies after it are dropped */
    bool has_closed;                   /* the network has closed it */
    bool is_closing;
    bool is_running;                   /* it is being served, and must not be served again by a
                                        * callback meanwhile */
    uint32_t jobs;                     /* jobs that parse ahead or look ids up; it is freed only
                                        * when they are done */
    /* input */
    const struct ingest_decoder *decoder;
    bool is_decoder_known;             /* until then `decoder` is that of lines */
    struct text_decoder text;
    struct frame_decoder *frames;      /* owned; NULL: its input is lines */
    struct input_queue input;
    uint64_t lines;                    /* taken so far, of any kind */
    struct stream_rows rows;
    /* under way */
    struct producer *producer;         /* NULL: none was named */
    struct producer_wanted wanted;
    struct numbered_batch batch;
    struct unnumbered_rows unnumbered;
    struct loaded_file file;
    struct reply_queue replies;
    bool wants_notes;                  /* notes.h */
    struct ingest_account account;
};

/* Send its answers and serve it in the next loop turn. */
static inline void ingest_connection_wake(struct ingest_connection *connection)
{
    if (!connection->is_closing)
        wake_queue_add(&connection->ingest->woken, &connection->wake);
}
#endif
