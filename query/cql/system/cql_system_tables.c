/* The columns of the system tables are those of Cassandra 5.0.9. */
#include "query/cql/system/cql_system.h"

#define OPTIONS                                                                                    \
    "additional_write_policy text r, allow_auto_snapshot boolean r, "                              \
    "bloom_filter_fp_chance double r, caching frozen<map<text;text>> r, cdc boolean r, "           \
    "comment text r, compaction frozen<map<text;text>> r, "                                        \
    "compression frozen<map<text;text>> r, crc_check_chance double r, "                            \
    "dclocal_read_repair_chance double r, default_time_to_live int r, "                            \
    "extensions frozen<map<text;blob>> r, "

#define OPTIONS_AFTER                                                                              \
    "incremental_backups boolean r, max_index_interval int r, memtable text r, "                   \
    "memtable_flush_period_in_ms int r, min_index_interval int r, read_repair text r, "            \
    "read_repair_chance double r, speculative_retry text r"

static const struct cql_system_table tables[] = {
    {"system", "local",
     "key text p, bootstrapped text r, broadcast_address inet r, broadcast_port int r, "
     "cluster_name text r, cql_version text r, data_center text r, gossip_generation int r, "
     "host_id uuid r, listen_address inet r, listen_port int r, native_protocol_version text r, "
     "partitioner text r, rack text r, release_version text r, rpc_address inet r, rpc_port int r, "
     "schema_version uuid r, tokens set<text> r, truncated_at map<uuid;blob> r",
     "information about the local node"},
    {"system", "peers",
     "peer inet p, data_center text r, host_id uuid r, preferred_ip inet r, rack text r, "
     "release_version text r, rpc_address inet r, schema_version uuid r, tokens set<text> r",
     "information about known peers in the cluster"},
    {"system", "peers_v2",
     "peer inet p, peer_port int c, data_center text r, host_id uuid r, native_address inet r, "
     "native_port int r, preferred_ip inet r, preferred_port int r, rack text r, "
     "release_version text r, schema_version uuid r, tokens set<text> r",
     "information about known peers in the cluster"},
    {"system", "prepared_statements",
     "prepared_id blob p, logged_keyspace text r, query_string text r", "prepared statements"},
    {"system", "size_estimates",
     "keyspace_name text p, table_name text c, range_start text c, range_end text c, "
     "mean_partition_size bigint r, partitions_count bigint r",
     "per-table primary range size estimates"},
    {"system", "IndexInfo", "table_name text p, index_name text c, value blob r",
     "built column indexes"},
    {"system_schema", "keyspaces",
     "keyspace_name text p, durable_writes boolean r, replication frozen<map<text;text>> r",
     "keyspace definitions"},
    {"system_schema", "tables",
     "keyspace_name text p, table_name text c, " OPTIONS
     "flags frozen<set<text>> r, gc_grace_seconds int r, id uuid r, " OPTIONS_AFTER,
     "table definitions"},
    {"system_schema", "columns",
     "keyspace_name text p, table_name text c, column_name text c, clustering_order text r, "
     "column_name_bytes blob r, kind text r, position int r, type text r",
     "column definitions"},
    {"system_schema", "column_masks",
     "keyspace_name text p, table_name text c, column_name text c, "
     "function_argument_nulls frozen<list<boolean>> r, "
     "function_argument_types frozen<list<text>> r, "
     "function_argument_values frozen<list<text>> r, function_keyspace text r, "
     "function_name text r",
     "column dynamic data masks"},
    {"system_schema", "dropped_columns",
     "keyspace_name text p, table_name text c, column_name text c, dropped_time timestamp r, "
     "kind text r, type text r",
     "dropped column registry"},
    {"system_schema", "types",
     "keyspace_name text p, type_name text c, field_names frozen<list<text>> r, "
     "field_types frozen<list<text>> r",
     "user defined type definitions"},
    {"system_schema", "indexes",
     "keyspace_name text p, table_name text c, index_name text c, kind text r, "
     "options frozen<map<text;text>> r",
     "secondary index definitions"},
    {"system_schema", "triggers",
     "keyspace_name text p, table_name text c, trigger_name text c, "
     "options frozen<map<text;text>> r",
     "trigger definitions"},
    {"system_schema", "views",
     "keyspace_name text p, view_name text c, " OPTIONS
     "base_table_id uuid r, base_table_name text r, gc_grace_seconds int r, id uuid r, "
     "include_all_columns boolean r, where_clause text r, " OPTIONS_AFTER,
     "view definitions"},
    {"system_schema", "functions",
     "keyspace_name text p, function_name text c, argument_types frozen<list<text>> c, "
     "argument_names frozen<list<text>> r, body text r, called_on_null_input boolean r, "
     "language text r, return_type text r",
     "user defined function definitions"},
    {"system_schema", "aggregates",
     "keyspace_name text p, aggregate_name text c, argument_types frozen<list<text>> c, "
     "final_func text r, initcond text r, return_type text r, state_func text r, state_type text r",
     "user defined aggregate definitions"},
    {"system_virtual_schema", "keyspaces", "keyspace_name text p", "virtual keyspace definitions"},
    {"system_virtual_schema", "tables", "keyspace_name text p, table_name text c, comment text r",
     "virtual table definitions"},
    {"system_virtual_schema", "columns",
     "keyspace_name text p, table_name text c, column_name text c, clustering_order text r, "
     "column_name_bytes blob r, kind text r, position int r, type text r",
     "virtual column definitions"},
    {"system_traces", "sessions",
     "session_id uuid p, client inet r, command text r, coordinator inet r, "
     "coordinator_port int r, duration int r, parameters map<text;text> r, request text r, "
     "started_at timestamp r",
     "tracing sessions"},
    {"system_traces", "events",
     "session_id uuid p, event_id timeuuid c, activity text r, source inet r, source_port int r, "
     "source_elapsed int r, thread text r",
     "tracing events"},
};

const struct cql_system_table *cql_system_tables(uint32_t *count_out)
{
    *count_out = sizeof(tables) / sizeof(tables[0]);
    return tables;
}
