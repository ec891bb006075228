/* daybook_answers: reads the server's answers, which are lines in frames (docs/PROTOCOL.md "Binary
 * door").
 *
 *     binary 2                               an older server, which sends no notes, answers 1
 *     reject 3 17 bad_amount "12,3"          passed to the application
 *     rejects 3 bad_amount 831
 *     ok 3 accepted 998 rejected 2           the batch's place in the window is free again
 *     ok 3 duplicate                         the same; the server had the batch already.  The long
 *                                            form may also end with `duplicate`
 *     error 4 sequence_gap expected 3        the last line of the connection
 *     note waiting disk_full 67108864        the server accepts nothing until `note goes_on`; notes
 *                                            with other words are ignored
 *
 * Any other line is DAYBOOK_REFUSED. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/array.h"
#include "client/daybook_private.h"

/* ---- words ---- */

/* At the end of the line the returned word is empty. */
static char *next_word(char **rest)
{
    char *word = *rest;
    char *space = strchr(word, ' ');

    if (space == NULL) {
        *rest = word + strlen(word);
        return word;
    }
    *space = '\0';
    *rest = space + 1;
    return word;
}

static bool next_number(char **rest, uint64_t *number_out)
{
    char *word = next_word(rest);
    uint64_t number = 0;

    if (*word == '\0' || strlen(word) > 19)
        return false;
    for (; *word != '\0'; word++) {
        if (*word < '0' || *word > '9')
            return false;
        number = number * 10 + (uint64_t)(*word - '0');
    }
    *number_out = number;
    return true;
}

/* ---- lines ---- */

/* ok N accepted A rejected R [duplicate], or ok N duplicate */
static bool take_ok(struct daybook *daybook, char *rest)
{
    struct daybook_totals *totals = &daybook->totals;
    uint64_t number;
    uint64_t accepted = 0;
    uint64_t rejected = 0;

    if (!next_number(&rest, &number) || number != totals->acknowledged + 1 ||
        number > daybook->written)
        return false;
    char *word = next_word(&rest);
    if (strcmp(word, "accepted") == 0) {
        if (!next_number(&rest, &accepted) || strcmp(next_word(&rest), "rejected") != 0 ||
            !next_number(&rest, &rejected))
            return false;
        word = next_word(&rest);
    }
    totals->duplicates += strcmp(word, "duplicate") == 0;
    totals->acknowledged = number;
    totals->accepted += accepted;
    totals->rejected += rejected;
    daybook->is_known = true;
    click_batch_clear(&daybook->batches[number % (WINDOW_MAX + 1)]);
    return true;
}

/* reject N ROW CODE TEXT, or rejects N CODE COUNT */
static bool take_reject(struct daybook *daybook, char *rest, bool is_sum)
{
    struct daybook_rejected rejected = {.count = 1, .text = ""};

    if (!next_number(&rest, &rejected.batch) || (!is_sum && !next_number(&rest, &rejected.row)))
        return false;
    rejected.code = next_word(&rest);
    if (is_sum && !next_number(&rest, &rejected.count))
        return false;
    if (!is_sum)
        rejected.text = rest;
    if (daybook->rejected != NULL)
        daybook->rejected(daybook->context, &rejected);
    return true;
}

/* error N WORD; words in `passing` name temporary errors */
static int take_error(struct daybook *daybook, char *rest)
{
    static const char *const passing[] = {"too_many_connections", "too_many_strings",
                                          "store_failed", "too_slow"};
    const char *number = next_word(&rest);
    size_t size = strcspn(rest, " ");

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strlen(passing[i]) == size && memcmp(rest, passing[i], size) == 0)
            return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: the server says: %s",
                                daybook->address, rest);
    return daybook_fail(daybook, DAYBOOK_REFUSED, "%s: batch %s: the server says: %s",
                        daybook->address, number, rest);
}

/* note waiting REASON, or note goes_on */
static void take_note(struct daybook *daybook, char *rest)
{
    char *word = next_word(&rest);

    if (strcmp(word, "waiting") == 0)
        (void)snprintf(daybook->waiting, sizeof daybook->waiting, "%s", next_word(&rest));
    else if (strcmp(word, "goes_on") == 0)
        daybook->waiting[0] = '\0';
}

static int take_line(struct daybook *daybook, char *line, bool *progress)
{
    char whole[80];
    char *rest = line;
    bool is_good = false;

    (void)snprintf(whole, sizeof whole, "%s", line);
    char *word = next_word(&rest);
    if (strcmp(word, "error") == 0)
        return take_error(daybook, rest);
    if (strcmp(word, "ok") == 0) {
        is_good = take_ok(daybook, rest);
        *progress |= is_good;
    } else if (strcmp(word, "reject") == 0) {
        is_good = take_reject(daybook, rest, false);
    } else if (strcmp(word, "rejects") == 0) {
        is_good = take_reject(daybook, rest, true);
    } else if (strcmp(word, "binary") == 0) {
        is_good = strcmp(rest, "1") == 0 || strcmp(rest, "2") == 0;
    } else if (strcmp(word, "note") == 0) {
        take_note(daybook, rest);
        is_good = true;
    }
    return is_good
               ? 0
               : daybook_fail(daybook, DAYBOOK_REFUSED, "%s: not an answer to what was sent: %s",
                              daybook->address, whole);
}

/* ---- frames ---- */

/* The last line may continue in the next frame. */
static int take_text(struct daybook *daybook, const char *text, size_t size, bool *progress)
{
    size_t from = 0;
    int rc = 0;

    if (size == 0)
        return 0;
    if (!array_reserve(&daybook->lines, &daybook->line_capacity, daybook->line_size + size, 1))
        return daybook_fail(daybook, DAYBOOK_NO_MEMORY, "out of memory");
    memcpy(daybook->lines + daybook->line_size, text, size);
    daybook->line_size += size;
    while (rc == 0 && from < daybook->line_size) {
        char *line = daybook->lines + from;
        char *end = memchr(line, '\n', daybook->line_size - from);

        if (end == NULL)
            break;
        *end = '\0';
        from += (size_t)(end - line) + 1;
        rc = take_line(daybook, line, progress);
    }
    memmove(daybook->lines, daybook->lines + from, daybook->line_size - from);
    daybook->line_size -= from;
    if (rc == 0 && daybook->line_size > ANSWER_MAX)
        return daybook_fail(daybook, DAYBOOK_REFUSED, "%s: an answer without an end",
                            daybook->address);
    return rc;
}

int daybook_take_answers(struct daybook *daybook, const uint8_t *bytes, size_t size, bool *progress)
{
    enum frame_reader_result result;
    const char *text;
    size_t text_size;
    int rc = frame_reader_add(&daybook->reader, bytes, size);

    if (rc != 0)
        return daybook_fail(daybook, rc, "out of memory");
    while ((result = frame_reader_next(&daybook->reader, &text, &text_size)) == FRAME_READER_TEXT) {
        rc = take_text(daybook, text, text_size, progress);
        if (rc != 0)
            return rc;
    }
    if (result == FRAME_READER_DAMAGED)
        return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: an answer was damaged on its way",
                            daybook->address);
    if (result == FRAME_READER_FOREIGN)
        return daybook_fail(daybook, DAYBOOK_REFUSED, "%s: no binary door of a daybook",
                            daybook->address);
    return 0;
}
