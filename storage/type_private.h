/* type_private: what the type_*.c files share: reading the insides of serialized values. */
#ifndef DAYBOOK_STORAGE_TYPE_PRIVATE_H
#define DAYBOOK_STORAGE_TYPE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/type.h"

/* The sized items of a collection, tuple or UDT, each [int size][bytes], size -1 being a null. */
struct type_items {
    struct reader reader;
    uint32_t count;                    /* list, set: items; map: items, two a pair; tuple: fields */
};

/* What `value` of this type holds.  False when the count is damaged.  A tuple may end early: its
 * missing fields come out as nulls. */
bool type_items_open(const struct type *type, struct bytes value, struct type_items *items_out);

/* The next item; a null has data NULL.  False when it is damaged. */
bool type_items_next(struct type_items *items, struct bytes *item_out);

/* The type of item `index`. */
const struct type *type_item_type(const struct type *type, uint32_t index);

/* A duration's parts; all have the same sign. */
struct type_duration {
    int32_t months;
    int32_t days;
    int64_t nanoseconds;
};

bool type_duration_read(struct bytes value, struct type_duration *duration_out);
void type_duration_write(struct type_duration duration, struct buffer *value);

/* A serialized decimal in two parts; at least 4 bytes. */
int32_t type_decimal_scale(struct bytes value);
struct bytes type_decimal_unscaled(struct bytes value);

/* The built-in type of a lowercase name, or NULL. */
const struct type *type_builtin_named(struct bytes name);

/* Bytes of every value of a kind, 0 where they vary. */
size_t type_fixed_size(enum type_kind kind);
#endif
