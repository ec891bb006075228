/* type_scan: reads a text of a value or a type piece by piece, for the files of type.h. */
#ifndef DAYBOOK_STORAGE_SCHEMA_TYPE_SCAN_H
#define DAYBOOK_STORAGE_SCHEMA_TYPE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* A function that reads moves `at` behind what it read, and returns true.  After false, `at` may be
 * anywhere in the text. */
struct scan {
    const uint8_t *at;
    const uint8_t *end;
};

static inline bool scan_char(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static inline bool scan_is_digit(const struct scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* Read exactly `count` digits. */
static inline bool scan_digits(struct scan *scan, int count, uint64_t *value_out)
{
    *value_out = 0;
    for (int i = 0; i < count; i++) {
        if (!scan_is_digit(scan))
            return false;
        *value_out = *value_out * 10 + (uint64_t)(*scan->at++ - '0');
    }
    return true;
}

/* False: there is no digit, or the number is over `max`. */
static inline bool scan_number(struct scan *scan, uint64_t max, uint64_t *value_out)
{
    uint64_t value = 0;
    bool any = false;

    while (scan_is_digit(scan)) {
        uint64_t digit = (uint64_t)(*scan->at++ - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
        any = true;
    }
    *value_out = value;
    return any;
}
#endif
