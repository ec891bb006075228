/* ingest_connection_private: the state of one connection, shared by the files below.
 *
 *     RECORDS ──must wait───▶ BLOCKED ──retry──▶ RECORDS
 *        │ └───client has ended, all taken──▶ ENDING ──last reply sent──▶ closed
 *        └─────error reply─────────────────▶ REFUSED ──client closes, or linger_ms─▶ closed
 *
 * Each file calls only files of its own line and of the lines below it.  The modules of the last
 * line do not include each other.
 *
 *     ingest_connection.c                          reads, serves, closes
 *     text_decoder.c    frame_decoder.c            lines and frames become rows and batches
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
    INGEST_REPLIES_MAX = 4096,         /* waiting answers at which reading stops */
    INGEST_REJECT_LINES_MAX = 100      /* reject lines sent for a batch, or between two #sync; the
                                        * limit for a batch of a file is REJECT_FILE_LINES_MAX */
};

enum ingest_state { INGEST_RECORDS, INGEST_BLOCKED, INGEST_ENDING, INGEST_REFUSED };

struct ingest_decoder;
struct frame_decoder;

/* The state while a line longer than RECORD_LINE_MAX is dropped. */
struct text_decoder {
    bool is_skipping;
    struct buffer skipped;             /* the line's first REJECT_CONTENT_MAX bytes */
};

/* A #producer line that waits until the store accepts writes. */
struct producer_wanted {
    bool is_waiting;
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
};

/* The file of the next batch, as #file names it.  `held_key` is the key of the last #files.  No
 * other connection may look this key up until this connection requests another key or is freed. */
struct loaded_file {
    bool is_named;
    uint8_t key[16];
    uint64_t bytes;
    uint8_t hash[16];
    uint64_t lines;
    bool ends_line;
    bool holds_key;
    uint8_t held_key[16];
    bool is_waiting;
    uint8_t wanted_key[16];
    bool is_asking;
    uint32_t in_flight;                /* batches of files that are not durable yet */
};

struct ingest_connection {
    struct ingest *ingest;
    struct connection *network;
    LIST_ENTRY(ingest_connection) link;
    struct door_slot slot;             /* its timer closes the connection if the client reads too
                                        * slowly, or does not close after a refusal */
    bool is_load;
    struct wake_entry wake;
    /* life */
    enum ingest_state state;
    bool has_ended;                    /* the peer has sent its last byte */
    bool has_finished;                 /* the last reply is sent; later ones are dropped */
    bool has_closed;                   /* the network has closed the connection */
    bool is_closing;
    bool is_running;                   /* being served; a callback must not serve it again */
    uint32_t jobs;                     /* jobs and lookups under way; the connection is freed only
                                        * when there are none */
    /* input */
    const struct ingest_decoder *decoder;
    bool is_decoder_known;             /* false: `decoder` may still change */
    struct text_decoder text;
    struct frame_decoder *frames;      /* owned; NULL: the input is lines */
    struct input_queue input;
    uint64_t lines;
    struct stream_rows rows;
    /* under way */
    struct producer *producer;
    struct producer_wanted wanted;
    struct numbered_batch batch;
    struct unnumbered_rows unnumbered;
    struct loaded_file file;
    struct reply_queue replies;
    bool wants_notes;
    struct ingest_account account;
};

/* Serve the connection in the next loop turn. */
static inline void ingest_connection_wake(struct ingest_connection *connection)
{
    if (!connection->is_closing)
        wake_queue_add(&connection->ingest->woken, &connection->wake);
}
#endif
