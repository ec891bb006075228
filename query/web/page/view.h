/* view: makes a page of the web interface, from the request to its HTML.
 *
 *     engine thread   begin ─▶ runs, in order      ┌─▶ runs, in order          ┌─▶ answer
 *                                 │                │          │                │
 *     LANE_VIEW                   └─▶ read, a step ┘          └─▶ read, render ┘
 *
 * A page follows from the parameters of its address and from the data alone.  `begin` requests runs
 * of commands (view_run); when they have ended, `render` writes the HTML of <main>.  view_then adds
 * a step in between, which can request more runs.  Except in view_live.c and view_query.c, commands
 * are the only source of figures, so that a page shows what the command line prints:
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
 * To read answers and to write HTML takes milliseconds, for which the engine thread must not be
 * held.  So steps and `render` are jobs, and each job first reads what the runs before it printed.
 * Of all that changes, a job uses only the call.  A run takes at most about 1,000 rows, because
 * other calls' jobs wait in the same lane.
 *
 * A call is freed when it was answered, or when its client has left and no job has it.
 *
 * The views are view_live.c, view_revenue.c, view_why.c, view_counters.c, view_rejects.c,
 * view_query.c and view_status.c. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_VIEW_H
#define DAYBOOK_QUERY_WEB_PAGE_VIEW_H

#include "base/quota.h"
#include "base/world/world.h"
#include "door/http_door.h"
#include "query/cql/expression/cql_json.h"
#include "query/web/page/html.h"
#include "query/web/page/page.h"
#include "query/web/web_command.h"

enum {
    VIEW_CALLS_MAX = 32,               /* further requests are answered 503 */
    VIEW_BYTES_MAX = 32 << 20,         /* bytes of all calls; runs that need more fail */
    VIEW_RUNS_MAX = 12,                /* runs of a call */
    VIEW_WORDS_MAX = 24,               /* words of a command */
    VIEW_ROWS_MAX = 1000,
    VIEW_RUN_BYTES = 256 << 10         /* a run's rows end after the row that passes this size */
};

struct view_call;
struct newest_day;

struct view {
    const char *path;                  /* "/revenue" */
    const char *title;                 /* "Revenue"; the navigation has it, too */
    const char *script;                /* an asset, "live.js"; NULL: none */
    void (*begin)(struct view_call *call);     /* called on the engine thread, as `post` is */
    void (*render)(struct view_call *call);
    /* Called instead of `begin` for a POST of a form that has the token (web_token.h).  It may
     * change something.  NULL: the view takes no POST. */
    void (*post)(struct view_call *call);
};

struct view_run {
    /* Set when the run has ended and a step begins. */
    const struct cql_json *value;      /* an array of rows, or an object; NULL: the run failed */
    uint64_t total;                    /* rows that the command printed, also rows not taken */
    struct bytes notes;                /* the command's notes; if the run failed, the reason */
    uint16_t status;                   /* HTTP status: 200, or the failure's */

    /* Private to view.c. */
    struct view_call *call;
    const char *words[VIEW_WORDS_MAX];
    uint32_t word_count;
    bool has_values;
    struct row_window window;          /* rows_max is 0 if the command prints an object */
    struct bytes printed;              /* JSON that the next step reads; empty if the run failed */
};

/* What all calls share. */
struct view_room {
    struct page_options options;
    struct quota quota;                /* bytes of all calls; the owner sets the limit */
    uint32_t call_count;
};

struct view_stream_name {
    const char *name;
    const char *currency;              /* of the stream's amounts; "": the directory's */
};

struct view_call {
    /* What a view uses. */
    struct buffer html;                /* content of <main>, after the title */
    struct bytes title;                /* the view's, unless the view sets another */
    struct arena *arena;               /* freed with the call */
    struct http_parameters parameters; /* of the address, or of the POST's form */
    struct bytes base;                 /* path with which every link begins */
    struct bytes origin;               /* "http://localhost:7680", as the client reaches the door */
    const struct page_options *options;        /* a step must not call its functions */
    int64_t wall_ms;                   /* the wall clock when the call began */
    bool may_change;                   /* false: the door is read-only */
    void *state;                       /* the view's own data, in the arena */
    uint16_t status;                   /* of the answer; 200 unless a view sets another */

    struct newest_day *newest;         /* private to newest_day.c */

    /* Private to view.c and page.c. */
    struct view_stream_name *streams;  /* `clicks` first; NULL: the options name none */
    uint32_t stream_count;
    struct view_room *room;
    const struct view *view;
    struct http_exchange *exchange;    /* NULL: the client left during a step */
    void (*next)(struct view_call *call);
    void (*answer)(struct view_call *call);
    struct view_run *runs[VIEW_RUNS_MAX];
    uint32_t run_count;
    uint32_t run_at;                   /* index of the run that is under way or begins next */
    struct web_run *running;           /* NULL: none is under way */
    const char *location;              /* to which the answer redirects; NULL: the answer is a
                                        * page */
    size_t held_bytes;                 /* charged to the room's quota */
    size_t unread_bytes;               /* bytes that runs printed since the last step */
    uint32_t read_count;               /* how many of `runs` a step has read */
    uint32_t pauses;
    struct job job;                    /* a step */
    bool is_stepping;                  /* `begin` is running, or a step is under way */
    void (*abandon)(struct view_call *call);
};

/* ---- for views ---- */

/* Request a run of a command.  The last arguments are the command's name and options, then NULL;
 * --format=json is added, and the stream.  The run begins after the present step.  If the command
 * prints rows, the first `rows_max` rows are taken; if it prints an object, `rows_max` is 0. */
struct view_run *view_run(struct view_call *call, uint64_t rows_max, ...)
    __attribute__((sentinel));
/* Let the command end after the rows that are taken.  `total` is then only the number of rows that
 * the command printed until its end. */
void view_run_stops(struct view_run *run);
/* Add the word OPTION followed by `value`, "--from=2013-11-01", unless `value` is empty. */
void view_run_option(struct view_run *run, const char *option, struct bytes value);
/* Add the word FLAG, "--total". */
void view_run_flag(struct view_run *run, const char *flag);
/* Add a value that is not the argument of an option.  No option may be added after it. */
void view_run_value(struct view_run *run, struct bytes value);
/* When the runs have ended, call `next` instead of the view's `render`.  NULL: answer with the HTML
 * that has been written. */
void view_then(struct view_call *call, void (*next)(struct view_call *call));
/* Do not continue before view_resume is called: the view waits for something that is no command.
 * If the client leaves before, `abandon` is called, and the call must not be used any more.  Only
 * `begin` and `post` may call this. */
void view_pause(struct view_call *call, void (*abandon)(struct view_call *call));
void view_resume(struct view_call *call);
/* Answer with a redirection to the call's base followed by `location`, which begins with the path
 * of a view.  The HTML is not sent. */
void view_redirect(struct view_call *call, struct bytes location);

/* Returns the first value of a parameter; empty: the parameter is not given, or is empty. */
struct bytes view_parameter(const struct view_call *call, const char *name);
bool view_parameter_is(const struct view_call *call, const char *name, const char *value);
/* Returns the text of a member of an object; empty: the member is null, or there is none. */
struct bytes view_member(const struct cql_json *object, const char *name);

/* The stream whose figures are shown, as the address has it; empty: `clicks`.  view_run gives it to
 * the commands that take one.  The links of a view have to keep it. */
struct bytes view_stream(const struct view_call *call);
bool view_is_of_clicks(const struct view_call *call);
/* Write a choice of streams into a form, if there are several. */
void view_put_stream_choice(struct view_call *call);
/* Write a hidden field into a form that has no such choice, so that the form keeps the stream. */
void view_put_stream_field(struct view_call *call);

/* Returns an amount as it is shown outside of tables: with commas, and with the currency if one is
 * set. */
struct bytes view_amount(struct view_call *call, struct bytes digits);

/* Whether the run has succeeded.  If not, this function writes what failed, where, and what to do,
 * and sets the status. */
bool view_has(struct view_call *call, const struct view_run *run);
/* Write an error of the view itself in the form in which view_has writes errors. */
void view_put_error(struct view_call *call, uint16_t status, struct bytes what, const char *where,
                    const char *todo);
/* Whether the command has printed more rows than were taken; false if the run failed. */
bool view_is_cut(const struct view_run *run);
/* If view_is_cut, write for example "These are the newest 1,000 of 2,345 rows." */
void view_put_cut(struct view_call *call, const struct view_run *run, const char *which,
                  const char *what);
/* Write links to `/api/address` with the query, as CSV, JSON and, if it has one, a picture. */
void view_put_export(struct view_call *call, const char *label, const char *address,
                     struct bytes query, bool has_picture);
/* Returns the first row whose member `name` is `value`; NULL: there is none, or the run has
 * failed. */
const struct cql_json *view_find_row(const struct view_run *run, const char *name,
                                     const char *value);
/* Returns a day as commands take it.  A day out of their range becomes the first or the last
 * day. */
struct bytes view_day(struct view_call *call, int32_t day);
/* Write how to send the first click, for a store without clicks. */
void view_put_first_click(struct view_call *call);

/* ---- for page.c ---- */

/* Answer the request, now or later.  When the call has its HTML, `answer` is called, which must end
 * the exchange; then the call is freed.  `room` outlives the call. */
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
