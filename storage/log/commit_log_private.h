/* commit_log_private: what the files of commit_log.h and the writers of frames share.
 *
 * The rules that hold between them:
 *
 * - A file id is given once: to a new file, or by renaming one whose frames are all flushed.  It is
 *   larger than every id in the directory, so all stamps left in a renamed file are smaller.
 * - Under one id, a block that was written is never overwritten with other bytes: after an unclean
 *   stop nothing is added to a file, after a clean stop records may follow the closing one; an
 *   opening writes the last record again unchanged.  So a sector shows its frame or what was there
 *   before the file got its id.
 * - A record is written only after the one before it is synced, so a crash leaves at most one torn
 *   record. */
#ifndef DAYBOOK_STORAGE_LOG_COMMIT_LOG_PRIVATE_H
#define DAYBOOK_STORAGE_LOG_COMMIT_LOG_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/world/world.h"
#include "storage/log/commit_log.h"

enum {
    COMMIT_LOG_SECTOR = 512,       /* the disk writes one whole or not at all */
    COMMIT_LOG_STAMP = 12,         /* bytes before the content of every sector */
    COMMIT_LOG_CONTENT = COMMIT_LOG_SECTOR - COMMIT_LOG_STAMP,
    COMMIT_LOG_BLOCK = 4096,       /* records begin at multiples */
    COMMIT_LOG_HEADER = 44,        /* bytes at the front of a record's content */
    COMMIT_LOG_PATH = 32,
    COMMIT_LOG_PURGES = 8,         /* bytes at the end of the payload of COMMIT_LOG_PURGED */
    COMMIT_LOG_PIECE = 1 << 20     /* bytes read, or laid out and written, at a time */
};

/* Written to disk: the numbers cannot change. */
enum commit_log_record {
    COMMIT_LOG_FRAME = 0,
    COMMIT_LOG_CLOSING = 1,        /* the last record before a clean stop; it has the number of the
                                    * next frame and is no frame itself */
    COMMIT_LOG_OPENING = 2,        /* the first record after a clean stop; likewise */
    COMMIT_LOG_PURGED = 3          /* a frame, the first one after a purge; its payload ends with
                                    * the number of purges so far, u64 */
};

/* The name of a file in the directory log that is being made and has no frames yet. */
#define COMMIT_LOG_NEW_NAME "new.tmp"

/* ---- commit_log_frame.c: records and sectors as bytes ---- */

/* As it lies on disk, in COMMIT_LOG_HEADER bytes. */
struct commit_log_header {
    uint32_t magic;                /* this and the version are set by commit_log_header_encode */
    uint16_t version;
    uint16_t kind;                 /* enum commit_log_record */
    uint64_t frame;
    uint32_t file_id;
    uint32_t payload_size;
    int64_t timestamp_us;
    uint32_t previous_crc;         /* `crc` of the record before, 0 when that is not known */
    uint32_t payload_crc;
    uint32_t crc;                  /* of the header before it; set by encode */
};

/* What a sector shows in the place of one of the record (file_id, frame). */
enum commit_log_sector {
    COMMIT_LOG_SECTOR_PRESENT,     /* the record's sector */
    COMMIT_LOG_SECTOR_OLD,         /* zeros, or a sector from before the file was renamed */
    COMMIT_LOG_SECTOR_DAMAGED      /* bytes that no crash could leave */
};

/* Bytes of a record on disk, a multiple of COMMIT_LOG_BLOCK; and how many of its sectors have
 * content. */
uint64_t commit_log_record_bytes(size_t payload_size);
uint64_t commit_log_record_sectors(size_t payload_size);

void commit_log_header_encode(struct commit_log_header *header, uint8_t to[COMMIT_LOG_HEADER]);
/* ERROR_CORRUPT or ERROR_NEWER_FORMAT; `err` says which check failed. */
must_check int commit_log_header_decode(const uint8_t from[COMMIT_LOG_HEADER],
                                        struct commit_log_header *header_out, struct error *err);

bool commit_log_is_frame(const struct commit_log_header *header);
/* The payload of a frame as it was appended; `purges_out` is the number of purges that the frame
 * records, 0 if it records none. */
struct bytes commit_log_frame_payload(const struct commit_log_header *header, struct bytes payload,
                                      uint64_t *purges_out);

void commit_log_stamp(uint32_t file_id, uint64_t frame, uint8_t stamp_out[COMMIT_LOG_STAMP]);
enum commit_log_sector commit_log_sector_check(const uint8_t sector[COMMIT_LOG_SECTOR],
                                               uint32_t file_id, uint64_t frame);
/* The number of the frame in a sector's stamp, which may be damaged. */
uint64_t commit_log_sector_frame(const uint8_t sector[COMMIT_LOG_SECTOR]);

/* Lay out `sector_count` sectors of a record, from its sector `sector_first` on, into `to`. */
void commit_log_record_fill(const struct commit_log_header *header,
                            const uint8_t header_bytes[COMMIT_LOG_HEADER], struct bytes payload,
                            uint64_t sector_first, uint64_t sector_count, uint8_t *to);

/* "log/00000001.log"; and the id of "00000001.log", false for any other name. */
void commit_log_path(uint32_t file_id, char path[COMMIT_LOG_PATH]);
bool commit_log_name_parse(const char *name, uint32_t *file_id_out);

/* ---- commit_log_reader.c: a file's sectors, read ahead ---- */

struct commit_log_reader;

struct commit_log_reader *commit_log_reader_new(struct world *world);
void commit_log_reader_free(struct commit_log_reader *reader);   /* closes what is open */
/* Open a file of `size` bytes, and close the one that was open. */
must_check int commit_log_reader_open(struct commit_log_reader *reader, const char *path,
                                      uint64_t size, struct error *err);
/* The sectors from `offset` on, at least one, valid until the next call.  Reading forward is fast,
 * because the pieces that follow are read meanwhile. */
must_check int commit_log_reader_at(struct commit_log_reader *reader, uint64_t offset,
                                    const uint8_t **sectors_out, uint64_t *count_out,
                                    struct error *err);
/* Join the content of a record's sectors, header included.  `shown_out` is DAMAGED if a sector is,
 * at which the joining ends, else OLD if a sector is, else PRESENT. */
must_check int commit_log_reader_gather(struct commit_log_reader *reader,
                                        const struct commit_log_header *header, uint64_t offset,
                                        struct buffer *content, enum commit_log_sector *shown_out,
                                        struct error *err);

/* ---- commit_log_recover.c: from files to frames ---- */

/* A log file that is not the one being written. */
struct commit_log_file {
    uint32_t id;
    uint64_t size;
    uint64_t frame_last;           /* its newest frame, 0 if none; after that is flushed the file
                                    * may be reused */
    uint64_t used;                 /* bytes of its whole records; not known for an archived file */
};

struct commit_log_files {
    struct commit_log_file *items;
    uint32_t count;
    uint32_t capacity;
};

void commit_log_files_add(struct commit_log_files *files, struct commit_log_file file);
struct commit_log_file commit_log_files_take(struct commit_log_files *files, uint32_t index);

struct commit_log_recovered {
    uint64_t frame_next;
    uint32_t crc_last;             /* of the last record's header; 0 when there is none */
    int64_t timestamp_last_us;     /* 0 when there is none */
    uint32_t file_id_last;         /* the largest in the directory; 0 in a new one */
    bool is_clean;                 /* the log ends in a closing record, at `offset` of `tail` */
    struct commit_log_file tail;   /* when is_clean; else it is among `live` or `spare` */
    uint64_t offset;
    uint64_t bytes_unflushed;      /* on disk, of the frames that were replayed */
    uint64_t purges;               /* the highest number that a frame recorded */
    struct commit_log_files live;  /* by id: files with frames past flushed_frame */
    struct commit_log_files spare; /* files without */
};

/* ---- commit_log_archive.c: files that are kept although their frames are flushed ---- */

struct commit_log_archive {
    bool is_on;
    uint64_t limit;                /* bytes; 0: none */
    uint64_t bytes;
    struct commit_log_files files; /* by id */
};

/* List the archive.  `limit` is commit_log_options.archive_bytes; if it is over 0 the directory is
 * made. */
must_check int commit_log_archive_open(struct disk *disk, uint64_t limit, bool read_only,
                                       struct commit_log_archive *archive, struct error *err);
/* Take the oldest files beyond the limit, at most `capacity`, off the list; the caller removes
 * them. */
size_t commit_log_archive_take(struct commit_log_archive *archive, uint32_t *ids, size_t capacity);
void commit_log_archive_add(struct commit_log_archive *archive, struct commit_log_file file);
/* "archive/00000001.log" */
void commit_log_archive_path(uint32_t file_id, char path[COMMIT_LOG_PATH]);

/* ---- commit_log_file_job.c: the lane of log files ---- */

enum {
    COMMIT_LOG_REMOVE_MAX = 16,    /* files removed by one file job, and as many archived */
    COMMIT_LOG_RETIRED_MAX = 4     /* during one file job there can be two rotations, and a next
                                    * file that was too small */
};

/* A job on that lane: close, archive and remove files, and make the next one. */
struct commit_log_file_job {
    struct job job;                    /* first, so that it leads to the file job */
    struct disk *disk;
    struct disk_file *retired[COMMIT_LOG_RETIRED_MAX]; /* to close */
    size_t retired_count;
    uint32_t remove[COMMIT_LOG_REMOVE_MAX];
    size_t remove_count;
    struct commit_log_file archive[COMMIT_LOG_REMOVE_MAX]; /* from the log to the archive */
    size_t archive_count;
    uint32_t discard[COMMIT_LOG_REMOVE_MAX]; /* from the archive */
    size_t discard_count;
    bool is_making; /* the file `made`, from `spare` if that has an id, else a new one */
    struct commit_log_file spare;
    struct commit_log_file made;
    struct disk_file *made_file; /* set by the job, open for writing */
    int status;                  /* of making */
};

/* `job` is that of a struct commit_log_file_job. */
void commit_log_file_job_run(struct job *job);

/* ---- commit_log_damage.c ---- */

struct commit_log_damage {
    uint64_t frame_first;          /* the damaged one */
    uint64_t frame_last;           /* the newest one whose header can be read */
    uint64_t clicks;               /* in the frames that can be read */
    commit_log_count count;
    void *context;
};

/* Add the frames in a file from byte `offset` on, which `reader` has open. */
void commit_log_damage_add_file(struct commit_log_reader *reader,
                                const struct commit_log_file *file, uint64_t offset,
                                struct commit_log_damage *damage);

/* ---- commit_log_salvage.c ---- */

/* End the log before byte `offset` of `file`, for ever: the file is copied aside and zeroed from
 * there, and `later` files are moved aside.  After a crash during this it can be run again. */
must_check int commit_log_salvage(struct world *world, struct commit_log_file file,
                                  uint64_t offset, const struct commit_log_files *later,
                                  struct error *err);
/* Copy `size` bytes at `offset` to the same place of `to`, which may be the same file. */
must_check int commit_log_copy(struct disk *disk, struct disk_file *from, struct disk_file *to,
                               uint64_t offset, uint64_t size);

/* Replay as commit_log_open says.  `recovered_out` must be released by commit_log_recovered_release
 * also after an error. */
must_check int commit_log_recover(struct world *world, const struct commit_log_options *options,
                                  commit_log_replay replay, void *context,
                                  struct commit_log_recovered *recovered_out, struct error *err);
void commit_log_recovered_release(struct commit_log_recovered *recovered);
#endif
