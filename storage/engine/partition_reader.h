/* partition_reader: reads the partitions of a view, merged from all its runs.  A reader may be used
 * on any thread, but only by one job. */
#ifndef DAYBOOK_STORAGE_ENGINE_PARTITION_READER_H
#define DAYBOOK_STORAGE_ENGINE_PARTITION_READER_H

#include "storage/cell/stream.h"
#include "storage/engine/view.h"

struct partition_reader;
struct partition_reader *partition_reader_new(const struct view *view, const struct table *table);
void partition_reader_free(struct partition_reader *reader);
/* Find the first partition at (token, key), or behind it; if `after`, only behind it.  False: there
 * is none.  *key_out is valid until the seek after the next one. */
bool partition_reader_seek(struct partition_reader *reader, int64_t token, struct bytes key,
                           bool after, int64_t *token_out, struct bytes *key_out);
/* Open a stream of the partition's items within `slice`.  The stream includes `extra_rows` and the
 * `extra` streams, which are closed with it, or before an error is returned; both are of the open
 * memtable.  *stream_out NULL: the partition has no items. */
must_check int partition_reader_stream(struct partition_reader *reader, int64_t token,
                                       struct bytes key, const struct slice *slice,
                                       struct stream **extra, uint32_t extra_count,
                                       const struct columnar_rows *extra_rows,
                                       struct stream **stream_out, struct error *err);
/* Whether a row run or row memtable of the view has anything of the partition. */
bool partition_reader_has_overwrites(struct partition_reader *reader, int64_t token,
                                     struct bytes key);
#endif
