/* api_endpoints: see the header. */
#include "query/web/api_endpoints.h"

#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
#define OPTION(name) {name, API_OPTION, "--" name, false, false}
#define NEEDED(name) {name, API_OPTION, "--" name, true, false}
#define SEVERAL(name) {name, API_OPTION, "--" name, false, true}
#define FLAG(name) {name, API_FLAG, "--" name, false, false}
#define WORD(name) {name, API_WORD, NULL, false, false}
#define NEEDED_WORD(name) {name, API_WORD, NULL, true, false}
#define END {NULL, 0, NULL, false, false}
/* clang-format on */

static const struct api_parameter report_parameters[] = {
    SEVERAL("reseller"), OPTION("from"),  OPTION("to"),    OPTION("ad"),     OPTION("by"),
    FLAG("total"),       OPTION("as-of"), OPTION("round"), OPTION("stream"), END};
static const struct api_part report_parts[] = {{NULL, {"report"}, report_parameters, 0}};

static const struct api_parameter counters_parameters[] = {WORD("table"), SEVERAL("key"),
                                                           OPTION("top"), END};
static const struct api_part counters_parts[] = {{NULL, {"counters"}, counters_parameters, 0}};

static const struct api_parameter rates_parameters[] = {WORD("reseller"), OPTION("day"),
                                                        OPTION("stream"), END};
static const struct api_part rates_parts[] = {{NULL, {"rate", "list"}, rates_parameters, 0}};
static const struct api_parameter history_parameters[] = {WORD("reseller"), OPTION("stream"), END};
static const struct api_part history_parts[] = {
    {NULL, {"rate", "list", "--history"}, history_parameters, 0}};

#define CHANGE_OPTIONS                                                                             \
    OPTION("expect"), OPTION("note"), OPTION("stream"),                                            \
    {                                                                                              \
        "preview", API_FLAG, "--dry-run", false, false                                             \
    }
static const struct api_parameter rate_set_parameters[] = {
    NEEDED_WORD("reseller"), NEEDED_WORD("day"), NEEDED_WORD("rate"), CHANGE_OPTIONS, END};
static const struct api_part rate_set_parts[] = {{NULL, {"rate", "set"}, rate_set_parameters, 0}};
static const struct api_parameter rate_delete_parameters[] = {
    NEEDED_WORD("reseller"), NEEDED_WORD("day"), CHANGE_OPTIONS, END};
static const struct api_part rate_delete_parts[] = {
    {NULL, {"rate", "delete"}, rate_delete_parameters, 0}};

static const struct api_parameter restatements_parameters[] = {
    OPTION("reseller"), OPTION("day"), OPTION("from"),   OPTION("to"),
    OPTION("change"),   FLAG("all"),   OPTION("stream"), END};
static const struct api_part restatements_parts[] = {
    {NULL, {"restatements"}, restatements_parameters, 0}};

static const struct api_parameter rejects_parameters[] = {OPTION("from"), OPTION("to"),
                                                          OPTION("last"), END};
static const struct api_part rejects_parts[] = {{NULL, {"rejects", "list"}, rejects_parameters, 0}};

static const struct api_parameter status_parameters[] = {END};
static const struct api_part status_parts[] = {{NULL, {"status"}, status_parameters, 0}};

/* /api/explain explains one figure by its parts, the rate in effect and who set it, the ledger of
 * its day, and its newest clicks. */
enum { EXPLAINED_CHANGES = 1000, EXPLAINED_ENTRIES = 1000, EXPLAINED_CLICKS = 100 };
static const struct api_parameter explain_figure[] = {NEEDED("reseller"),
                                                      {"day", API_OPTION, "--from", true, false},
                                                      {"day", API_OPTION, "--to", true, false},
                                                      END};
static const struct api_parameter explain_rate[] = {NEEDED_WORD("reseller"), NEEDED("day"), END};
static const struct api_parameter explain_history[] = {NEEDED_WORD("reseller"), END};
static const struct api_parameter explain_day[] = {NEEDED("reseller"), NEEDED("day"), END};
static const struct api_part explain_parts[] = {
    {"figure", {"report"}, explain_figure, 0},
    {"rate", {"rate", "list"}, explain_rate, 0},
    {"rate_history", {"rate", "list", "--history"}, explain_history, EXPLAINED_CHANGES},
    {"restatements", {"restatements", "--all"}, explain_day, EXPLAINED_ENTRIES},
    {"clicks", {"clicks", "list"}, explain_day, EXPLAINED_CLICKS}};

#define ENDPOINT(name, form, parts)                                                                \
    {                                                                                              \
        "/api/" name, form, false, parts, COUNT_OF(parts)                                          \
    }
#define CHANGE(name, parts)                                                                        \
    {                                                                                              \
        "/api/" name, API_OBJECT, true, parts, COUNT_OF(parts)                                     \
    }

const struct api_endpoint *api_endpoints_at(uint32_t index)
{
    static const struct api_endpoint endpoints[] = {
        ENDPOINT("report", API_TABLE, report_parts),
        ENDPOINT("report.svg", API_PICTURE, report_parts),
        ENDPOINT("counters", API_TABLE, counters_parts),
        ENDPOINT("rates", API_TABLE, rates_parts),
        ENDPOINT("rates/history", API_TABLE, history_parts),
        ENDPOINT("restatements", API_TABLE, restatements_parts),
        ENDPOINT("rejects", API_TABLE, rejects_parts),
        ENDPOINT("status", API_OBJECT, status_parts),
        ENDPOINT("explain", API_PARTS, explain_parts),
        CHANGE("rates", rate_set_parts),
        CHANGE("rates/delete", rate_delete_parts),
    };

    return index < COUNT_OF(endpoints) ? &endpoints[index] : NULL;
}
