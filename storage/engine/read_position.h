/* read_position: packs the place where a read continues into bytes that stay valid over a restart.
 *
 *   u8 1, u8 kind, u64 token, key (varint size, bytes), packed clustering when kind is 0
 *   kind: 0 after a row, 1 after the static row, 2 after the partition
 *
 * Positions come back from clients, so they are checked as all input is. */
#ifndef DAYBOOK_STORAGE_ENGINE_READ_POSITION_H
#define DAYBOOK_STORAGE_ENGINE_READ_POSITION_H

#include "storage/engine/store.h"

enum read_position_kind { AFTER_ROW = 0, AFTER_STATIC = 1, AFTER_PARTITION = 2 };

struct read_position {
    bool is_set;                       /* false: from the start */
    enum read_position_kind kind;
    int64_t token;
    struct bytes key;
    struct clustering clustering;
};

void read_position_put(struct buffer *buffer, enum read_position_kind kind, int64_t token,
                       struct bytes key, const struct clustering *clustering);
/* The position points into `bytes`.  If `bytes` is empty, is_set is false.  ERROR_INVALID: `bytes`
 * is not a position. */
must_check int read_position_parse(struct bytes bytes, struct read_position *position_out,
                                   struct error *err);
/* ERROR_INVALID: rows of the table cannot have this clustering. */
must_check int read_position_check(const struct read_position *position, const struct table *table,
                                   struct error *err);
/* The part of `slice` behind the position, which must lie in the partition that is read.  If the
 * position is behind a row, all rows whose clustering begins with that row's are excluded. */
struct slice read_position_rest(const struct read_position *position, struct slice slice);
#endif
