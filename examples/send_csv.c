/* send_csv: sends clicks from standard input to a daybook server, with libdaybook.
 *
 *     cc send_csv.c $(pkg-config --cflags --libs daybook) -o send_csv
 *     send_csv 127.0.0.1:7600 < clicks.csv
 *
 * A line is reseller,day,time,ad,amount without quotes.  A day is written as 2013-11-28, or empty;
 * a time is milliseconds since 1970; an amount is written as 0.005.  The program prints the counts
 * and, on standard error, each row that was refused.  If the server cannot be reached, it waits
 * without a limit.
 *
 * (`daybook load` is the tool for files.  This program is an example of using the library.) */
#define _GNU_SOURCE /* strptime, timegm */
#include <daybook.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS = 5, LINE_SIZE = 4096 };

/* Split `line` in place at its commas; false: it has not FIELDS fields. */
static bool split(char *line, char *fields[FIELDS])
{
    line[strcspn(line, "\r\n")] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line = strchr(line, ',');
        if ((line == NULL) != (i == FIELDS - 1))
            return false;
        if (line != NULL)
            *line++ = '\0';
    }
    return true;
}

/* Parse YYYY-MM-DD to days since 1970-01-01. */
static bool parse_day(const char *text, int32_t *day_out)
{
    struct tm date = {0};
    const char *end;

    *day_out = DAYBOOK_DAY_NONE;
    if (*text == '\0')
        return true;
    end = strptime(text, "%Y-%m-%d", &date);
    if (end == NULL || *end != '\0')
        return false;
    *day_out = (int32_t)(timegm(&date) / 86400);
    return true;
}

/* Parse 12.50 to 1250 with a scale of 2; money is never converted to a binary fraction. */
static bool parse_amount(const char *text, int64_t *amount_out, uint8_t *scale_out)
{
    const char *point = NULL;
    int64_t amount = 0;

    for (; *text != '\0'; text++)
        if (*text == '.' && point == NULL)
            point = text;
        else if (*text < '0' || *text > '9' || amount > INT64_MAX / 10 - 1)
            return false;
        else
            amount = amount * 10 + (*text - '0');
    *amount_out = amount;
    *scale_out = point == NULL ? 0 : (uint8_t)(text - point - 1);
    return true;
}

static bool parse_click(char *line, struct daybook_click *click)
{
    char *fields[FIELDS];
    char *end;

    *click = (struct daybook_click){0};
    if (!split(line, fields) || !parse_day(fields[1], &click->day) ||
        !parse_amount(fields[4], &click->amount, &click->scale))
        return false;
    click->reseller = fields[0];
    click->time_ms = strtoll(fields[2], &end, 10);
    click->ad = fields[3];
    return *end == '\0' && *fields[2] != '\0';
}

static void print_rejected(void *context, const struct daybook_rejected *rejected)
{
    (void)context;
    if (rejected->row > 0)
        fprintf(stderr, "batch %" PRIu64 " row %" PRIu64 ": %s %s\n", rejected->batch,
                rejected->row, rejected->code, rejected->text);
    else
        fprintf(stderr, "batch %" PRIu64 ": %" PRIu64 " more: %s\n", rejected->batch,
                rejected->count, rejected->code);
}

static int fail(struct daybook *daybook)
{
    fprintf(stderr, "send_csv: %s\n", daybook_error(daybook));
    daybook_close(daybook);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct daybook_options options = {
        .address = argc > 1 ? argv[1] : "127.0.0.1:7600",
        .batch_rows = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0,
        .patience_ms = -1,
        .rejected = print_rejected,
    };
    struct daybook_totals totals;
    struct daybook_click click;
    struct daybook *daybook;
    char line[LINE_SIZE];

    if (daybook_open(&options, &daybook) != 0) {
        fprintf(stderr, "send_csv: the address is HOST:PORT, a batch has up to 65,536 rows\n");
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        if (!parse_click(line, &click))
            fprintf(stderr, "send_csv: not a click: %s\n", line);
        else if (daybook_add(daybook, &click) != 0)
            return fail(daybook);
    if (daybook_sync(daybook) != 0)
        return fail(daybook);
    daybook_totals(daybook, &totals);
    printf("%" PRIu64 " accepted, %" PRIu64 " refused, %" PRIu64 " batches, %" PRIu64
           " of them twice, %" PRIu64 " connections\n",
           totals.accepted, totals.rejected, totals.acknowledged, totals.duplicates,
           totals.connects);
    daybook_close(daybook);
    return EXIT_SUCCESS;
}
