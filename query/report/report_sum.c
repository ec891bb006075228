/* report_sum: see the header. */
#include "query/report/report_sum.h"

struct report_sum report_sum_of_day(const struct day_figure *figure)
{
    struct report_sum sum = {.clicks = figure->clicks, .gross = figure->gross};
    if (figure->is_priced)
        sum.amount = figure->amount;
    else if (day_figure_is_unpriced(figure)) {
        sum.unpriced_days = 1;
        sum.unpriced_gross = figure->gross;
    }
    return sum;
}

int report_sum_add(struct report_sum *sum, const struct report_sum *term)
{
    sum->clicks += term->clicks;
    sum->unpriced_days += term->unpriced_days;
    int rc = decimal_add(sum->gross, term->gross, &sum->gross);
    rc = rc == 0 ? decimal_add(sum->amount, term->amount, &sum->amount) : rc;
    if (rc == 0 && (term->unpriced_days > 0 || !decimal_is_zero(term->unpriced_gross)))
        rc = decimal_add(sum->unpriced_gross, term->unpriced_gross, &sum->unpriced_gross);
    return rc;
}
