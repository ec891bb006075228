/* openapi: the description of the API for programs, query/web/openapi.json, embedded at build
 * time. */
#ifndef DAYBOOK_QUERY_WEB_OPENAPI_H
#define DAYBOOK_QUERY_WEB_OPENAPI_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t openapi_json[];
extern const size_t openapi_json_size;
#endif
