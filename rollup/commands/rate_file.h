/* rate_file: reads rates as CSV.  A file with a wrong line is refused as a whole.
 *
 *     reseller_id,effective_since,reward_percent
 *     supaboobs,2011-02-13,0.2
 *     "another, Ltd",2013-11-01,25%
 */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_FILE_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_FILE_H

#include "rollup/days/rate.h"

struct rate_edit {
    struct bytes reseller;
    int32_t since;
    bool is_delete;                    /* remove the rate that begins on that day */
    struct decimal rate;               /* unused with is_delete */
};

enum { RATE_FILE_ERRORS_MAX = 20, RATE_FILE_EDITS_MAX = 50000 };

struct rate_file;

/* Returns NULL if a line is wrong; `errors` then has a line for each of the first
 * RATE_FILE_ERRORS_MAX wrong lines, and one more with the number of the others, if there are any.
 * The file keeps no pointer into `text`. */
struct rate_file *rate_file_parse(struct bytes text, struct buffer *errors);
void rate_file_free(struct rate_file *file);                 /* NULL is fine */
/* The rates, by reseller ascending, and for each reseller by day descending. */
const struct rate_edit *rate_file_edits(const struct rate_file *file, uint32_t *count_out);
#endif
