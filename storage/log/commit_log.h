/* commit_log: the log of all writes of a directory, as numbered frames with one sync each.
 *
 * A frame is acknowledged only after a sync that covers all of it.  Until its file is reused, a
 * sector with acknowledged bytes is never overwritten with other bytes, except by salvage.  After
 * a crash exactly the unflushed frames before the first missing sector are replayed, in order, and,
 * unless the log is read_only, synced before commit_log_open returns.
 *
 * Every 512-byte sector has the file's id and the frame's number.  A torn tail (some sector still
 * has its old bytes) can thus be distinguished from damage (all sectors are there, but the checksum
 * is wrong).  A torn tail is dropped.  With damage the log opens only if `salvage` is set;
 * otherwise the error says which frames would be lost.
 *
 * Log files are made and zero-filled before they are needed, on a lane of their own.  A file is
 * reused or archived when all its frames are flushed.  Frames are written past the page cache.
 * Layout byte by byte: FORMATS.md "Commit log".
 *
 * Engine thread only.  Only commit_log_open, commit_log_close, commit_log_scan and
 * commit_log_read wait for the disk. */
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
                                    * further file is 8 times as large, up to file_size, so that
                                    * small directories stay small and large ones are not slowed */
    uint64_t flushed_frame;        /* frames up to this one are in segments and not replayed */
    uint64_t purges;               /* number of purges in the segments; a frame that was written
                                    * after more purges is refused */
    bool read_only;                /* replay in memory, write nothing */
    bool salvage;                  /* at damage: rename the files after the damaged one, copy the
                                    * damaged one, end the log after the last good frame, and return
                                    * 0; `err` describes the loss.  With read_only no file changes.
                                    * If all files are lost, the log begins anew */
    uint64_t archive_bytes;        /* bytes of flushed log files to keep in directory archive.  0:
                                    * keep all if that directory exists, else none */
    struct frame_writer *writer;   /* makes frames durable (frame_writer.h) and must outlive the
                                    * log.  NULL: the local disk */
    commit_log_count count;        /* counts the clicks of frames that would be lost to damage; gets
                                    * the context of `replay`.  NULL: clicks are not counted */
};

/* Called in order for every frame past flushed_frame (commit_log_open) or of the range
 * (commit_log_read).  The payload is valid during the call. */
typedef int (*commit_log_replay)(void *context, uint64_t frame, int64_t timestamp_us,
                                 struct bytes payload, struct error *err);

/* Called on the engine thread when all frames up to `frame` are durable.  A negative `status` says
 * that a write, a sync or the making of a file failed, and that no further frame will be written.
 * If a frame is being written at a failure, the function is called once more when that write has
 * ended, and `frame` may then include that frame; the log must not be closed before. */
typedef void (*commit_log_durable)(void *context, int status, uint64_t frame);

/* Read, check and replay the log in DIR/log.  Unless read_only is set, sync the accepted tail, and
 * open or make the file for the next frames.  `world` must outlive the log.  ERROR_CORRUPT, unless
 * `salvage` is set: the log is damaged, or frames are missing after flushed_frame or between
 * others, or there is no log file although flushed_frame is not 0.  The message about damage has
 * file, offset and frame, and says what would be lost and what to do.  ERROR_CONFLICT: a frame was
 * written after a purge that the segments do not have.  ERROR_NEWER_FORMAT: a later version of the
 * program wrote a record.  An error of `replay` is returned unchanged.  If there is no space for a
 * file that is needed, the log opens, and commit_log_has_room is false until there is space. */
must_check int commit_log_open(struct world *world, const struct commit_log_options *options,
                               commit_log_replay replay, commit_log_durable durable, void *context,
                               struct commit_log **log_out, struct error *err);

/* Why the log cannot make its next file; making it is tried again every 250 ms. */
struct commit_log_shortage {
    int status;                    /* an error that may pass (error_is_passing); 0: there is no
                                    * shortage */
    uint64_t bytes;                /* of the file */
    bool stops_frames;             /* commit_log_has_room has returned false: frames wait */
};

struct commit_log_status {
    uint64_t frame_next;           /* number of the next frame; 1 in a new directory */
    uint64_t frame_durable;
    int64_t timestamp_last_us;     /* of the last frame replayed or appended; 0: none */
    int64_t timestamp_durable_us;  /* of the last durable frame; 0: none */
    bool is_writing;               /* a frame is being written; no other may be appended */
    bool is_busy;                  /* a job makes, moves or removes log files */
    uint64_t next_bytes;           /* size of the next new file, unless a frame needs more */
    struct commit_log_shortage shortage;
};
/* The state of the log, which the log keeps up to date until it is closed. */
const struct commit_log_status *commit_log_status(const struct commit_log *log);

/* Whether the log files that are ready have space for a frame of this payload size.  If not, the
 * engine must accept no more writes until `room` of commit_log_on_space is called, and must then
 * ask again.  The result is also false after a failure, for a log that is read only, and for a
 * payload over COMMIT_LOG_PAYLOAD_MAX. */
bool commit_log_has_room(struct commit_log *log, size_t payload_size);
/* Set the callbacks for a change of space.  They are called on the engine thread; each may be NULL.
 * `room`: a file was made after commit_log_has_room had returned false.  `shortage`: the
 * shortage begins, changes or ends. */
void commit_log_on_space(struct commit_log *log, void (*room)(void *context),
                         void (*shortage)(void *context), void *context);

/* Begin to write the next frame, with its write timestamp.  No other frame may be being written,
 * and commit_log_has_room must have returned true for the payload's size.  The log takes the
 * contents of `payload`.  `payload` is then empty, and may have the memory of an earlier payload
 * for reuse. */
void commit_log_append(struct commit_log *log, int64_t timestamp_us, struct buffer *payload);

/* Set the number of published purges.  If the number has grown, the next frame records it, so that
 * the frame is never replayed over segments without these purges: after a purge, new clicks get
 * other ranks than before, and a purged tombstone no longer hides rows.  A mended clock counts as a
 * purge (engine_restamp.c). */
void commit_log_note_purges(struct commit_log *log, uint64_t purges);

/* Note that all frames up to `frame` are in segments.  They must be durable.  Files without later
 * frames may then be reused or archived. */
void commit_log_flushed(struct commit_log *log, uint64_t frame);

/* ---- what a backup copies ---- */

/* From commit_log_extents: the beginning of log/<file_id>.log, in whole records, all of them
 * durable.  From commit_log_archived: a whole file. */
struct commit_log_extent {
    uint32_t file_id;
    uint64_t size;                 /* bytes, a multiple of 4 KiB; 0: nothing is durable yet */
};

/* While a pin is set, files with frames after `frame` are not reused, and no file is removed from
 * the archive.  The caller owns the pin's memory.  Files that were reused before are not
 * restored.  After commit_log_pin_narrow the pin keeps only the files with ids up to `file_last`,
 * and no file of the archive, so that the log does not grow because of the pin. */
struct commit_log_pin {
    uint64_t frame;
    uint32_t file_last;            /* private; UINT32_MAX: not narrowed */
    struct commit_log_pin *next;   /* private */
};
void commit_log_pin(struct commit_log *log, struct commit_log_pin *pin, uint64_t frame);
void commit_log_pin_narrow(struct commit_log *log, struct commit_log_pin *pin, uint32_t file_last);
void commit_log_unpin(struct commit_log *log, struct commit_log_pin *pin);
/* Whether flushed files are kept: there is an archive or a pin. */
bool commit_log_is_kept(const struct commit_log *log);

/* Append a struct commit_log_extent for each file.  commit_log_extents: the files with frames after
 * `frame`, and the file that is being written, by file id.  commit_log_archived: the files that are
 * in the archive or will be moved from log/ to it, in no order. */
void commit_log_extents(const struct commit_log *log, uint64_t frame, struct buffer *extents);
void commit_log_archived(const struct commit_log *log, struct buffer *extents);

/* ---- what a restore reads ---- */

struct commit_log_range {
    uint64_t frame_after;          /* frames up to this one are left out */
    uint64_t frame_until;          /* frames after this one are left out */
    int64_t timestamp_until_us;    /* the first frame with a later timestamp ends the range */
    bool with_archive;             /* read DIR/archive as well */
    uint64_t purges;               /* as in commit_log_options */
};

/* How far the log could be read. */
struct commit_log_end {
    uint64_t frame;                /* the last within the range; frame_after if there is none */
    int64_t timestamp_us;          /* write timestamp of `frame`; 0 if there is none */
    uint32_t file_id_first;        /* the file in which reading began; 0: there is none */
    uint32_t file_id;              /* the file in which the last frame ends; 0: none was read */
    uint64_t size;                 /* bytes of that file up to the end of the last frame */
    bool goes_on;                  /* a frame with a later timestamp ended the range */
    bool is_cut;                   /* the newest file is damaged after its first record, as when the
                                    * file was copied while it was written */
};

/* Read and check the frames of the range in DIR/log; change nothing.  ERROR_CORRUPT: the log is
 * damaged, or frames are missing.  ERROR_CONFLICT as for commit_log_open.  *end_out is also set
 * after an error. */
must_check int commit_log_scan(struct world *world, const struct commit_log_range *range,
                               struct commit_log_end *end_out, struct error *err);
/* Call `replay` for each frame of the range, and otherwise do as commit_log_scan.  An error of
 * `replay` is returned unchanged.  ERROR_CORRUPT also if reading ends before frame_until. */
must_check int commit_log_read(struct world *world, const struct commit_log_range *range,
                               commit_log_replay replay, void *context, struct error *err);

/* commit_log_disk_bytes: bytes of the files in log/ that have frames or are ready for frames.
 * commit_log_unflushed_bytes: bytes of the frames that are not flushed, to within 1 MiB; exactly 0
 * when all frames are flushed.  The frames that commit_log_open replayed count until all of them
 * are flushed. */
uint64_t commit_log_disk_bytes(const struct commit_log *log);
uint64_t commit_log_unflushed_bytes(const struct commit_log *log);

/* Returns how many of two files, the current one and the next one, were removed from the directory
 * by another process; `path_out` gets the path of one of them. */
uint32_t commit_log_unlinked(const struct commit_log *log, char path_out[64]);

/* Append the state of the log as lines of text, for debugging. */
void commit_log_dump(const struct commit_log *log, struct buffer *text);

/* Write and sync the closing record, unless the log is read only or already ends with one; then
 * close the log.  No frame may be being written.  Waits for the end of a job under way.  After a
 * failed write no closing record is written, so that the next opening recovers as after a crash.
 * `log` may be NULL. */
void commit_log_close(struct commit_log *log);
#endif
