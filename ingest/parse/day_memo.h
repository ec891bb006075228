/* day_memo: formats and parses days, and keeps the results for the next clicks.
 *
 * In a batch of shuffled clicks nearly every line has another (reseller, day) than the line before,
 * but the batch has few days.  Each day is formatted and parsed once, and then found by a
 * comparison. */
#ifndef DAYBOOK_INGEST_PARSE_DAY_MEMO_H
#define DAYBOOK_INGEST_PARSE_DAY_MEMO_H

#include "base/bytes.h"
#include "base/calendar.h"

enum { DAY_MEMO_SLOTS = 64 };          /* of each array; enough for two months */

/* All-zero is an empty memo. */
struct day_memo {
    struct {
        int32_t day;
        char text[DAY_TEXT_SIZE + 1];  /* empty: the slot has no day */
    } formatted[DAY_MEMO_SLOTS];       /* by the day's number modulo DAY_MEMO_SLOTS */
    struct {
        uint64_t text_low;             /* the text's first 8 bytes; 0: the slot has no day */
        uint16_t text_high;            /* its last 2 bytes */
        int32_t day;
    } parsed[DAY_MEMO_SLOTS];          /* by the day of the month, and whether the month is odd */
};

/* The text of a day between DAY_MIN and DAY_MAX; valid until the next call. */
struct bytes day_memo_format(struct day_memo *memo, int32_t day);

/* The same as calendar_day_parse of the DAY_TEXT_SIZE bytes at `text`. */
bool day_memo_parse(struct day_memo *memo, const uint8_t *text, int32_t *day_out);
#endif
