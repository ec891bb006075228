/* commit_log: the log of all writes of a directory, as numbered frames with one sync each.
 *
 * A frame is acknowledged only after a sync that covers all of it.  Until a file is reused, none of
 * its sectors with acknowledged bytes gets other bytes, except by salvage.  After a crash, exactly
 * the unflushed frames before the first missing sector are replayed, in order.
 *
 * Every 512-byte sector of a frame begins with the file's id and the frame's number.  So a torn
 * tail (some sector has old bytes), which is dropped, can be distinguished from damage (a wrong
 * checksum, or bytes that no crash could leave).  With damage the log opens only with `salvage`.
 *
 * A file is archived, reused or removed when all its frames are flushed and no backup needs it.
 * docs/FORMATS.md "Commit log" has the layout byte by byte.
 *
 * Engine thread only.  Only commit_log_open, commit_log_close, commit_log_scan and commit_log_read
 * wait for the disk. */
#ifndef DAYBOOK_STORAGE_LOG_COMMIT_LOG_H
#define DAYBOOK_STORAGE_LOG_COMMIT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/world/world.h"

struct commit_log;
struct frame_writer;

enum { COMMIT_LOG_PAYLOAD_MAX = 48 << 20 };   /* bytes */

typedef uint64_t (*commit_log_count)(void *context, struct bytes payload);

struct commit_log_options {
    uint64_t file_size;            /* bytes, a multiple of 4 KiB; 0: 64 MiB */
    uint64_t first_file_size;      /* bytes of a file that the opening makes; 0: 1 MiB.  Each later
                                    * file is 8 times as large as the last, up to file_size */
    uint64_t flushed_frame;        /* frames up to this one are not replayed */
    uint64_t purges;               /* number of purges that the segments have; if a frame to be
                                    * replayed was written after more, the opening fails */
    bool read_only;                /* replay in memory, write nothing */
    bool salvage;                  /* at damage: end the log after the last good frame, return 0,
                                    * and describe the loss in `err`.  A copy of the damaged file,
                                    * and later files, stay as *.damaged-*; read_only: no change */
    uint64_t archive_bytes;        /* bytes of flushed log files to keep in directory archive.  0:
                                    * keep all if that directory exists, else none */
    struct frame_writer *writer;   /* makes frames durable; must outlive the log.  NULL: the local
                                    * disk */
    commit_log_count count;        /* counts clicks that damage would lose; gets the context of
                                    * `replay`.  NULL: they are not counted */
};

/* The payload is valid during the call. */
typedef int (*commit_log_replay)(void *context, uint64_t frame, int64_t timestamp_us,
                                 struct bytes payload, struct error *err);

/* Called when all frames up to `frame` are durable.  A negative `status` says that a write, a sync
 * or the making of a file failed, and that no further frame will be written.  A frame being written
 * at that time is reported by one more call.  The log must not be closed before that call. */
typedef void (*commit_log_durable)(void *context, int status, uint64_t frame);

/* Read, check and replay the log in DIR/log.  Unless read_only is set, sync the file with the last
 * frame, and open or make the file for the next frames.  `world` must outlive the log.  If there is
 * no space for a new file, the log opens, and commit_log_has_room is false at first.
 *
 * ERROR_CORRUPT, unless `salvage` is set: the log is damaged, or frames or files are missing.
 * ERROR_CONFLICT: a frame was written after a purge that the segments do not have.
 * ERROR_NEWER_FORMAT: a later version of the program wrote a record.  An error of `replay` is
 * returned unchanged. */
must_check int commit_log_open(struct world *world, const struct commit_log_options *options,
                               commit_log_replay replay, commit_log_durable durable, void *context,
                               struct commit_log **log_out, struct error *err);

struct commit_log_shortage {
    int status;                    /* a temporary error (error_is_passing); 0: no shortage */
    uint64_t bytes;                /* size of the file that could not be made */
    bool stops_frames;             /* frames wait */
};

struct commit_log_status {
    uint64_t frame_next;           /* 1 in a new directory */
    uint64_t frame_durable;
    int64_t timestamp_last_us;     /* of the last frame replayed or appended; 0: none */
    int64_t timestamp_durable_us;  /* of the last durable frame; 0: none */
    bool is_writing;               /* a frame is being written; no other may be appended */
    bool is_busy;                  /* a job closes, makes, archives or removes files */
    uint64_t next_bytes;           /* size of the next file, unless a frame needs more */
    struct commit_log_shortage shortage;
};
/* The log keeps the result up to date until the log is closed. */
const struct commit_log_status *commit_log_status(const struct commit_log *log);

/* Whether the ready log files have space for a frame of this payload size.  If not, the engine
 * accepts no writes until `room` of commit_log_on_space is called, and then calls this function
 * again.  Also false after a failure, for a read-only log, and for a payload over
 * COMMIT_LOG_PAYLOAD_MAX. */
bool commit_log_has_room(struct commit_log *log, size_t payload_size);
/* The callbacks may be NULL.  `room`: a file was made after commit_log_has_room had returned false.
 * `shortage`: the shortage begins, changes or ends. */
void commit_log_on_space(struct commit_log *log, void (*room)(void *context),
                         void (*shortage)(void *context), void *context);

/* Begin to write the next frame.  status.is_writing must be false, and commit_log_has_room must
 * have returned true for the payload's size.  The log takes the contents of `payload`, and leaves
 * it empty. */
void commit_log_append(struct commit_log *log, int64_t timestamp_us, struct buffer *payload);

/* Have the next frame record `purges`, unless a frame has recorded that number.  Then no opening
 * replays the frame over segments without these purges.  A mended clock counts as a purge. */
void commit_log_note_purges(struct commit_log *log, uint64_t purges);

/* Note that all frames up to `frame`, which must be durable, are in segments. */
void commit_log_flushed(struct commit_log *log, uint64_t frame);

/* ---- what a backup copies ---- */

/* From commit_log_extents: the beginning of log/<file_id>.log, in whole durable records.  From
 * commit_log_archived: a whole file. */
struct commit_log_extent {
    uint32_t file_id;
    uint64_t size;                 /* bytes, a multiple of 4 KiB; 0: nothing is durable yet */
};

/* While a pin is set, files with frames after `frame` are not reused, and no file is removed from
 * the archive.  After commit_log_pin_narrow the pin keeps only the files with ids up to
 * `file_last`, and no file of the archive.  The caller owns the pin's memory. */
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
 * `frame`, and the file for new frames, by file id.  commit_log_archived: the files that are in the
 * archive or will be moved to it, in no order. */
void commit_log_extents(const struct commit_log *log, uint64_t frame, struct buffer *extents);
void commit_log_archived(const struct commit_log *log, struct buffer *extents);

/* ---- what a restore reads ---- */

struct commit_log_range {
    uint64_t frame_after;
    uint64_t frame_until;
    int64_t timestamp_until_us;    /* the first frame with a later timestamp ends the range */
    bool with_archive;
    uint64_t purges;               /* as in commit_log_options */
};

struct commit_log_end {
    uint64_t frame;                /* the last frame in the range; frame_after: there is none */
    int64_t timestamp_us;
    uint32_t file_id_first;        /* the file in which reading began; 0: there is none */
    uint32_t file_id;              /* the file in which the last frame ends; 0: no frame was read */
    uint64_t size;                 /* of file_id, up to the end of the last frame */
    bool goes_on;                  /* a frame after the end of the range was read */
    bool is_cut;                   /* the newest file is damaged after its first record, as happens
                                    * when it is copied while being written */
};

/* Check the frames of the range in DIR/log, and change nothing.  ERROR_CORRUPT: the log is damaged,
 * or frames are missing.  ERROR_CONFLICT: as for commit_log_open.  *end_out is also set after an
 * error. */
must_check int commit_log_scan(struct world *world, const struct commit_log_range *range,
                               struct commit_log_end *end_out, struct error *err);
/* As commit_log_scan, and call `replay` for each frame of the range.  An error of `replay` is
 * returned unchanged.  ERROR_CORRUPT also if reading ends before frame_until. */
must_check int commit_log_read(struct world *world, const struct commit_log_range *range,
                               commit_log_replay replay, void *context, struct error *err);

/* Sizes in bytes.  commit_log_disk_bytes: files in log/, except ones to be moved to the archive.
 * commit_log_unflushed_bytes: frames that are not flushed, with an error of up to 1 MiB; exactly 0
 * when all are flushed.  Replayed frames count until all of them are flushed. */
uint64_t commit_log_disk_bytes(const struct commit_log *log);
uint64_t commit_log_unflushed_bytes(const struct commit_log *log);

/* How many of the file for new frames and the one made ready after it were removed from the
 * directory; `path_out`: the path of one of them. */
uint32_t commit_log_unlinked(const struct commit_log *log, char path_out[64]);

void commit_log_dump(const struct commit_log *log, struct buffer *text);

/* Write the closing record, unless the log is read only or has one, and close the log.
 * status.is_writing must be false.  Waits for a job under way.  `log` may be NULL. */
void commit_log_close(struct commit_log *log);
#endif
