/* figure_text: whether lines of text, as fixtures print figures and rates, say what a model does.
 *
 * Amounts are in cents, rates in percent; a rate below 0 is none. */
#ifndef DAYBOOK_TESTS_SIM_FIGURE_TEXT_H
#define DAYBOOK_TESTS_SIM_FIGURE_TEXT_H

#include "base/buffer.h"

struct figure_expected {
    uint32_t clicks;
    int64_t cents;
    int64_t percent;
};

/* Whether `figures`, lines of "reseller day clicks gross rate amount state", have the day's; none
 * is as good as one without clicks.  NUL-terminated. */
bool figure_text_matches(const struct buffer *figures, const char *reseller, const char *day,
                         const struct figure_expected *expected);
/* Whether `rates`, lines of "reseller|day|rate", have that one: so many percent, as a number of
 * that scale. */
bool figure_text_has_rate(const struct buffer *rates, const char *reseller, const char *day,
                          int64_t percent, int32_t scale);
#endif
