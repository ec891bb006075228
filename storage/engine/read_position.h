/* read_position: where a read goes on behind a page, in bytes that mean the same after a restart.
 *
 *   u8 1, u8 kind, u64 token, key (varint size, bytes), packed clustering when kind is ROW
 *   kind: 0 after a row, 1 after the static row, 2 after the partition
 *
 * They come back from clients, so they are checked like all else that does. */
#ifndef DAYBOOK_STORAGE_ENGINE_READ_POSITION_H
#define DAYBOOK_STORAGE_ENGINE_READ_POSITION_H

#include "storage/engine/store.h"

enum read_position_kind { AFTER_ROW = 0, AFTER_STATIC = 1, AFTER_PARTITION = 2 };

struct read_position {
    bool is_set;                       /* false: from the start */
    enum read_position_kind kind;
    int64_t token;
    struct bytes key;
    struct clustering clustering;      /* after a row */
};

/* Append one. */
void read_position_put(struct buffer *buffer, enum read_position_kind kind, int64_t token,
                       struct bytes key, const struct clustering *clustering);
/* None of no bytes; it refers to `bytes`.  ERROR_INVALID: they are no position. */
must_check int read_position_parse(struct bytes bytes, struct read_position *position_out,
                                   struct error *err);
/* What is left of the slice of a partition that the position lies in; behind all rows that begin as
 * the position does. */
struct slice read_position_rest(const struct read_position *position, struct slice slice);
#endif
