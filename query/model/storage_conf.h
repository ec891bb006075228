/* storage_conf: reads the keyspaces of a storage-conf.xml (Cassandra 0.3 to 0.6), or of a part of
 * it.
 *
 *     <Keyspace Name="Blog">
 *         <ColumnFamily Name="Comments" ColumnType="Super" CompareWith="TimeUUIDType"
 *             CompareSubcolumnsWith="BytesType"/>
 *     </Keyspace>
 *
 * CompareWith is the type of column names; keys were text and values bytes.  In 0.3 a keyspace was
 * called a Table and column names were text.  ReplicationFactor and Partitioner are read, too; all
 * other elements are skipped.  Several keyspaces may follow each other without a root element. */
#ifndef DAYBOOK_QUERY_MODEL_STORAGE_CONF_H
#define DAYBOOK_QUERY_MODEL_STORAGE_CONF_H

#include "query/model/definitions.h"

/* Add the definitions in `text`.  ERROR_INVALID: the error begins with "line N:", and the
 * definitions before that line stay added. */
must_check int storage_conf_read(struct bytes text, struct definitions *definitions,
                                 struct error *err);
#endif
