/* storage_conf: reads the keyspaces of a storage-conf.xml (Cassandra 0.3 to 0.6), or of a part of
 * it.
 *
 *     <Keyspace Name="Blog">
 *         <ColumnFamily Name="Comments" ColumnType="Super" CompareWith="TimeUUIDType"
 *             CompareSubcolumnsWith="BytesType"/>
 *     </Keyspace>
 *
 * CompareWith is the type of column names; keys were text and values bytes.  In 0.3 a keyspace was
 * called a Table and column names were text.  All other elements are skipped.  The elements need no
 * root: several may follow each other. */
#ifndef DAYBOOK_QUERY_MODEL_STORAGE_CONF_H
#define DAYBOOK_QUERY_MODEL_STORAGE_CONF_H

#include "query/model/definitions.h"

/* ERROR_INVALID: "line N: ..."; what was added before stays. */
must_check int storage_conf_read(struct bytes text, struct definitions *definitions,
                                 struct error *err);
#endif
