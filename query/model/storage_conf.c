/* Expat parses the XML, in any encoding that extends ASCII; this file interprets the elements.
 *
 * A part of a file may have several elements, so the text is parsed within an added root element.
 * That element begins after the XML declaration and adds no line, so that expat's line numbers are
 * the file's.  A DOCTYPE cannot follow an element, so a file cannot declare entities.
 *
 * A keyspace is defined when its element ends, because its replication factor may stand behind its
 * families. */
#include "query/model/storage_conf.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/command.h"

#define ROOT "daybook-import"

enum { TEXT_MAX = 256 }; /* bytes of the text of an element */

struct reader_state {
    XML_Parser xml;
    struct definitions *definitions;
    const char *keyspace; /* NULL: the parser is outside of keyspaces */
    uint32_t keyspace_line;
    long factor;         /* 0: not given */
    const char *reading; /* the element whose text is collected; NULL: none */
    char text[TEXT_MAX + 1];
    size_t text_size;
    struct error *err;
    int status;
};

static uint32_t line_of(const struct reader_state *state)
{
    return (uint32_t)XML_GetCurrentLineNumber(state->xml);
}

static void stop(struct reader_state *state, int status)
{
    state->status = status;
    (void)XML_StopParser(state->xml, XML_FALSE);
}

static const char *copy(struct reader_state *state, const char *text)
{
    return definitions_text(state->definitions, bytes_text(text));
}

/* ---- a column family ---- */

static bool is_passed_over(const char *name)
{
    static const char *const names[] = {
        "FlushPeriodInMinutes", "GCGraceSeconds",   "KeyCacheSavePeriodInSeconds", "KeysCached",
        "KeysCachedFraction",   "ReadRepairChance", "RowCacheSavePeriodInSeconds", "RowsCached"};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };

    return command_word(name, names, NAMES) < NAMES;
}

static int take_column_type(struct reader_state *state, const char *value, struct family *family)
{
    family->is_super = strcmp(value, "Super") == 0;
    if (!family->is_super && strcmp(value, "Standard") != 0)
        return definitions_refuse(state->err, line_of(state),
                                  "ColumnType is Standard or Super, not '%.100s'", value);
    return 0;
}

/* ColumnSort is the order of columns in Cassandra 0.3, whose column names were text. */
static int take_column_sort(struct reader_state *state, const char *value, struct family *family)
{
    if (strcmp(value, "Time") == 0)
        return definitions_refuse(state->err, line_of(state),
                                  "ColumnSort=\"Time\": no table sorts by the time of writing");
    family->comparator = "UTF8Type";
    return 0;
}

static int take_attribute(struct reader_state *state, const char *name, const char *value,
                          struct family *family)
{
    if (strcmp(name, "ColumnType") == 0)
        return take_column_type(state, value, family);
    if (strcmp(name, "ColumnSort") == 0)
        return take_column_sort(state, value, family);
    if (strcmp(name, "CompareWith") == 0)
        family->comparator = copy(state, value);
    else if (strcmp(name, "CompareSubcolumnsWith") == 0)
        family->subcomparator = copy(state, value);
    else if (strcmp(name, "Comment") == 0)
        family->comment = copy(state, value);
    else if (strcmp(name, "Name") != 0 && !is_passed_over(name))
        return definitions_refuse(state->err, line_of(state),
                                  "ColumnFamily has no attribute %.100s", name);
    return 0;
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static int begin_family(struct reader_state *state, const char **attributes)
{
    const char *name = attribute(attributes, "Name");
    struct family *family;

    if (name == NULL || name[0] == '\0')
        return definitions_refuse(state->err, line_of(state), "a ColumnFamily has no Name");
    int rc = definitions_add_family(state->definitions, state->keyspace, copy(state, name),
                                    line_of(state), &family, state->err);
    if (rc < 0)
        return rc;
    family->key_type = "UTF8Type";
    for (; attributes[0] != NULL && rc == 0; attributes += 2)
        rc = take_attribute(state, attributes[0], attributes[1], family);
    return rc;
}

/* ---- elements ---- */

static bool is_keyspace(const char *element)
{
    return strcmp(element, "Keyspace") == 0 || strcmp(element, "Table") == 0;
}

static int begin_keyspace(struct reader_state *state, const char **attributes)
{
    const char *name = attribute(attributes, "Name");

    if (state->keyspace != NULL)
        return definitions_refuse(state->err, line_of(state), "a keyspace begins within %s",
                                  state->keyspace);
    if (name == NULL || name[0] == '\0')
        return definitions_refuse(state->err, line_of(state), "a keyspace has no Name");
    state->keyspace = copy(state, name);
    state->keyspace_line = line_of(state);
    state->factor = 0;
    return 0;
}

static void XMLCALL element_begins(void *context, const char *element, const char **attributes)
{
    static const char *const texts[] = {"ReplicationFactor", "Partitioner"};
    struct reader_state *state = context;
    int rc = 0;

    if (state->status < 0)
        return;
    uint32_t place = command_word(element, texts, 2);
    state->reading = place < 2 ? texts[place] : NULL;
    state->text_size = 0;
    if (is_keyspace(element))
        rc = begin_keyspace(state, attributes);
    else if (strcmp(element, "ColumnFamily") == 0)
        rc = begin_family(state, attributes);
    if (rc < 0)
        stop(state, rc);
}

static void XMLCALL element_text(void *context, const char *text, int size)
{
    struct reader_state *state = context;

    if (state->reading == NULL)
        return;
    size_t room = TEXT_MAX - state->text_size;
    size_t taken = (size_t)size < room ? (size_t)size : room;
    memcpy(state->text + state->text_size, text, taken);
    state->text_size += taken;
}

static int take_factor(struct reader_state *state)
{
    char *end;

    state->factor = strtol(state->text, &end, 10);
    end += strspn(end, " \t\r\n");
    if (end == state->text || *end != '\0' || state->factor < 1 || state->factor > 1000)
        return definitions_refuse(state->err, line_of(state),
                                  "ReplicationFactor is a number from 1 to 1000, not '%.100s'",
                                  state->text);
    return 0;
}

static int end_text(struct reader_state *state)
{
    const char *element = state->reading;

    state->reading = NULL;
    state->text[state->text_size] = '\0';
    if (strcmp(element, "ReplicationFactor") == 0)
        return take_factor(state);
    if (strstr(state->text, "OrderPreservingPartitioner") != NULL)
        definitions_note(state->definitions, line_of(state),
                         "rows came in the order of their keys; here they come in that of their "
                         "tokens");
    return 0;
}

static int end_keyspace(struct reader_state *state)
{
    int rc = definitions_add_keyspace(state->definitions, state->keyspace, state->factor,
                                      state->keyspace_line, state->err);
    state->keyspace = NULL;
    return rc;
}

static void XMLCALL element_ends(void *context, const char *element)
{
    struct reader_state *state = context;
    int rc = 0;

    if (state->status < 0)
        return;
    if (state->reading != NULL)
        rc = end_text(state);
    if (rc == 0 && is_keyspace(element))
        rc = end_keyspace(state);
    if (rc < 0)
        stop(state, rc);
}

/* ---- the text ---- */

static int feed(struct reader_state *state, struct bytes text, bool is_last)
{
    if (XML_Parse(state->xml, (const char *)text.data, (int)text.size, is_last) == XML_STATUS_OK)
        return 0;
    if (state->status < 0)
        return state->status;
    return definitions_refuse(state->err, line_of(state), "the XML is not well formed: %s",
                              XML_ErrorString(XML_GetErrorCode(state->xml)));
}

/* The size of the XML declaration, with a byte order mark before it. */
static size_t declaration_size(struct bytes text)
{
    const struct bytes mark = bytes_of("\xef\xbb\xbf", 3);
    size_t at = text.size >= 3 && memcmp(text.data, mark.data, 3) == 0 ? 3 : 0;

    if (text.size < at + 5 || memcmp(text.data + at, "<?xml", 5) != 0)
        return at;
    const uint8_t *end = memmem(text.data + at, text.size - at, "?>", 2);
    return end == NULL ? at : (size_t)(end - text.data) + 2;
}

int storage_conf_read(struct bytes text, struct definitions *definitions, struct error *err)
{
    struct reader_state state = {.definitions = definitions, .err = err};
    size_t declared = declaration_size(text);

    if (text.size > INT32_MAX)
        return error_set(err, ERROR_LIMIT, "the file is over the limit of 2 GiB");
    state.xml = XML_ParserCreate(NULL);
    if (state.xml == NULL)
        return error_set(err, ERROR_LIMIT, "there is no memory for an XML parser");
    XML_SetUserData(state.xml, &state);
    XML_SetElementHandler(state.xml, element_begins, element_ends);
    XML_SetCharacterDataHandler(state.xml, element_text);
    int rc = feed(&state, bytes_of(text.data, declared), false);
    rc = rc == 0 ? feed(&state, bytes_text("<" ROOT ">"), false) : rc;
    rc = rc == 0 ? feed(&state, bytes_of(text.data + declared, text.size - declared), false) : rc;
    rc = rc == 0 ? feed(&state, bytes_text("</" ROOT ">"), true) : rc;
    XML_ParserFree(state.xml);
    return rc;
}
