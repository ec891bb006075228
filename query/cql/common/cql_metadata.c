/* The MD5 covers the columns as protocol 5 writes them, with all fields of user types. */
#include "query/cql/common/cql_metadata.h"

#include "base/md5.h"
#include "codec/notation.h"

enum { VERSION = 5 };

void cql_metadata_id(const struct cql_metadata *metadata, struct arena *arena,
                     uint8_t id[CQL_ID_SIZE])
{
    struct buffer written = {.arena = arena};
    for (uint32_t i = 0; i < metadata->count; i++) {
        const struct cql_column *column = &metadata->columns[i];
        notation_put_text(&written, column->keyspace);
        notation_put_text(&written, column->table);
        notation_put_text(&written, column->name);
        notation_put_type(&written, column->type, column->keyspace, VERSION);
    }
    md5(written.data, written.size, id);
}
