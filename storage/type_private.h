/* type_private: what the type_*.c files share. */
#ifndef DAYBOOK_STORAGE_TYPE_PRIVATE_H
#define DAYBOOK_STORAGE_TYPE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/type.h"

/* A serialized decimal in two parts; at least 4 bytes. */
int32_t type_decimal_scale(struct bytes value);
struct bytes type_decimal_unscaled(struct bytes value);

/* The built-in type of a lowercase name, or NULL. */
const struct type *type_builtin_named(struct bytes name);

/* Bytes of every value of a kind, 0 where they vary. */
size_t type_fixed_size(enum type_kind kind);
#endif
