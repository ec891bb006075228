/* type_private: what the files of type.h share:
 *
 *     type.c                 the built-in types, and names of types
 *     type_parse.c           types from CQL's expressions of them
 *     type_value.c           serialized values and partition keys, taken apart and put together
 *     type_validate.c        whether bytes are a value of a type
 *     type_normalize.c       sets and maps in the one form in which they are stored
 *     type_compare.c         the order of values
 *     type_number.c          numbers of every type as exact decimals
 *     type_text.c            values as text
 *     type_text_parse.c      values from text,
 *     type_duration_parse.c  durations among them */
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
