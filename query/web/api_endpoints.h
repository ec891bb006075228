/* api_endpoints: the table of the addresses under /api/ that subcommands answer. */
#ifndef DAYBOOK_QUERY_WEB_API_ENDPOINTS_H
#define DAYBOOK_QUERY_WEB_API_ENDPOINTS_H

#include <stdbool.h>
#include <stdint.h>

enum api_kind {
    API_OPTION = 1,                    /* --OPTION=VALUE */
    API_FLAG,                          /* --OPTION if the value is "true"; no word if it is
                                        * "false" */
    API_WORD                           /* VALUE, after the options */
};

struct api_parameter {
    const char *name;
    enum api_kind kind;                /* 0: the end of the list */
    const char *option;                /* "--from"; NULL for API_WORD */
    bool is_needed;
    bool repeats;                      /* may be given several times */
};

/* A command, and the parameters that it takes from the request. */
struct api_part {
    const char *member;                /* name in the answer's object; NULL: the rows are the
                                        * answer */
    const char *words[3];              /* "rate", "list"; NULL after the last */
    const struct api_parameter *parameters;
    uint32_t rows_max;                 /* most rows of `member`; 0: `member` is one row as an
                                        * object, or null */
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
    bool has_effects;                  /* takes POST instead of GET, and needs the token */
    const struct api_part *parts;
    uint32_t part_count;
};

/* Returns NULL after the last entry.  A path that takes both GET and POST has two entries. */
const struct api_endpoint *api_endpoints_at(uint32_t index);
#endif
