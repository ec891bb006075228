/* money: exact decimals of commands' answers, for tables and charts of views. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_MONEY_H
#define DAYBOOK_QUERY_WEB_PAGE_MONEY_H

#include "base/decimal.h"

struct arena;

/* 0 where `digits` are no decimal, or empty. */
struct decimal money_of(struct bytes digits);
/* a + b and a - b; a, where the result has too many digits. */
struct decimal money_plus(struct decimal a, struct decimal b);
struct decimal money_minus(struct decimal a, struct decimal b);
struct bytes money_digits(struct arena *arena, struct decimal value);
/* The same with commas between thousands. */
struct bytes money_text(struct arena *arena, struct decimal value);
/* `part` of `whole` as a percentage with one digit, "25.0 %"; empty where `whole` is 0. */
struct bytes money_share(struct arena *arena, struct decimal part, struct decimal whole);
/* A rate as a percentage, exact: 0.225 is "22.5 %". */
struct bytes money_rate(struct arena *arena, struct bytes rate);
/* For drawing only: it is rounded. */
double money_length(struct decimal value);
#endif
