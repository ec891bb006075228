/* Names and types, a line a column. */
#include "query/cql/common/cql_metadata.h"

#include "storage/schema/type.h"
#include "base/md5.h"

void cql_metadata_print(const struct cql_metadata *metadata, struct buffer *text)
{
    for (uint32_t i = 0; i < metadata->count; i++) {
        const struct cql_column *column = &metadata->columns[i];
        buffer_printf(text, "%s.%s.%s ", column->keyspace, column->table, column->name);
        type_print(column->type, text);
        /* A user type is known by its fields as well. */
        for (uint32_t f = 0; column->type->kind == TYPE_UDT && f < column->type->argument_count;
             f++) {
            buffer_printf(text, " %s ", column->type->field_names[f]);
            type_print(column->type->arguments[f], text);
        }
        buffer_put_u8(text, '\n');
    }
}

void cql_metadata_id(const struct cql_metadata *metadata, uint8_t id[CQL_ID_SIZE])
{
    struct buffer text = {0};
    cql_metadata_print(metadata, &text);
    md5(text.data, text.size, id);
    buffer_release(&text);
}
