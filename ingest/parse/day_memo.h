/* day_memo: formats and parses days, and keeps the results for the next clicks.
 *
 * Nearly every line of a batch of shuffled clicks names another (reseller, day), but there are few
 * days: each is formatted and parsed once, and then found by a comparison. */
#ifndef DAYBOOK_INGEST_PARSE_DAY_MEMO_H
#define DAYBOOK_INGEST_PARSE_DAY_MEMO_H

#include "base/bytes.h"
#include "base/calendar.h"

enum { DAY_MEMO_SLOTS = 64 };          /* of each kind; enough for two months */

/* All-zero is an empty one. */
struct day_memo {
    struct {
        int32_t day;
        char text[DAY_TEXT_SIZE + 1];  /* empty: none is kept here */
    } formatted[DAY_MEMO_SLOTS];       /* by the day's number modulo their count */
    struct {
        uint64_t text_low;             /* the text's ten bytes; zero: none is kept here */
        uint16_t text_high;
        int32_t day;
    } parsed[DAY_MEMO_SLOTS];          /* by the day of the month, and whether the month is odd */
};

/* The text of a day between DAY_MIN and DAY_MAX: a view that is valid until the next call. */
struct bytes day_memo_format(struct day_memo *memo, int32_t day);

/* calendar_day_parse of DAY_TEXT_SIZE bytes. */
bool day_memo_parse(struct day_memo *memo, const uint8_t *text, int32_t *day_out);
#endif
