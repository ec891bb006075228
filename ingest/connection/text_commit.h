/* text_commit: what came in goes to the store as one frame, with all that must be there with it.
 *
 * A batch's clicks, its refused lines, its producer's position and how far its file was loaded are
 * one write batch: after a crash all are there or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_COMMIT_H

#include "ingest/connection/text_connection.h"

/* The hash of a batch, to which its content is to be added: it starts with the stream's name and
 * `form`, which keeps apart what is written in different ways.  Any thread. */
struct hash128_stream *text_commit_hash(const struct ingest_stream *stream, struct bytes form);

/* Batch `sequence` begins, which announces `lines`; `hash` is the connection's from here on. */
void text_commit_open(struct text_connection *connection, uint64_t sequence, uint64_t lines,
                      struct hash128_stream *hash);

/* Apply the batch whose last line came, or answer it when it is a copy.  The connection is BLOCKED
 * afterwards when the store has no room, REFUSED when it cannot be taken. */
void text_commit_batch(struct text_connection *connection);

/* Whole batches of one producer, one behind the other, whose rows are one block: what is done once
 * a reseller's day, and once a batch of the store's, is done once for all of them.  Each keeps its
 * number, its hash and its answer. */
enum { TEXT_BUNDLE_MAX = 16 };         /* batches; fewer than PRODUCER_WINDOW */

struct text_bundle_batch {
    uint64_t sequence;
    uint64_t lines;                    /* or rows, as announced */
    uint64_t bytes;                    /* as sent */
    struct hash128 hash;
    uint32_t rows_end, rejects_end;    /* of the part: its own are before these, and behind the
                                        * batch's before it; lines count from 1 in each batch */
};

struct text_bundle {
    struct row_part *part;             /* owned; its block is finished */
    size_t size;                       /* of the input that it is made of, */
    uint64_t lines;                    /* and what that adds to the connection's lines */
    size_t strings_bytes;              /* what the dictionary takes after the STRINGS frames in
                                        * it; 0: there are none */
    uint32_t count;
    struct text_bundle_batch batches[TEXT_BUNDLE_MAX];
};

enum text_bundle_result {
    TEXT_BUNDLE_TAKEN,                 /* applied: its part is not needed any more */
    TEXT_BUNDLE_LATER,                 /* no room: the connection is BLOCKED; ask again */
    TEXT_BUNDLE_APART                  /* its batches are to be taken one by one */
};

/* Apply a bundle, no batch being open and no lines outside of one waiting: all of it or nothing. */
enum text_bundle_result text_commit_bundle(struct text_connection *connection,
                                           const struct text_bundle *bundle);

/* Apply the lines outside of batches that came so far.  False when there is no room: the
 * connection is BLOCKED, or REFUSED, and must not go on. */
bool text_commit_group(struct text_connection *connection);

/* `ok - accepted ... rejected ...` for all since the last one; the group was committed. */
void text_commit_answer(struct text_connection *connection);

/* The store may have room again: try once more, and let a BLOCKED connection go on. */
void text_commit_retry(struct text_connection *connection);
#endif
