/* What CQL may write into the tables that daybook's stream uses: the same that its text door and
 * commands take, so that the rollup and the report never meet a day, rate or amount that they
 * cannot use. */
#include "query/cql/cql_write.h"
#include "rollup/tables.h"
#include "storage/base/calendar.h"

enum { ID_MAX = 4096 };

static bool is_id(struct bytes id)
{
    bool is_plain = id.size > 0 && id.size <= ID_MAX;
    for (size_t i = 0; i < id.size && is_plain; i++) {
        is_plain = id.data[i] >= 0x20 && id.data[i] != 0x7F;
    }
    return is_plain;
}

/* Not negative, and within the digits and the scale of an amount in text. */
static bool is_money(struct bytes value)
{
    struct decimal decimal;
    struct decimal again;
    char text[DECIMAL_TEXT_MAX];
    if (decimal_deserialize(value, &decimal) != 0 || decimal_is_negative(decimal) ||
        decimal.scale < 0) {
        return false;
    }
    size_t size = decimal_format(decimal, text);
    return decimal_parse_input(bytes_of(text, size), &again) == 0;
}

static const struct cell *cell_of(const struct row *row, uint32_t column_id)
{
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if (row->cells[i].column_id == column_id && (row->cells[i].flags & CELL_TOMBSTONE) == 0) {
            return &row->cells[i];
        }
    }
    return NULL;
}

static int check_rate(struct cql_work *work, struct bytes key, const struct row *row)
{
    int32_t day;
    const struct cell *rate = cell_of(row, RESELLER_REWARD_PERCENT);
    if (!is_id(key)) {
        return cql_invalid(&work->fault, "id has 1 to %d bytes without control characters", ID_MAX);
    }
    if (!day_parse(row->clustering.values[0], &day)) {
        return cql_invalid(&work->fault, "effective_since is a day, such as 2013-11-01");
    }
    if (rate != NULL && !is_money(rate->value)) {
        return cql_invalid(&work->fault, "reward_percent is a decimal of at most %d digits, not "
                                         "negative: 0.25 is 25 percent",
                           DECIMAL_INPUT_DIGITS_MAX);
    }
    return 0;
}

static int check_click(struct cql_work *work, struct bytes key, const struct row *row)
{
    struct bytes reseller = CQL_NULL;
    struct bytes day = CQL_NULL;
    int32_t parsed;
    int rc = key_component(key, 2, 0, &reseller);
    rc = rc == 0 ? key_component(key, 2, 1, &day) : rc;
    if (rc != 0 || !is_id(reseller) || !day_parse(day, &parsed)) {
        return cql_invalid(&work->fault, "reseller_id has 1 to %d bytes without control "
                                         "characters, and day is such as 2013-11-01",
                           ID_MAX);
    }
    struct bytes time = row->clustering.values[0];
    if (time.size != 8 || value_bigint(time) < TIME_MS_MIN || value_bigint(time) > TIME_MS_MAX) {
        return cql_invalid(&work->fault, "time lies between 1970 and 9999");
    }
    if (!is_id(row->clustering.values[1])) {
        return cql_invalid(&work->fault, "ad_id has 1 to %d bytes without control characters",
                           ID_MAX);
    }
    const struct cell *amount = cell_of(row, AD_CLICK_AMOUNT);
    if (amount != NULL && !is_money(amount->value)) {
        return cql_invalid(&work->fault, "amount is a decimal of at most %d digits, not negative",
                           DECIMAL_INPUT_DIGITS_MAX);
    }
    return 0;
}

int cql_write_check_stream(struct cql_work *work, const struct cql_write_statement *statement,
                           const struct row *row)
{
    if (row->is_static || (statement->plan->table->flags & TABLE_STREAM) == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < statement->bound.key_count; i++) {
        struct bytes key = statement->bound.keys[i];
        int rc = 0;
        if (statement->plan->table->id == TABLE_RESELLER) {
            rc = check_rate(work, key, row);
        } else if (statement->plan->table->id == TABLE_AD_CLICK) {
            rc = check_click(work, key, row);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
