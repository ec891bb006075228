/* maintenance_private: what maintenance.c, maintenance_flush.c and maintenance_compact.c share. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H

#include "storage/engine/maintenance.h"

/* A job could not be done: those who wait for it are told, and it is tried again in a while, or the
 * engine fails for good where waiting mends nothing. */
void maintenance_job_failed(struct maintenance *maintenance, enum maintenance_kind kind, int status,
                            const struct error *err);
/* One was done: none of its kind waits any more. */
void maintenance_job_succeeded(struct maintenance *maintenance, enum maintenance_kind kind);
/* Tell those who asked for a flush. */
void maintenance_call_flush_waiters(struct maintenance *maintenance, int status,
                                    const struct error *err);
/* Whether runs of the table are being merged: only that merge's edit may name them. */
bool maintenance_is_merging_table(const struct maintenance *maintenance, uint32_t table_id);
#endif
