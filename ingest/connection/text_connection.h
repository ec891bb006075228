/* text_connection: the state of one connection of the text door.
 *
 *     RECORDS ──store full──▶ BLOCKED ──drain──▶ RECORDS
 *        │ └───peer half-closes, all taken──▶ ENDING ──last reply sent──▶ closed
 *        └─────error reply─────────────────▶ REFUSED ──peer hangs up, or linger──▶ closed
 */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_CONNECTION_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_CONNECTION_H

#include <sys/queue.h>

#include "ingest/connection/ingest_private.h"
#include "ingest/connection/text_input.h"
#include "ingest/parse/keyed.h"
#include "ingest/parse/line_parser.h"
#include "ingest/parse/ndjson.h"
#include "ingest/parse/row_parts.h"

enum {
    TEXT_BATCH_BYTES_MAX = 8 << 20,    /* as sent */
    TEXT_GROUP_LINES_MAX = 65536,      /* outside batches, in one frame */
    TEXT_GROUP_BYTES_MAX = 4 << 20,
    TEXT_GROUPS_IN_FLIGHT = 4,         /* then lines gather until there are more of them */
    TEXT_REPLIES_MAX = 4096,           /* answers that wait for the disk; then reading stops */
    TEXT_QUEUE_MAX = 1 << 20,          /* bytes of answers that wait for the reader; the same */
    TEXT_REJECT_LINES_MAX = 100        /* reject lines in a batch, or up to a #sync; a batch of a
                                        * file has all of them */
};

enum text_state { TEXT_RECORDS, TEXT_BLOCKED, TEXT_ENDING, TEXT_REFUSED };
enum text_format { TEXT_UNKNOWN, TEXT_CSV, TEXT_NDJSON };

struct binary_door;
struct text_reply;

/* The batch that is coming in. */
struct text_batch {
    bool is_open;
    uint64_t sequence;
    uint64_t lines;                    /* as announced */
    uint64_t lines_left;
    uint64_t bytes;
    enum producer_verdict verdict;
    struct hash128_stream *hash;       /* of the stream's name, the column order and the bytes */
    bool is_kept_waiting;              /* complete, and the store had no room for it */
};

/* Lines outside of batches: the group that is coming in, and sums since the last #sync. */
struct text_group {
    uint64_t lines;
    uint64_t bytes;
    uint32_t in_flight;
    bool is_answer_due;                /* a line came since the last `ok -` */
    bool was_answered;                 /* by an `ok -`, or there is a batch to answer */
    uint64_t accepted;
    uint64_t duplicates;               /* of them; only of clicks with ids */
    uint64_t rejected;
    uint64_t reject_lines;             /* sent as lines of their own, */
    uint64_t reject_sums[REJECT_CODE_COUNT];       /* and those that were not */
};

/* What the client says of the file its next batch comes from (#file). */
struct text_file {
    bool is_named;
    uint8_t key[16];
    uint64_t bytes;
    uint8_t hash[16];
    uint64_t lines;
    bool ends_line;
};

/* The producer of a #producer that waits until the store takes writes. */
struct text_wanted {
    bool is_waiting;
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
};

struct text_connection {
    struct ingest *ingest;
    struct connection *connection;
    LIST_ENTRY(text_connection) link;
    struct text_connection *next_woken;
    bool is_woken;
    enum text_state state;
    bool has_ended;                    /* the peer has sent its last byte */
    bool has_finished;                 /* the last reply is sent; what comes after it is dropped */
    bool is_closing;
    bool is_running;                   /* it is being served: not to be entered again */
    bool wants_notes;                  /* text_notes.h */
    bool is_told;                      /* whether it speaks in lines or in frames is known */
    struct binary_door *binary;        /* it speaks in frames; NULL: in lines */
    struct door_slot slot;             /* its place; the clock closes a slow reader, and one that
                                        * was refused */
    /* input */
    struct text_input input;
    uint32_t jobs;                     /* parsing ahead, or reading what is there; it is not freed
                                        * before they are done */
    bool has_closed;                   /* the network's part is gone */
    bool is_skipping;                  /* within a line that is too long */
    struct buffer skipped;             /* how it begins */
    uint64_t lines;                    /* taken, of any kind */
    enum text_format format;
    bool is_first;                     /* no record came yet: a header may */
    /* where rows go */
    const struct ingest_stream *stream;
    struct line_columns columns;
    uint64_t settings;                 /* another number after each change of what lines mean */
    struct row_parts rows;             /* has a builder from the first record on */
    struct line_parser parser;
    struct ndjson *ndjson;
    struct keyed *keyed;               /* of a stream whose clicks have ids; else NULL */
    struct producer *producer;         /* NULL: none was named */
    struct text_wanted wanted;
    struct text_batch batch;
    struct text_group group;
    struct text_file file;
    bool holds_key;                    /* a #files was asked: no other may load such a file */
    uint8_t held_key[16];
    /* answers, in the order of what they answer */
    struct text_reply *replies, **replies_end;
    uint32_t reply_count;
    size_t reply_bytes;                /* of those whose text is there */
    /* of memory, as the room was told (text_memory.h) */
    struct input_member member;
    size_t answers_told;
};
#endif
