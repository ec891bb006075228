/* commit_log_private: declarations that the files of commit_log.h and the frame writers share.
 *
 * Rules that all of these files follow:
 *
 * - A file id is used once: for a new file, or for a flushed file that is renamed.  A new id is
 *   larger than every id in the directory, so old sectors of a renamed file have smaller ids.
 * - Under one id, a written block is never overwritten with other bytes; only salvage overwrites
 *   blocks, with zeros.  After an unclean stop nothing is added to a file; after a clean stop
 *   records may follow the closing record.
 * - A record is written only after the previous record is synced, so a crash leaves at most one
 *   torn record. */
#ifndef DAYBOOK_STORAGE_LOG_COMMIT_LOG_PRIVATE_H
#define DAYBOOK_STORAGE_LOG_COMMIT_LOG_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/world/world.h"
#include "storage/log/commit_log.h"

enum {
    COMMIT_LOG_SECTOR = 512,       /* bytes that the disk writes wholly or not at all */
    COMMIT_LOG_STAMP = 12,
    COMMIT_LOG_CONTENT = COMMIT_LOG_SECTOR - COMMIT_LOG_STAMP,
    COMMIT_LOG_BLOCK = 4096,       /* records begin at multiples of this */
    COMMIT_LOG_HEADER = 44,
    COMMIT_LOG_PATH = 32,
    COMMIT_LOG_PURGES = 8,         /* bytes at the end of a COMMIT_LOG_PURGED payload */
    COMMIT_LOG_PIECE = 1 << 20     /* bytes read or written at a time */
};

/* On disk: the numbers cannot change. */
enum commit_log_record {
    COMMIT_LOG_FRAME = 0,
    COMMIT_LOG_CLOSING = 1,        /* the last record before a clean stop; it has the number of the
                                    * next frame */
    COMMIT_LOG_OPENING = 2,        /* the first record after a closing record; it has the number of
                                    * the next frame */
    COMMIT_LOG_PURGED = 3          /* the first frame after a purge; its payload ends with the
                                    * number of purges so far, u64 */
};

#define COMMIT_LOG_NEW_NAME "new.tmp"

/* ---- commit_log_frame.c: records and sectors as bytes ---- */

/* The first COMMIT_LOG_HEADER bytes are written to disk as they are. */
struct commit_log_header {
    uint32_t magic;                /* magic and version: set by commit_log_header_encode */
    uint16_t version;
    uint16_t kind;                 /* enum commit_log_record */
    uint64_t frame;
    uint32_t file_id;
    uint32_t payload_size;
    int64_t timestamp_us;
    uint32_t previous_crc;         /* of the previous record; 0: not known */
    uint32_t payload_crc;
    uint32_t crc;                  /* of all members above; set by commit_log_header_encode */
};

/* The state of a sector of the record (file_id, frame). */
enum commit_log_sector {
    COMMIT_LOG_SECTOR_PRESENT,
    COMMIT_LOG_SECTOR_OLD,         /* zeros, or from before the file was renamed */
    COMMIT_LOG_SECTOR_DAMAGED      /* bytes that no crash could leave */
};

/* commit_log_record_bytes counts whole blocks; commit_log_record_sectors counts only the sectors
 * with content. */
uint64_t commit_log_record_bytes(size_t payload_size);
uint64_t commit_log_record_sectors(size_t payload_size);

void commit_log_header_encode(struct commit_log_header *header, uint8_t to[COMMIT_LOG_HEADER]);
/* ERROR_CORRUPT or ERROR_NEWER_FORMAT; `err` says which check failed. */
must_check int commit_log_header_decode(const uint8_t from[COMMIT_LOG_HEADER],
                                        struct commit_log_header *header_out, struct error *err);

bool commit_log_is_frame(const struct commit_log_header *header);
/* `purges_out`: the number of purges that the frame records; 0: none. */
struct bytes commit_log_frame_payload(const struct commit_log_header *header, struct bytes payload,
                                      uint64_t *purges_out);

void commit_log_stamp(uint32_t file_id, uint64_t frame, uint8_t stamp_out[COMMIT_LOG_STAMP]);
enum commit_log_sector commit_log_sector_check(const uint8_t sector[COMMIT_LOG_SECTOR],
                                               uint32_t file_id, uint64_t frame);
/* The frame number in the sector's stamp; the stamp is not checked. */
uint64_t commit_log_sector_frame(const uint8_t sector[COMMIT_LOG_SECTOR]);

void commit_log_record_fill(const struct commit_log_header *header,
                            const uint8_t header_bytes[COMMIT_LOG_HEADER], struct bytes payload,
                            uint64_t sector_first, uint64_t sector_count, uint8_t *to);

/* commit_log_path gives "log/00000001.log" for id 1; commit_log_name_parse takes "00000001.log". */
void commit_log_path(uint32_t file_id, char path[COMMIT_LOG_PATH]);
bool commit_log_name_parse(const char *name, uint32_t *file_id_out);

/* ---- commit_log_reader.c: a file's sectors, read ahead ---- */

struct commit_log_reader;

struct commit_log_reader *commit_log_reader_new(struct world *world);
void commit_log_reader_free(struct commit_log_reader *reader);   /* closes its open file */
/* Also closes the file that was open before. */
must_check int commit_log_reader_open(struct commit_log_reader *reader, const char *path,
                                      uint64_t size, struct error *err);
/* Give at least one sector, from byte `offset` on.  The sectors are valid until the next call. */
must_check int commit_log_reader_at(struct commit_log_reader *reader, uint64_t offset,
                                    const uint8_t **sectors_out, uint64_t *count_out,
                                    struct error *err);
/* Join the content of a record's sectors, with the header.  `shown_out`: DAMAGED if a sector is
 * damaged (joining ends there), else OLD if a sector is old, else PRESENT. */
must_check int commit_log_reader_gather(struct commit_log_reader *reader,
                                        const struct commit_log_header *header, uint64_t offset,
                                        struct buffer *content, enum commit_log_sector *shown_out,
                                        struct error *err);

/* ---- commit_log_recover.c: from files to frames ---- */

struct commit_log_file {
    uint32_t id;
    uint64_t size;
    uint64_t frame_last;           /* the newest frame in the file; 0: none */
    uint64_t used;                 /* bytes of complete records; unknown for archived files */
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
    uint32_t crc_last;             /* of the last record's header; 0: there is none */
    int64_t timestamp_last_us;     /* 0: there is none */
    uint32_t file_id_last;         /* the largest in the directory; 0: there is none */
    bool is_clean;
    struct commit_log_file tail;   /* with is_clean: the file of the closing record; otherwise the
                                    * last file is in `live` or `spare` */
    uint64_t offset;               /* with is_clean: where the next record is written in `tail` */
    uint64_t bytes_unflushed;      /* on disk, of the replayed frames */
    uint64_t purges;
    struct commit_log_files live;  /* files with frames after flushed_frame, by id */
    struct commit_log_files spare; /* other undamaged files, which may be reused */
};

/* ---- commit_log_archive.c: flushed files that are kept ---- */

struct commit_log_archive {
    bool is_on;                    /* the directory exists */
    uint64_t limit;                /* bytes; 0: no limit */
    uint64_t bytes;
    struct commit_log_files files; /* in the order in which they will be removed */
};

/* With a `limit` the directory is made if need be, unless `read_only` is set.  With `limit` 0 the
 * archive is on, without a limit, only if the directory exists. */
must_check int commit_log_archive_open(struct disk *disk, uint64_t limit, bool read_only,
                                       struct commit_log_archive *archive, struct error *err);
/* Take files over the limit out of `archive`, at most `capacity`.  Returns their number; the caller
 * removes the files with these ids. */
size_t commit_log_archive_take(struct commit_log_archive *archive, uint32_t *ids, size_t capacity);
void commit_log_archive_add(struct commit_log_archive *archive, struct commit_log_file file);
/* "archive/00000001.log" */
void commit_log_archive_path(uint32_t file_id, char path[COMMIT_LOG_PATH]);

/* ---- commit_log_file_job.c: the lane of log files ---- */

enum {
    COMMIT_LOG_REMOVE_MAX = 16,    /* the most files that one job removes from log/, archives, or
                                    * removes from archive/ */
    COMMIT_LOG_RETIRED_MAX = 4     /* open files to close; 3 suffice: during a job the current
                                    * file changes at most twice, and one next file is too small */
};

struct commit_log_file_job {
    struct job job;                    /* first: commit_log_file_job_run casts it */
    struct disk *disk;
    struct disk_file *retired[COMMIT_LOG_RETIRED_MAX];
    size_t retired_count;
    uint32_t remove[COMMIT_LOG_REMOVE_MAX]; /* ids, in log/ */
    size_t remove_count;
    struct commit_log_file archive[COMMIT_LOG_REMOVE_MAX]; /* to move from log/ to archive/ */
    int archive_status[COMMIT_LOG_REMOVE_MAX];
    size_t archive_count;
    uint32_t discard[COMMIT_LOG_REMOVE_MAX]; /* ids, in archive/ */
    size_t discard_count;
    bool is_making; /* make `made`: rename `spare`, or make a new file if spare.id is 0 */
    struct commit_log_file spare;
    struct commit_log_file made;
    struct disk_file *made_file;
    int status;
};

void commit_log_file_job_run(struct job *job);

/* ---- commit_log_damage.c: what damage would lose ---- */

struct commit_log_damage {
    uint64_t frame_first;
    uint64_t frame_last;           /* the newest frame with a readable header */
    uint64_t clicks;               /* in the frames that can be read */
    commit_log_count count;
    void *context;
};

/* `reader` must have `file` open. */
void commit_log_damage_add_file(struct commit_log_reader *reader,
                                const struct commit_log_file *file, uint64_t offset,
                                struct commit_log_damage *damage);

/* ---- commit_log_salvage.c, and functions of commit_log_recover.c ---- */

/* End the log before byte `offset` of `file`: rename the `later` files, copy `file` to another
 * name, and zero `file` from that byte on.  Can be repeated after a crash. */
must_check int commit_log_salvage(struct world *world, struct commit_log_file file,
                                  uint64_t offset, const struct commit_log_files *later,
                                  struct error *err);
/* Copy bytes to the same offset; if `to` is `from`, they are written again for the next sync. */
must_check int commit_log_copy(struct disk *disk, struct disk_file *from, struct disk_file *to,
                               uint64_t offset, uint64_t size);

/* The caller calls commit_log_recovered_release, also after an error. */
must_check int commit_log_recover(struct world *world, const struct commit_log_options *options,
                                  commit_log_replay replay, void *context,
                                  struct commit_log_recovered *recovered_out, struct error *err);
void commit_log_recovered_release(struct commit_log_recovered *recovered);
#endif
