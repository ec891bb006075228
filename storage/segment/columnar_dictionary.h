/* columnar_dictionary: the strings of a columnar segment, by number, in pages of their own.
 *
 * Pages of rows name strings by number, so that a string of many partitions is stored once.  If a
 * dictionary is full when a partition begins, it is written, and later pages use a new one.
 * docs/FORMATS.md "Wide dictionary" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_DICTIONARY_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_DICTIONARY_H

#include "storage/segment/segment.h"

enum {
    /* A dictionary is full when it has reached one of these limits. */
    COLUMNAR_DICTIONARY_STRINGS_MAX = 1 << 19, /* strings of all columns */
    COLUMNAR_DICTIONARY_MEMORY_MAX = 128 << 20 /* bytes of the writer's text and tables */
};

/* ---- writing ---- */

struct columnar_dictionary_writer;
/* `table` must outlive the writer. */
struct columnar_dictionary_writer *columnar_dictionary_writer_new(const struct table *table);
void columnar_dictionary_writer_free(struct columnar_dictionary_writer *writer);
/* Returns the string's number in its column; a new string is copied. */
uint32_t columnar_dictionary_add(struct columnar_dictionary_writer *writer, uint32_t column,
                                 struct bytes string);
/* A column's strings by number; the array may move when a string is added. */
const struct bytes *columnar_dictionary_strings(const struct columnar_dictionary_writer *writer,
                                                uint32_t column, uint32_t *count_out);
bool columnar_dictionary_is_full(const struct columnar_dictionary_writer *writer);
uint32_t columnar_dictionary_current(const struct columnar_dictionary_writer *writer);
/* Write the dictionary as pages and begin the next one. */
must_check int columnar_dictionary_write(struct columnar_dictionary_writer *writer,
                                         struct segment_writer *segment, struct error *err);
/* The index of all written dictionaries, which is to become the segment's extra (segment.h). */
struct bytes columnar_dictionary_index(const struct columnar_dictionary_writer *writer);

/* ---- reading ---- */

/* The dictionaries of an open segment, for one thread. */
struct columnar_dictionary;
must_check int columnar_dictionary_open(struct segment *segment, struct columnar_dictionary **out,
                                        struct error *err);
void columnar_dictionary_close(struct columnar_dictionary *dictionary);
/* Take the dictionaries that lie in the segment's pool, with what was loaded of them; NULL: none
 * do.  columnar_dictionary_give closes them for the caller, and leaves them there. */
struct columnar_dictionary *columnar_dictionary_take(struct segment *segment);
void columnar_dictionary_give(struct columnar_dictionary *dictionary);
uint32_t columnar_dictionary_count(const struct columnar_dictionary *dictionary, uint32_t which,
                                   uint32_t column_id);
/* Free the loaded pages if they take much memory; strings that columnar_dictionary_get gave before
 * become invalid. */
void columnar_dictionary_trim(struct columnar_dictionary *dictionary);
/* Gives the string of that number, which is valid until the next trim or the close.  ERROR_CORRUPT
 * if there is no string of that number. */
must_check int columnar_dictionary_get(struct columnar_dictionary *dictionary, uint32_t which,
                                       uint32_t column_id, uint64_t number,
                                       struct bytes *string_out, struct error *err);
#endif
