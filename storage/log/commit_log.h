/* commit_log: the one log: numbered frames, one sync each, and a recovery that distinguishes a torn
 * tail from damage.
 *
 * What decides correctness: a frame is acknowledged only after the sync that covers all of it; a
 * sector with acknowledged bytes is never overwritten with others; after a crash exactly the frames
 * before the first missing sector are replayed, in order, and synced before they are used.
 *
 * Every 512-byte sector has the file's id and the frame's number, so that a torn tail (some sector
 * is still the old one) can be distinguished from damage (all sectors are there, but the checksum
 * is wrong).  A torn tail is dropped; with damage the log does not open, and the error says what is
 * at stake.  Log files are zero-filled ahead of need on a lane of their own, reused when every
 * frame in them is flushed, and written past the page cache.  Layout byte by byte: FORMATS.md
 * "Commit log".
 *
 * For the engine thread only, which never waits for the disk here after commit_log_open. */
#ifndef DAYBOOK_STORAGE_LOG_COMMIT_LOG_H
#define DAYBOOK_STORAGE_LOG_COMMIT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/world/world.h"

struct commit_log;
struct frame_writer;

enum { COMMIT_LOG_PAYLOAD_MAX = 48 << 20 };   /* bytes of one frame's payload */

/* Returns how many clicks the payload of a frame has. */
typedef uint64_t (*commit_log_count)(void *context, struct bytes payload);

struct commit_log_options {
    uint64_t file_size;            /* bytes of a log file, a multiple of 4 KiB; 0: 64 MiB */
    uint64_t first_file_size;      /* bytes of the first file that an opening makes; 0: 1 MiB.  Each
                                    * further one is 8 times as large, up to file_size, so small
                                    * directories stay small and large ones are not slowed */
    uint64_t flushed_frame;        /* frames up to here are in segments and not replayed */
    uint64_t purges;               /* number of purges in these segments; a frame that was written
                                    * after more of them is refused */
    bool read_only;                /* replay in memory, write nothing */
    bool salvage;                  /* at damage: keep a copy of the file, go on after the last good
                                    * frame, and say in `err` what was lost (returns 0) */
    uint64_t archive_bytes;        /* keep so many bytes of files whose frames are all flushed in
                                    * the directory archive.  0: all of them if that directory
                                    * exists, else none */
    struct frame_writer *writer;   /* makes frames durable (frame_writer.h) and must outlive the
                                    * log.  NULL: the local disk */
    commit_log_count count;        /* counts the clicks of frames that damage puts at stake, with
                                    * the context of `replay`; NULL: they are not counted */
};

/* Called for every frame past flushed_frame, in order.  The payload is valid during the call. */
typedef int (*commit_log_replay)(void *context, uint64_t frame, int64_t timestamp_us,
                                 struct bytes payload, struct error *err);

/* Called on the engine thread when frames became durable: all up to `frame` are.  `status` is
 * negative when a write, a sync or the making of a file failed: then no further frame will become
 * durable.  After a failure it is called once more when the write under way has ended, before which
 * the log must not be closed. */
typedef void (*commit_log_durable)(void *context, int status, uint64_t frame);

/* Read, check and replay the log in DIR/log, sync the accepted tail, and make the file for the next
 * frames.  `world` must outlive the log.  ERROR_CORRUPT, with file, offset, frame, what is at stake
 * and what to do, for damage and also for missing frames: after flushed_frame, in the middle, or
 * all of them (there is no log file although flushed_frame is not 0).  ERROR_CONFLICT: a frame was
 * written after a purge that the segments do not have.  An error of `replay` is returned as it is.
 * If the disk is full the log opens, and commit_log_has_room is false until there is space. */
must_check int commit_log_open(struct world *world, const struct commit_log_options *options,
                               commit_log_replay replay, commit_log_durable durable, void *context,
                               struct commit_log **log_out, struct error *err);

/* The number of the next frame: one more than that of the last one; 1 in a new directory. */
uint64_t commit_log_next_frame(const struct commit_log *log);
uint64_t commit_log_durable_frame(const struct commit_log *log);
/* The write timestamp, in microseconds, of the last frame replayed or appended; 0 if none. */
int64_t commit_log_last_timestamp(const struct commit_log *log);

/* True while a frame is being written; the engine fills the next frame meanwhile. */
bool commit_log_is_writing(const struct commit_log *log);

/* Whether there is space on disk for a frame of this payload size.  If not, the engine must accept
 * no more writes until `durable` or the callback of commit_log_on_room is called. */
bool commit_log_has_room(struct commit_log *log, size_t payload_size);
/* `room` is called on the engine thread when, after commit_log_has_room returned false, there is
 * more space. */
void commit_log_on_room(struct commit_log *log, void (*room)(void *context), void *context);

/* Why the log cannot make its next file, which it tries again every 250 ms. */
struct commit_log_shortage {
    int status;                    /* an error that error_is_passing; 0: there is no shortage */
    uint64_t bytes;                /* of the file */
    bool stops_frames;             /* commit_log_has_room returned false because of it */
};
struct commit_log_shortage commit_log_shortage(const struct commit_log *log);
/* `changed` is called on the engine thread when the shortage begins, changes or ends. */
void commit_log_on_shortage(struct commit_log *log, void (*changed)(void *context), void *context);

/* Write the next frame, with its write timestamp.  No other frame may be being written, and
 * commit_log_has_room must have returned true for its size.  The log takes the bytes out of
 * `payload` and leaves an empty buffer there, often one with memory. */
void commit_log_append(struct commit_log *log, int64_t timestamp_us, struct buffer *payload);

/* Set how many purges are published; the next frame records it, so that it is not replayed over
 * segments that do not have them.  (After a purge new clicks get other ranks than before it, and a
 * tombstone that was purged hides nothing any more.) */
void commit_log_note_purges(struct commit_log *log, uint64_t purges);

/* Frames up to `frame` are in segments, so files without later ones may be reused. */
void commit_log_flushed(struct commit_log *log, uint64_t frame);

/* ---- what a backup copies ---- */

/* The beginning of log/<file_id>.log: whole records, all of them durable. */
struct commit_log_extent {
    uint32_t file_id;
    uint64_t size;                 /* bytes, a multiple of 4 KiB; 0: nothing is durable yet */
};

/* Until the pin is taken back, files with frames past `frame` stay where they are, and so do the
 * files in the archive.  The pin is in the caller's memory.  Files that were reused before are not
 * restored. */
struct commit_log_pin {
    uint64_t frame;
    struct commit_log_pin *next;   /* private */
};
void commit_log_pin(struct commit_log *log, struct commit_log_pin *pin, uint64_t frame);
void commit_log_unpin(struct commit_log *log, struct commit_log_pin *pin);
/* Whether files whose frames are flushed are kept: there is an archive, or a pin. */
bool commit_log_is_kept(const struct commit_log *log);

/* Append struct commit_log_extent, by file id, for files with frames past `frame` and the file that
 * is being written; and for files that are in the archive or will be moved there from log/. */
void commit_log_extents(const struct commit_log *log, uint64_t frame, struct buffer *extents);
void commit_log_archived(const struct commit_log *log, struct buffer *extents);
/* The write timestamp, in microseconds, of the last durable frame; 0 if there is none. */
int64_t commit_log_durable_timestamp(const struct commit_log *log);

/* ---- what a restore reads ---- */

struct commit_log_range {
    uint64_t frame_after;          /* frames up to this one are left out */
    uint64_t frame_until;          /* the last frame, unless the timestamp below ends the range */
    int64_t timestamp_until_us;    /* frames after this time are left out */
    bool with_archive;             /* read DIR/archive as well */
    uint64_t purges;               /* as in commit_log_options */
};

/* How far the log could be followed. */
struct commit_log_end {
    uint64_t frame;                /* the last one within the range; frame_after if there is none */
    int64_t timestamp_us;          /* its write timestamp; 0 if there is none */
    uint32_t file_id_first;        /* the file in which the range begins; 0: there is none */
    uint32_t file_id;              /* the file in which the last frame ends; 0: none was read */
    uint64_t size;                 /* bytes of that file up to the end of the last frame */
    bool goes_on;                  /* there is a frame behind the range */
    bool is_cut;                   /* the newest file ends in a record that is not whole, as when it
                                    * was copied while it was written */
};

/* Read and check the frames of the range in DIR/log without changing anything.  ERROR_CORRUPT when
 * the log cannot be followed, ERROR_CONFLICT as for commit_log_open; *end_out is set also then. */
must_check int commit_log_scan(struct world *world, const struct commit_log_range *range,
                               struct commit_log_end *end_out, struct error *err);
/* The same, with `replay` called for each frame of the range; its error is returned as it is.
 * ERROR_CORRUPT also when the last frame of the range is missing. */
must_check int commit_log_read(struct world *world, const struct commit_log_range *range,
                               commit_log_replay replay, void *context, struct error *err);

/* Bytes of log files, live and spare ones without the archive; and of frames that are not flushed,
 * to within 1 MiB, and exactly 0 when all are flushed. */
uint64_t commit_log_disk_bytes(const struct commit_log *log);
uint64_t commit_log_unflushed_bytes(const struct commit_log *log);

/* Bytes of the next file that will be made. */
uint64_t commit_log_next_bytes(const struct commit_log *log);
/* How many of the open files were deleted from the directory; `path_out` is the path of one. */
uint32_t commit_log_unlinked(const struct commit_log *log, char path_out[64]);

/* Append the state of the log as lines of text, for debugging. */
void commit_log_dump(const struct commit_log *log, struct buffer *text);

/* True while a job that makes, moves or removes log files is under way. */
bool commit_log_is_busy(const struct commit_log *log);

/* Write the closing record, sync, close.  No frame may be being written; a job under way is waited
 * for.  After a failed write no closing record is written, so the next opening recovers as after a
 * crash.  NULL is fine. */
void commit_log_close(struct commit_log *log);
#endif
