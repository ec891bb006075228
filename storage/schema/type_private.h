/* type_private: what the files of type.h share:
 *
 *     type.c                 the built-in types, and names of types
 *     type_parse.c           types from their CQL expressions
 *     type_value.c           serialized values and partition keys, taken apart and put together
 *     type_validate.c        whether bytes are a value of a type
 *     type_normalize.c       sets and maps in the one form in which they are stored
 *     type_compare.c         the order of values
 *     type_number.c          numbers of every type as exact decimals
 *     type_text.c            values as text
 *     type_text_parse.c      values from text
 *     type_duration.c        durations: their values and their text */
#ifndef DAYBOOK_STORAGE_SCHEMA_TYPE_PRIVATE_H
#define DAYBOOK_STORAGE_SCHEMA_TYPE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

/* The two parts of a serialized decimal, which has at least 4 bytes. */
int32_t type_decimal_scale(struct bytes value);
struct bytes type_decimal_unscaled(struct bytes value);

/* Unlike type_duration_read, accepts parts whose signs differ. */
bool type_duration_parts(struct bytes value, struct type_duration *duration_out);
/* Append the text of a valid duration: 1y2mo3d4h5m6s7ms8us9ns. */
void type_duration_format(struct bytes value, struct buffer *text);

void type_format_hex(struct bytes value, struct buffer *text);

enum type_trait {
    TYPE_IS_NUMBER = 1,
    TYPE_IS_QUOTED = 2,                /* within collections CQL quotes values of the type */
    TYPE_IS_NEVER_EMPTY = 4,           /* clients may not give an empty value of the type */
    TYPE_IS_INTEGER = 8
};
bool type_has_trait(const struct type *type, enum type_trait trait);
#endif
