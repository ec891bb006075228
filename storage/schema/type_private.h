/* type_private: what the type_*.c files share. */
#ifndef DAYBOOK_STORAGE_SCHEMA_TYPE_PRIVATE_H
#define DAYBOOK_STORAGE_SCHEMA_TYPE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

/* A serialized decimal in two parts; at least 4 bytes. */
int32_t type_decimal_scale(struct bytes value);
struct bytes type_decimal_unscaled(struct bytes value);

/* A duration's parts, whose signs may differ yet. */
bool type_duration_parts(struct bytes value, struct type_duration *duration_out);

/* The built-in type of a lowercase name, or NULL. */
const struct type *type_builtin_named(struct bytes name);

/* Appends two lower case digits for each byte. */
void type_format_hex(struct bytes value, struct buffer *text);

/* Bytes of every value of a kind, 0 where they vary. */
size_t type_fixed_size(enum type_kind kind);
#endif
