/* api_endpoints: the addresses under /api/ that subcommands answer, with their parameters. */
#ifndef DAYBOOK_QUERY_WEB_API_ENDPOINTS_H
#define DAYBOOK_QUERY_WEB_API_ENDPOINTS_H

#include <stdbool.h>
#include <stdint.h>

enum api_kind {
    API_OPTION = 1,                    /* --OPTION=VALUE */
    API_FLAG,                          /* --OPTION if the value is "true"; "false" is nothing */
    API_WORD                           /* VALUE, behind the options */
};

struct api_parameter {
    const char *name;
    enum api_kind kind;                /* 0: the end of the list */
    const char *option;                /* "--from"; NULL for API_WORD */
    bool is_needed;
    bool repeats;                      /* may be given several times */
};

/* A command, and what of the request it gets. */
struct api_part {
    const char *member;                /* of the object that answers; NULL: the answer's rows */
    const char *words[3];              /* "rate", "list"; NULL behind the last */
    const struct api_parameter *parameters;
    uint32_t rows_max;                 /* of `member`; 0: one row, as an object, or null */
};

enum api_form {
    API_TABLE,                         /* rows, in pages, also as CSV */
    API_OBJECT,                        /* the command prints an object */
    API_PICTURE,                       /* the command prints SVG */
    API_PARTS                          /* an object of several commands' rows */
};

struct api_endpoint {
    const char *path;                  /* "/api/report" */
    enum api_form form;
    bool has_effects;                  /* is asked by POST, with the token */
    const struct api_part *parts;
    uint32_t part_count;
};

/* NULL after the last.  A path is asked by GET, by POST, or by both, of which each has an entry. */
const struct api_endpoint *api_endpoints_at(uint32_t index);
#endif
