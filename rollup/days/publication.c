/* publication: see the header.
 *
 * What decides correctness: row and ledger of a day are written in one frame.  So the row says
 * `published` or `sealed` exactly when the ledger has an entry.  The old figure of a restatement is
 * taken from the last ledger entry, so that the chain is unbroken even if the row is damaged. */
#include "rollup/days/publication.h"

#define MINUTE_US INT64_C(60000000)
#define DAY_US    (DAY_MS * 1000)

static int64_t day_end_us(const struct publication_rules *rules, int32_t day)
{
    if (day == DAY_MAX)
        return calendar_zone_day_start(rules->zone, day) * 1000 + DAY_US;
    return calendar_zone_day_start(rules->zone, day + 1) * 1000;
}

int64_t publication_earliest_us(const struct publication_rules *rules, int32_t day)
{
    return day_end_us(rules, day) + rules->publish_after_us;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t publication_due_us(const struct publication_rules *rules, const struct dirty_day *day,
                           int64_t now_us)
{
    int64_t earliest = publication_earliest_us(rules, day->day);
    if (day->first_us < day_end_us(rules, day->day) || day->first_us > now_us + DAY_US)
        return earliest;
    int64_t quiet = least(day->last_us + rules->publish_after_us, day->first_us + DAY_US);
    return quiet > earliest ? quiet : earliest;
}

int64_t publication_restate_us(const struct publication_rules *rules, const struct dirty_day *day,
                               int64_t now_us)
{
    if (day->owed_us > now_us + MINUTE_US)
        return now_us;
    return least(day->last_us + MINUTE_US, day->owed_us + rules->publish_after_us);
}

enum publication_step publication_step(const struct publication_facts *facts)
{
    if (facts->last != NULL) {
        if (figure_equal(&facts->last->new, facts->figure))
            return STEP_SETTLED;
        return facts->may_restate ? STEP_RESTATE : STEP_GATHER;
    }
    if (facts->figure->clicks == 0)
        return STEP_VANISH;
    return facts->may_publish ? STEP_PUBLISH : STEP_KEEP_OPEN;
}
