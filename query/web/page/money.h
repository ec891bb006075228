/* money: computes with the exact decimals of commands' answers, for tables and charts of views. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_MONEY_H
#define DAYBOOK_QUERY_WEB_PAGE_MONEY_H

#include "base/decimal.h"

struct arena;

/* Returns the decimal that `digits` are; 0 if they are none, or empty. */
struct decimal money_of(struct bytes digits);
/* Return a + b, or a - b; if the result has too many digits, a. */
struct decimal money_plus(struct decimal a, struct decimal b);
struct decimal money_minus(struct decimal a, struct decimal b);
struct bytes money_digits(struct arena *arena, struct decimal value);
/* Returns the digits with commas between thousands. */
struct bytes money_text(struct arena *arena, struct decimal value);
/* Returns `part` of `whole` as a percentage with one digit after the point, "25.0 %"; empty if
 * `whole` is 0 or a number has too many digits. */
struct bytes money_share(struct arena *arena, struct decimal part, struct decimal whole);
/* Returns a rate as an exact percentage: 0.225 is "22.5 %".  Too many digits: `rate` itself. */
struct bytes money_rate(struct arena *arena, struct bytes rate);
/* Returns the value rounded to a double, for drawing only. */
double money_length(struct decimal value);
#endif
