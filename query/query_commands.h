/* query_commands: the subcommands of this room, and what their files share. */
#ifndef DAYBOOK_QUERY_QUERY_COMMANDS_H
#define DAYBOOK_QUERY_QUERY_COMMANDS_H

#include <argp.h>

#include "base/cli/table_print.h"
#include "query/query.h"

/* ---- what the commands are made of: query_commands.c puts them together ---- */

enum { REPORT_RESELLERS_MAX = 1000 };
enum report_by { BY_DAY, BY_MONTH, BY_RESELLER, BY_AD, BY_TOTAL };
struct report_options {
    const char *resellers[REPORT_RESELLERS_MAX];
    uint32_t reseller_count;           /* 0: all */
    int32_t day_from;                  /* inclusive at both ends */
    int32_t day_to;
    enum report_by by;
    const char *as_of;                 /* NULL: now */
    const char *stream;                /* NULL: clicks */
    bool is_rounded;
    int32_t round;                     /* digits after the point */
    enum table_format format;
    bool is_chart;                     /* svg, in place of the format */
};
extern const struct argp report_argp;
void report_run(void *room, const struct command_request *request, struct command_output *output);

enum { COUNTER_KEYS_MAX = 2, COUNTERS_TOP_MAX = 1000000 };
struct counter_table;
struct counters_options {
    const struct counter_table *table; /* NULL: all, summed */
    const char *keys[COUNTER_KEYS_MAX];
    uint32_t key_count;
    uint32_t top;                      /* 0: all */
    enum table_format format;
};
extern const struct argp counters_argp;
void counters_run(void *room, const struct command_request *request,
                  struct command_output *output);

struct status_options {
    bool is_check;                     /* answered by a server (program/checking.h) */
    bool is_metrics;
    enum table_format format;          /* TABLE_ALIGNED or TABLE_JSON */
};
extern const struct argp status_argp;
void status_run(void *room, const struct command_request *request, struct command_output *output);

struct inspect_options {
    enum table_format format;
};
extern const struct argp inspect_argp;
void inspect_run(void *room, const struct command_request *request, struct command_output *output);

extern const struct argp compact_argp;             /* without options */
void compact_run(void *room, const struct command_request *request, struct command_output *output);

struct clock_command_options {
    bool accepts;
    bool mends;                        /* where no server holds the directory (program/mending.h) */
    bool is_dry_run;
};
extern const struct argp clock_command_argp;
bool clock_command_writes(const void *options);
void clock_command_run(void *room, const struct command_request *request,
                       struct command_output *output);

struct backup_command_options {
    const char *path;
    bool follows;
    bool stops;
    bool copies;
    uint32_t keep;                     /* 0: not given */
};
extern const struct argp backup_command_argp;
void backup_command_run(void *room, const struct command_request *request,
                        struct command_output *output);

/* ---- what they share ---- */

/* A long answer: rows go into `text`, which leaves in pieces, and no faster than they are read. */
struct query_answer {
    struct command_output *output;
    struct table_print *print;         /* NULL: nothing, or not begun */
    struct buffer text;
};

void query_answer_begin(struct query_answer *answer, struct command_output *output,
                        enum table_format format, const struct table_column *columns,
                        uint32_t column_count);
/* Add a row.  False: enough waits to be read; go on when query_answer_wait calls. */
bool query_answer_row(struct query_answer *answer, const struct bytes *cells);
bool query_answer_has_room(const struct query_answer *answer);
/* Call `drained` once what waits has left, which may be at once. */
void query_answer_wait(struct query_answer *answer, void (*drained)(void *context), void *context);
/* Print the rest; the caller then finishes the output. */
void query_answer_end(struct query_answer *answer);
void query_answer_release(struct query_answer *answer);

/* Figures that come no faster than the answer they go into is read. */
struct query_figures {
    struct query_answer *answer;
    const int *status;                 /* of whom they are given to: not 0 stops them */
    struct figure_reading *reading;    /* paused; NULL: it is not */
};

/* The paused reading goes on, or is stopped: perhaps to its end before this returns. */
void query_figures_go_on(struct query_figures *figures);
/* The same once what waits in the answer has left, which may be at once. */
void query_figures_wait(struct query_figures *figures);

/* --format: true, or an argp error that names what there is. */
bool query_format_parse(const char *name, enum table_format *format_out, struct argp_state *state);

/* The digits of `value`, in `text`. */
struct bytes query_number(uint64_t value, char text[24]);
#endif
