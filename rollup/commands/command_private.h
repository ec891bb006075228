/* command_private: what the rollup's subcommands share. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_PRIVATE_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_PRIVATE_H

#include <argp.h>

#include "base/cli/table_print.h"
#include "rollup/days/rollup_private.h"

enum { RESELLER_SIZE_MAX = 4096, COMMAND_WRITE_SIZE = 64 * 1024 };

/* The days that --day, --from and --to choose; both ends belong to them. */
struct day_choice {
    bool is_limited;
    int32_t from;
    int32_t to;
};
enum { OPTION_DAY = 0x100, OPTION_FROM, OPTION_TO, OPTION_FORMAT, OPTION_STREAM, OPTION_OWN };

/* ---- the subcommands: their options, and what struct command needs of them ---- */

enum rate_action { RATE_NONE, RATE_SET, RATE_DELETE, RATE_LIST, RATE_LOAD };

/* Texts are the command line's own words. */
struct rate_options {
    enum rate_action action;
    uint32_t word_count;               /* after the action */
    const char *words[3];
    bool is_dry_run;
    const char *expect;                /* a rate, or "none" */
    const char *note;
    const char *stream;                /* NULL: clicks; so in all of them */
    enum table_format format;
};
extern const struct argp rate_argp;
bool rate_writes(const void *options);
const char *rate_input_file(const void *options);
void rate_run(void *room, const struct command_request *request, struct command_output *output);

struct rollup_command_options {
    struct day_choice days;
    bool is_dry_run;
    bool is_strict;
    const char *stream;
};
extern const struct argp rollup_argp;
bool rollup_command_writes(const void *options);
void rollup_command_run(void *room, const struct command_request *request,
                        struct command_output *output);

enum retention_action { RETENTION_NONE, RETENTION_SET, RETENTION_OFF, RETENTION_SHOW };

struct retention_options {
    enum retention_action action;
    bool has_days;
    uint32_t days;
    const char *note;
};
extern const struct argp retention_argp;
bool retention_writes(const void *options);
void retention_run(void *room, const struct command_request *request,
                   struct command_output *output);

struct restatements_options {
    struct day_choice days;
    const char *reseller;              /* NULL: all */
    bool has_change;
    uint8_t change[UUID_SIZE];
    bool with_publications;
    const char *stream;
    enum table_format format;
};
extern const struct argp restatements_argp;
void restatements_run(void *room, const struct command_request *request,
                      struct command_output *output);

enum clicks_action { CLICKS_NONE, CLICKS_LIST, CLICKS_VOID, CLICKS_RESTORE };
enum { CLICKS_WHERE_MAX = 8 };

struct clicks_options {
    enum clicks_action action;
    struct day_choice days;
    const char *reseller;
    const char *where[CLICKS_WHERE_MAX];       /* COLUMN=VALUE */
    uint32_t where_count;
    const char *ad;
    bool is_dry_run;
    const char *note;
    enum table_format format;
};
extern const struct argp clicks_argp;
bool clicks_writes(const void *options);
void clicks_run(void *room, const struct command_request *request, struct command_output *output);

struct verify_options {
    bool is_quiet;                     /* no progress */
    bool repairs;
    const char *stream;
};
extern const struct argp verify_argp;
bool verify_writes(const void *options);
void verify_run(void *room, const struct command_request *request, struct command_output *output);

/* ---- helpers ---- */

/* For an argp parser: 0, ARGP_ERR_UNKNOWN for another key, or EINVAL after argp_error. */
int day_choice_parse(struct day_choice *choice, int key, const char *argument,
                     struct argp_state *state);
/* After the options: an empty range is an error; no option is all days. */
int day_choice_finish(struct day_choice *choice, struct argp_state *state);
/* argp_error with the text of `err`, and EINVAL. */
int command_usage(struct argp_state *state, const struct error *err);

/* The line of --stream in a command's options. */
#define OPTION_STREAM_LINE                                                                         \
    {                                                                                              \
        "stream", OPTION_STREAM, "NAME", 0, "of this stream; clicks unless given", 0               \
    }
/* 1 to RESELLER_SIZE_MAX bytes of valid UTF-8 without control characters. */
must_check int reseller_check(struct bytes reseller, struct error *err);

/* Apply `batch` (the caller's, until `done`), again and again while the store is full.  `accepted`
 * is called once it is applied and will be durable, before `done`. */
void command_apply(struct rollup *rollup, struct write_batch *batch,
                   void (*accepted)(void *context), store_done done, void *context);

/* What was written to `text` goes out when it is long enough, or `is_last`. */
void command_flush(struct command_output *output, struct buffer *text, bool is_last);

/* "1 day", "2 days". */
void append_count(struct buffer *text, uint64_t count, const char *singular);
void append_day(struct buffer *text, int32_t day);
#endif
