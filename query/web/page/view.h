/* view: a page of the web interface, from the request for it to its HTML.
 *
 *     begin ─▶ runs, one after another ─▶ next ─▶ ... ─▶ render ─▶ answer
 *
 * A view's address is its state: all that it shows follows from the parameters and the data.
 * `begin` asks for commands (view_run); when they have ended, `render` writes the HTML of <main>.
 * A step in between, which needs the results of the first runs, is set by view_then.  A figure is
 * what the command line prints, as commands are the only source:
 *
 *     static void revenue_begin(struct view_call *call)
 *     {
 *         call->state = view_run(call, 1000, "report", "--by=month", NULL);
 *         view_run_option(call->state, "--reseller=", view_parameter(call, "reseller"));
 *     }
 *
 *     static void revenue_render(struct view_call *call)
 *     {
 *         const struct view_run *run = call->state;
 *
 *         if (!view_has(call, run))              an error was written
 *             return;
 *         for (const struct cql_json *row = run->value->items; row != NULL; row = row->next)
 *             html_put(&call->html, "<p>{}</p>", view_member(row, "month"));
 *     }
 *
 * All that a call has is freed when it was answered, or its client has left.  A step has the engine
 * thread for about a millisecond, so a run takes at most some 1,000 rows.
 *
 * The views are view_live.c, view_revenue.c, view_why.c, view_counters.c, view_rejects.c,
 * view_query.c and view_status.c. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_VIEW_H
#define DAYBOOK_QUERY_WEB_PAGE_VIEW_H

#include "base/quota.h"
#include "door/http_door.h"
#include "query/cql/expression/cql_json.h"
#include "query/web/page/html.h"
#include "query/web/page/page.h"
#include "query/web/web_command.h"

enum {
    VIEW_CALLS_MAX = 32,               /* further requests are answered 503 */
    VIEW_BYTES_MAX = 32 << 20,         /* of all calls: runs for which there is no room fail */
    VIEW_RUNS_MAX = 12,                /* of a call */
    VIEW_WORDS_MAX = 24,               /* of a command */
    VIEW_ROWS_MAX = 1000,
    VIEW_RUN_BYTES = 256 << 10         /* a run's rows end after the one that passes it */
};

struct view_call;
struct newest_day;

struct view {
    const char *path;                  /* "/revenue" */
    const char *title;                 /* "Revenue", in the navigation, too */
    const char *script;                /* an asset, "live.js"; NULL: none */
    void (*begin)(struct view_call *call);
    void (*render)(struct view_call *call);
    /* A POST of a form that has the page's token: instead of `begin`; NULL: there is none.  It
     * may change something. */
    void (*post)(struct view_call *call);
};

struct view_run {
    /* Set when the run has ended. */
    const struct cql_json *value;      /* an array of rows, or an object; NULL: it failed */
    uint64_t total;                    /* rows that the command has printed, with those not taken */
    struct bytes notes;                /* lines that it said; of a failed run: why it failed */
    uint16_t status;                   /* of HTTP: 200, or that of the failure */

    /* Private to view.c. */
    struct view_call *call;
    const char *words[VIEW_WORDS_MAX];
    uint32_t word_count;
    bool has_values;
    struct row_window window;          /* rows_max is 0 if the command prints an object */
};

/* What all calls share. */
struct view_room {
    struct page_options options;
    struct quota quota;                /* of bytes; the owner sets the limit */
    uint32_t call_count;
};

struct view_call {
    /* What a view uses. */
    struct buffer html;                /* of <main>, behind the title */
    struct bytes title;                /* the view's, unless the view sets another */
    struct arena *arena;               /* freed with the call */
    struct http_parameters parameters; /* of the address, or of the POST's form */
    struct bytes base;                 /* every link begins with it */
    const struct page_options *options;
    bool may_change;                   /* false: the door is read-only */
    void *state;                       /* of the view, in the arena */
    uint16_t status;                   /* of the answer; 200 unless a view sets another */

    struct newest_day *newest;         /* private to newest_day.c */

    /* Private to view.c and page.c. */
    struct view_room *room;
    const struct view *view;
    struct http_exchange *exchange;
    void (*next)(struct view_call *call);
    void (*answer)(struct view_call *call);
    struct view_run *runs[VIEW_RUNS_MAX];
    uint32_t run_count;
    uint32_t run_at;                   /* the run that is under way, or next */
    struct web_run *running;           /* NULL: none is under way */
    const char *location;              /* NULL: the answer is a page */
    size_t held_bytes;                 /* of the room's quota */
    uint32_t pauses;
    bool is_stepping;                  /* in a step of the view */
    void (*abandon)(struct view_call *call);
};

/* ---- for views ---- */

/* Ask for a command, whose words are the name of the command and its options, with NULL behind the
 * last; --format=json is added.  The run begins after the step that asks for it.  `rows_max`: it
 * prints rows, of which the first are taken; 0: it prints an object. */
struct view_run *view_run(struct view_call *call, uint64_t rows_max, ...)
    __attribute__((sentinel));
/* No row behind those that are taken is of use: the command may end, and `total` is only what it
 * printed until then. */
void view_run_stops(struct view_run *run);
/* Add the word OPTION followed by `value`, "--from=2013-11-01", unless `value` is empty. */
void view_run_option(struct view_run *run, const char *option, struct bytes value);
/* Add the word FLAG, "--total". */
void view_run_flag(struct view_run *run, const char *flag);
/* Add a value that is the argument of no option.  No option is added behind it. */
void view_run_value(struct view_run *run, struct bytes value);
/* When the runs have ended, call `next` instead of the view's `render`; NULL: answer with what has
 * been written. */
void view_then(struct view_call *call, void (*next)(struct view_call *call));
/* Go on only when view_resume was called, too: the view waits for something that is no command.
 * `abandon` is called if the client leaves before; the call must not be used any more then. */
void view_pause(struct view_call *call, void (*abandon)(struct view_call *call));
void view_resume(struct view_call *call);
/* Answer with a redirection to `location`, which begins with a path of this page; it gets the base
 * before it.  Nothing else is written. */
void view_redirect(struct view_call *call, struct bytes location);

/* The first value of a parameter; empty: it is not given, or given as empty. */
struct bytes view_parameter(const struct view_call *call, const char *name);
bool view_parameter_is(const struct view_call *call, const char *name, const char *value);
/* The text of a member of an object; empty: it is null, or is not there. */
struct bytes view_member(const struct cql_json *object, const char *name);

/* Digits of an amount that stands alone: with commas, and with the currency if one is set. */
struct bytes view_amount(struct view_call *call, struct bytes digits);

/* Whether the run has ended well.  If not, this writes what failed, where, and what to do, and
 * sets the status. */
bool view_has(struct view_call *call, const struct view_run *run);
/* Write the same form for an error of the view's own. */
void view_put_error(struct view_call *call, uint16_t status, struct bytes what, const char *where,
                    const char *todo);
/* Whether the command has printed more rows than were taken; false if it failed. */
bool view_is_cut(const struct view_run *run);
/* If so, write that it is: "These are the newest 1,000 of 2,345 rows." */
void view_put_cut(struct view_call *call, const struct view_run *run, const char *which,
                  const char *what);
/* The first row whose member `name` is `value`; NULL: there is none, or the run has failed. */
const struct cql_json *view_find_row(const struct view_run *run, const char *name,
                                     const char *value);
/* A day as commands take it; one out of their range is the first or the last one. */
struct bytes view_day(struct view_call *call, int32_t day);
/* For a store without clicks: how to send the first one. */
void view_put_first_click(struct view_call *call);

/* ---- for page.c ---- */

/* Answer the request, now or later.  `answer` makes the answer of a call that has its HTML, and
 * ends the exchange; the call is then freed.  `room` outlives the call. */
void view_begin(struct view_room *room, const struct view *view, struct http_exchange *exchange,
                void (*answer)(struct view_call *call));

extern const struct view view_live;
extern const struct view view_revenue;
extern const struct view view_why;
extern const struct view view_counters;
extern const struct view view_rejects;
extern const struct view view_query;
extern const struct view view_status;
#endif
