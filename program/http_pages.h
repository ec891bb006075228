/* http_pages: serves the addresses that monitoring systems read: /healthz, /readyz and /metrics.
 *
 *     /healthz    200 while the process serves its clients
 *     /readyz     200 while clicks are accepted; 503 and the reason if writes wait or have failed
 *     /metrics    all metrics, as `daybook status --metrics` prints them */
#ifndef DAYBOOK_PROGRAM_HTTP_PAGES_H
#define DAYBOOK_PROGRAM_HTTP_PAGES_H

#include "door/http_door.h"
#include "program/instance.h"

/* `instance` outlives the door. */
void http_pages_add(struct http_door *door, struct instance *instance);
#endif
