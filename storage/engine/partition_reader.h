/* partition_reader: the merged rows of one partition, or of all, of a view; on any thread.
 *
 * One reader per job: it keeps the decoded pages of the view's segments. */
#ifndef DAYBOOK_STORAGE_ENGINE_PARTITION_READER_H
#define DAYBOOK_STORAGE_ENGINE_PARTITION_READER_H

#include "storage/cell/stream.h"
#include "storage/engine/view.h"

struct partition_reader;
/* Readers of a view's segments with their decoded pages; one per job. */
struct partition_reader *partition_reader_new(const struct view *view, const struct table *table);
void partition_reader_free(struct partition_reader *reader);
/* The least (token, key) at or after the given one (after it when `after`).  False: no more.  The
 * key found is the reader's until the seek after the next one: a caller compares it with that. */
bool partition_reader_seek(struct partition_reader *reader, int64_t token, struct bytes key,
                           bool after, int64_t *token_out, struct bytes *key_out);
/* Merged stream of the partition.  `extra` streams (owned) and `extra_rows` (of the open memtable,
 * newest) join in; NULL in *stream_out when there is nothing. */
must_check int partition_reader_stream(struct partition_reader *reader, int64_t token,
                                       struct bytes key, const struct slice *slice,
                                       struct stream **extra, uint32_t extra_count,
                                       const struct columnar_rows *extra_rows,
                                       struct stream **stream_out, struct error *err);
bool partition_reader_has_overwrites(struct partition_reader *reader, int64_t token,
                                     struct bytes key);
#endif
