/* day_memo: see day_memo.h.
 *
 * What must hold: a kept day is used only for exactly the same text.  A text that is not a day is
 * never kept. */
#include "ingest/parse/day_memo.h"

struct bytes day_memo_format(struct day_memo *memo, int32_t day)
{
    uint32_t at = (uint32_t)day % DAY_MEMO_SLOTS;

    if (memo->formatted[at].day != day || memo->formatted[at].text[0] == '\0') {
        memo->formatted[at].day = day;
        calendar_day_format(day, memo->formatted[at].text);
    }
    return bytes_of(memo->formatted[at].text, DAY_TEXT_SIZE);
}

bool day_memo_parse(struct day_memo *memo, const uint8_t *text, int32_t *day_out)
{
    uint64_t low = load_u64(text);
    uint16_t high = load_u16(text + 8);
    uint32_t at = (text[8] * 10U + text[9] + (text[6] & 1U) * 32) % DAY_MEMO_SLOTS;

    if (memo->parsed[at].text_low == low && memo->parsed[at].text_high == high && low != 0) {
        *day_out = memo->parsed[at].day;
        return true;
    }
    if (!calendar_day_parse(bytes_of(text, DAY_TEXT_SIZE), day_out))
        return false;
    memo->parsed[at].text_low = low;
    memo->parsed[at].text_high = high;
    memo->parsed[at].day = *day_out;
    return true;
}
