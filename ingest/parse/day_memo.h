/* day_memo: formats and parses days, and keeps the results, because a batch has many clicks but few
 * days. */
#ifndef DAYBOOK_INGEST_PARSE_DAY_MEMO_H
#define DAYBOOK_INGEST_PARSE_DAY_MEMO_H

#include "base/bytes.h"
#include "base/calendar.h"

enum { DAY_MEMO_SLOTS = 64 };

/* All-zero is an empty memo. */
struct day_memo {
    struct {
        int32_t day;
        char text[DAY_TEXT_SIZE + 1];
    } formatted[DAY_MEMO_SLOTS];
    struct {
        uint64_t text_low;             /* 0: the slot is free */
        uint16_t text_high;
        int32_t day;
    } parsed[DAY_MEMO_SLOTS];
};

/* The day as YYYY-MM-DD; valid until the next call. */
struct bytes day_memo_format(struct day_memo *memo, int32_t day);

/* The same as calendar_day_parse of the DAY_TEXT_SIZE bytes at `text`. */
bool day_memo_parse(struct day_memo *memo, const uint8_t *text, int32_t *day_out);
#endif
