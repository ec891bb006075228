/* wire: the constants of the binary ingest protocol, for the server and the client library.
 *
 * docs/PROTOCOL.md "Binary door" has an example.  All numbers are little-endian.
 *
 *     connection   magic, then frames
 *     frame        0 u32 size of the payload | 4 u8 kind | 5 zero[3] | 8 u32 crc32c | 12 payload
 *
 * The checksum is over the first 8 bytes of the header and the payload. */
#ifndef DAYBOOK_CLIENT_WIRE_H
#define DAYBOOK_CLIENT_WIRE_H

#include <stdint.h>

/* No line of text begins like the magic, because 0x89 begins no UTF-8 character. */
#define WIRE_MAGIC "\x89" "DBB\r\n\x1a\n"

enum {
    WIRE_MAGIC_SIZE = 8,
    WIRE_VERSION_OLDEST = 1,
    WIRE_VERSION_NOTES = 2,            /* the server sends notes from this version on */
    WIRE_VERSION = 2,
    WIRE_HEADER_SIZE = 12,
    WIRE_PAYLOAD_MAX = 8 << 20
};

enum wire_kind {
    WIRE_HELLO = 1,                    /* the first frame */
    WIRE_CONTROL = 2,                  /* a line without its LF */
    WIRE_STRINGS = 3,                  /* new entries of the dictionary */
    WIRE_BATCH = 4,                    /* clicks as columns */
    WIRE_LINES = 5,                    /* clicks as lines of text */
    WIRE_ANSWER = 128                  /* from the server: lines */
};

/* HELLO: 0 u16 oldest | 2 u16 newest version | 4 zero[4]. */
enum { WIRE_HELLO_SIZE = 8 };

/* STRINGS: 0 u32 flags | 4 u32 count | 8 u16 sizes[count] | the strings, one after the other. */
enum {
    WIRE_STRINGS_HEADER = 8,
    WIRE_STRINGS_FORGET = 1,           /* empty the dictionary first */
    WIRE_STRINGS_MAX = 1 << 18,        /* entries of a dictionary */
    WIRE_STRINGS_BYTES_MAX = 16 << 20  /* bytes of all entries */
};

/* BATCH: the header, the tables, the columns.
 *
 *      0  u64  number of the batch; 0: the rows do not belong to a numbered batch
 *      8  u32  rows
 *     12  u32  partitions
 *     16  u32  ads
 *     20  u8   width of a partition code: 0, 1, 2, 4
 *     21  u8   width of an ad code: 0, 1, 2, 4
 *     22  u8   width of a time: 0, 1, 2, 4, 8
 *     23  u8   width of an amount: 0, 1, 2, 4, 8
 *     24  i64  base of times, ms since 1970
 *     32  i64  base of amounts, unscaled
 *     40  u8   scale of all amounts; 255: each row has its own
 *     41       zero[7]
 *     48  u32  reseller[partitions], entries of the dictionary
 *         i32  day[partitions], days since 1970-01-01; WIRE_DAY_NONE: computed from the time
 *         u32  ad[ads], entries of the dictionary
 *         partition codes, ad codes, times, amounts: rows * width each
 *         u8   scale[rows], if each row has its own */
enum {
    WIRE_BATCH_HEADER = 48,
    WIRE_BATCH_ROWS_MAX = 1 << 20,
    WIRE_SCALE_MAX = 18,
    WIRE_SCALE_OF_ROW = 255
};
#define WIRE_DAY_NONE INT32_MIN

/* LINES: 0 u64 number of the batch | 8 u32 lines | 12 u8 form | 13 u8 fields of a line |
 *        14 u8 field[5], the places of reseller, day, time, ad and amount in a line |
 *        19 u8 the place of the click's id, plus one; 0: clicks have no ids | 20 zero[4] |
 *        24 the lines, each with its LF */
enum {
    WIRE_LINES_HEADER = 24,
    WIRE_LINES_CSV = 0,
    WIRE_LINES_NDJSON = 1,             /* fields is 0, and each field[] is WIRE_FIELD_NONE */
    WIRE_FIELD_NONE = 255              /* lines have no day, or are NDJSON */
};
#endif
