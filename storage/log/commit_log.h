/* commit_log: the one log: numbered frames, one sync each, recovery that tells torn from damaged.
 *
 * What decides correctness: a frame is acknowledged only by the sync that covers all of it; no
 * sector that holds acknowledged bytes is ever given others; after a crash exactly the frames
 * before the first missing sector are replayed, in order, and synced before anybody reads them.
 *
 * Every 512-byte sector carries the file's id and the frame's number, so a torn tail (a sector
 * that is still the old one) is told from damage (all sectors there, checksum wrong).  The first is
 * dropped, the second refuses to open and says what is at stake.  Files are zero-filled ahead of
 * need by a lane of their own, reused when every frame in them is flushed, and written past the
 * page cache.  Layout byte by byte: FORMATS.md "Commit log".
 *
 * Engine thread only; it never waits for the disk after commit_log_open. */
#ifndef DAYBOOK_STORAGE_LOG_COMMIT_LOG_H
#define DAYBOOK_STORAGE_LOG_COMMIT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/world/world.h"

struct commit_log;
struct frame_writer;

enum { COMMIT_LOG_PAYLOAD_MAX = 48 << 20 };   /* bytes of one frame's payload */

/* How many clicks the payload of a frame holds. */
typedef uint64_t (*commit_log_count)(void *context, struct bytes payload);

struct commit_log_options {
    uint64_t file_size;            /* bytes of a log file, a multiple of 4 KiB; 0: 64 MiB */
    uint64_t first_file_size;      /* of the first file that an opening makes; 0: 1 MiB.  The next
                                    * ones grow by 8 up to file_size, so small directories stay
                                    * small and large ones are not slowed */
    uint64_t flushed_frame;        /* frames up to here live in segments: not replayed */
    uint64_t purges;               /* that these have; a frame behind a later one is refused */
    bool read_only;                /* replay in memory, write nothing */
    bool salvage;                  /* at damage: keep a copy of the file, go on after the last good
                                    * frame, and say in `err` what was lost (returns 0) */
    uint64_t archive_bytes;        /* keep so many bytes of files whose frames are all flushed in
                                    * the directory archive.  0: all of them if that directory
                                    * exists, else none */
    struct frame_writer *writer;   /* what makes frames durable (frame_writer.h); it outlives the
                                    * log.  NULL: the local disk */
    commit_log_count count;        /* of frames that damage puts at stake, with the context of
                                    * `replay`; NULL: they are not counted */
};

/* Called for every frame past flushed_frame, in order.  The payload is valid during the call. */
typedef int (*commit_log_replay)(void *context, uint64_t frame, int64_t timestamp_us,
                                 struct bytes payload, struct error *err);

/* Called on the engine thread whenever frames became durable: all up to `frame` are.  `status` is
 * negative when a write, a sync or the making of a file failed: no further frame will ever become
 * durable.  It comes again when a write that was under way has ended, which closing waits for. */
typedef void (*commit_log_durable)(void *context, int status, uint64_t frame);

/* Read, check and replay the log in DIR/log, sync the accepted tail, make the file for the next
 * frames.  `world` must outlive the log.  ERROR_CORRUPT names file, offset, frame, what is at stake
 * and what to do;
 * it is also returned when frames are missing: after flushed_frame, in the middle, or all of them
 * (no log file at all although flushed_frame is not 0).  An error of `replay` is passed on.
 * ERROR_CONFLICT: a frame comes behind a purge that the segments do not have.
 * After it returned, commit_log_has_room may still be false: a full disk is waited out. */
must_check int commit_log_open(struct world *world, const struct commit_log_options *options,
                               commit_log_replay replay, commit_log_durable durable, void *context,
                               struct commit_log **log_out, struct error *err);

/* The number that the next frame gets: one more than the last frame, 1 in a new directory. */
uint64_t commit_log_next_frame(const struct commit_log *log);
uint64_t commit_log_durable_frame(const struct commit_log *log);
/* The write timestamp of the last frame replayed or appended; 0 if none. */
int64_t commit_log_last_timestamp(const struct commit_log *log);

/* True while a frame is being written: the engine keeps filling the open frame meanwhile. */
bool commit_log_is_writing(const struct commit_log *log);

/* True when the next frame of this payload size has its space allocated.  When not, the engine
 * takes no more writes until `durable` or the space callback comes: a full disk shows here. */
bool commit_log_has_room(struct commit_log *log, size_t payload_size);
/* `room` is called on the engine thread after a commit_log_has_room that said no, as soon as more
 * space is there. */
void commit_log_on_room(struct commit_log *log, void (*room)(void *context), void *context);

/* What keeps the log from making its next file, which it tries again and again. */
struct commit_log_shortage {
    int status;                    /* error_is_passing; 0: nothing does */
    uint64_t bytes;                /* of the file */
    bool stops_frames;             /* a frame waits for it: commit_log_has_room said no */
};
struct commit_log_shortage commit_log_shortage(const struct commit_log *log);
/* `changed` is called on the engine thread when the shortage begins, changes or ends. */
void commit_log_on_shortage(struct commit_log *log, void (*changed)(void *context), void *context);

/* Write the next frame.  Not while one is being written, and only when commit_log_has_room said
 * yes to its size; `timestamp_us` is stored with it.  The log swaps the payload out of
 * `payload`, leaving an empty buffer (often with memory for use again). */
void commit_log_append(struct commit_log *log, int64_t timestamp_us, struct buffer *payload);

/* So many purges are published now: the next frame says so, for whoever replays it.  (By a purge
 * clicks that come after it get other ranks than they would have had, or a tombstone hides nothing
 * any more.) */
void commit_log_note_purges(struct commit_log *log, uint64_t purges);

/* Frames up to `frame` are in segments: files that hold no later one may be reused. */
void commit_log_flushed(struct commit_log *log, uint64_t frame);

/* ---- what a backup copies ---- */

/* The front of log/<file_id>.log: whole records, all of them durable. */
struct commit_log_extent {
    uint32_t file_id;
    uint64_t size;                 /* a multiple of 4 KiB; 0: nothing in it is durable yet */
};

/* Files with frames past `frame` stay where they are, and so does the archive, until the hold is
 * given back.  The hold is the caller's memory.  What was let go before is not brought back. */
struct commit_log_pin {
    uint64_t frame;
    struct commit_log_pin *next;   /* private */
};
void commit_log_pin(struct commit_log *log, struct commit_log_pin *pin, uint64_t frame);
void commit_log_unpin(struct commit_log *log, struct commit_log_pin *pin);
/* Frames that are flushed may be read again: there is an archive, or a hold. */
bool commit_log_is_kept(const struct commit_log *log);

/* Append struct commit_log_extent, by file id: of the files with frames past `frame`, and the one
 * that is being written; of all that are in the archive, or on their way there from log/. */
void commit_log_extents(const struct commit_log *log, uint64_t frame, struct buffer *extents);
void commit_log_archived(const struct commit_log *log, struct buffer *extents);
/* The write timestamp of the last durable frame; 0 if none was read or written. */
int64_t commit_log_durable_timestamp(const struct commit_log *log);

/* ---- what a restore reads ---- */

struct commit_log_range {
    uint64_t frame_after;          /* frames up to here are elsewhere */
    uint64_t frame_until;          /* inclusive; so is the other, whichever comes first */
    int64_t timestamp_until_us;
    bool with_archive;             /* also in DIR/archive */
    uint64_t purges;               /* as in commit_log_options */
};

/* Up to where the log is whole. */
struct commit_log_end {
    uint64_t frame;                /* the last one within the range; frame_after if there is none */
    int64_t timestamp_us;          /* its write timestamp; 0 if there is none */
    uint32_t file_id_first;        /* the file to begin with; 0: there is none */
    uint32_t file_id;              /* the last frame ends in this one; 0: no frame was read ... */
    uint64_t size;                 /* ... behind so many bytes */
    bool goes_on;                  /* a frame behind the range was found */
    bool is_cut;                   /* the newest file goes on with a record that is not whole, as
                                    * when it was still being copied */
};

/* Follow the frames of the range through DIR/log, checking them all and changing nothing; what
 * cannot be followed is ERROR_CORRUPT, or ERROR_CONFLICT as for commit_log_open, and *end_out says
 * how far it went. */
must_check int commit_log_scan(struct world *world, const struct commit_log_range *range,
                               struct commit_log_end *end_out, struct error *err);
/* The same, with each frame of the range given to `replay`, whose error is passed on.  The range
 * must be there to its last frame: else ERROR_CORRUPT. */
must_check int commit_log_read(struct world *world, const struct commit_log_range *range,
                               commit_log_replay replay, void *context, struct error *err);

/* Bytes of log files in use (live and spare, not the archive), and of frames not yet flushed (to
 * within 1 MiB; 0 when all are flushed). */
uint64_t commit_log_disk_bytes(const struct commit_log *log);
uint64_t commit_log_unflushed_bytes(const struct commit_log *log);

/* Bytes of the next file that is made. */
uint64_t commit_log_next_bytes(const struct commit_log *log);
/* How many of the open files have no name any more; `path_out` has one of them, if there is any. */
uint32_t commit_log_unlinked(const struct commit_log *log, char path_out[64]);

/* Append what it is at, a line for each of its parts, for whoever looks for a fault in it. */
void commit_log_dump(const struct commit_log *log, struct buffer *text);

/* True while a background job of the log (files made ahead) is under way. */
bool commit_log_is_busy(const struct commit_log *log);

/* Write the closing record, sync, close.  No frame may be under way; a background job is waited
 * for.  After a failed write nothing is written, and the next opening treats it as a crash.
 * NULL is fine. */
void commit_log_close(struct commit_log *log);
#endif
