/* load: see load.h.
 *
 * The requests (▶) and answers (◀) for each file (docs/PROTOCOL.md "Text door"):
 *
 *     ▶ #notes                           ◀ note ...              before the first file only: the
 *                                                                server waits or goes on
 *     ▶ #stream [NAME], #columns         ◀ columns ...           if the first field of line 1 is
 *                                                                one of them, it is a header
 *     ▶ #files KEY                       ◀ file ..., files       how far files with this KEY
 *                                                                were loaded before
 *     ▶ #producer UUID 1 [new], header
 *     ▶ #file KEY BYTES HASH LINES lf    ◀ reject ..., ok ...    for each batch; up to
 *       #batch N COUNT, the lines                                LOAD_BATCHES are unanswered
 *
 * With --binary the requests are frames (load_frames.h), without #notes, #batch and the header.
 *
 * If a beginning of the file was loaded before, the load continues behind it, with the producer of
 * the `file` answer and the batch number after the answer's BATCH.  Otherwise the load begins at
 * batch 1 of a new producer. */
#include "ingest/load/load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "ingest/load/load_file.h"
#include "ingest/load/load_frames.h"
#include "ingest/parse/control_line.h"
#include "ingest/parse/reject.h"
#include "base/memory.h"
#include "base/cli/table_print.h"

enum {
    LOAD_BATCHES = 16,
    LOAD_BATCH_LINES = 8192,
    LOAD_BATCH_BYTES = 1 << 20, /* bytes; a batch exceeds it by at most one line */
    LOAD_QUEUE_MAX = 4 << 20,   /* unsent bytes at which no more is read */
    CONTROL_SIZE = 4096,
    LOAD_REPLY_MAX = 64 << 10, /* bytes of one answer line */
    LOAD_BAR_US = 100000,      /* microseconds between drawings of the progress bar */
    LOAD_NOTE_US = 10000000,   /* microseconds between progress lines without a terminal */
    LOAD_BAR_WIDTH = 20
};

/* The server must send a line for each reject of a batch, because `daybook load` writes all of them
 * to a file. */
_Static_assert((int)LOAD_BATCH_LINES <= (int)REJECT_FILE_LINES_MAX, "a batch's rejects are lines");

enum load_phase { LOAD_ASKING_COLUMNS, LOAD_ASKING_FILES, LOAD_SENDING, LOAD_OVER };

/* A batch that was sent.  It is kept until its `ok`, because rejects name its lines by number
 * only. */
struct load_batch {
    uint64_t sequence;
    uint64_t first_line; /* its number in the file, from 1; the header counts */
    uint64_t lines;
    uint64_t refused;  /* the number of the last refused line; 0: none */
    size_t refused_at; /* the offset in `text` at which that line begins */
    struct buffer text;
};

struct load {
    const struct load_options *options;
    struct world *world;
    struct connection *connection;
    struct command_output *output;
    bool is_terminal;
    enum load_phase phase;
    int exit_status;
    struct load_frames *frames; /* NULL: text protocol */
    struct buffer reply;
    uint8_t space[32768];
    struct buffer names; /* column names; `columns` has views of it */
    struct line_columns columns;
    /* the file */
    uint32_t path_index;
    struct load_file file;
    bool is_read;
    const struct load_prefix *prefix; /* NULL: the file is new */
    uint64_t sequence;
    struct load_batch batches[LOAD_BATCHES]; /* by sequence modulo LOAD_BATCHES */
    uint32_t batch_count;
    FILE *rejects;
    char *rejects_path;
    /* counts and times */
    uint64_t accepted;   /* lines of the file */
    uint64_t rejected;   /* lines of the file */
    uint64_t duplicates; /* batches of the file */
    uint64_t rejected_all;
    int64_t start_us, shown_us;
    bool is_bar_shown;
};

/* ---- output for people ---- */

/* Write a number as 1,234,567; `text` has at least 32 bytes. */
static const char *load_number(uint64_t number, char *text)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = text;

    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static const char *load_lines(uint64_t lines, char *text)
{
    const char *unit = lines == 1 ? " line" : " lines";

    (void)load_number(lines, text);
    memcpy(text + strlen(text), unit, strlen(unit) + 1);
    return text;
}

static void load_clear_bar(struct load *load)
{
    if (load->is_bar_shown)
        command_printf(load->output, COMMAND_TERMINAL, "\r\x1b[K");
    load->is_bar_shown = false;
}

__attribute__((format(printf, 2, 3))) static void load_note(struct load *load, const char *format,
                                                            ...)
{
    char text[1024];
    va_list arguments;

    load_clear_bar(load);
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    command_printf(load->output, COMMAND_ERR, "%s: %s\n", load->file.path, text);
}

static void bar_append(struct buffer *line, double fraction)
{
    int filled = (int)(fraction * LOAD_BAR_WIDTH);

    if (fraction < 0)
        return;
    buffer_printf(line, " %3.0f %% [", fraction * 100);
    for (int i = 0; i < LOAD_BAR_WIDTH; i++)
        buffer_put_u8(line, i < filled ? '#' : ' ');
    buffer_put_u8(line, ']');
}

static void load_show(struct load *load)
{
    int64_t now = world_monotonic_us(load->world);
    double seconds = (double)(now - load->start_us) * 1e-6;
    uint64_t lines = load->accepted + load->rejected;
    double fraction = source_fraction(load->file.source);
    struct buffer line = {0};
    char number[40];

    if (now - load->shown_us < (load->is_terminal ? LOAD_BAR_US : LOAD_NOTE_US))
        return;
    load->shown_us = now;
    buffer_printf(&line, "%s:", load->file.path);
    bar_append(&line, fraction);
    buffer_printf(&line, " %s, %.2f M/s", load_lines(lines, number),
                  (double)lines / seconds * 1e-6);
    if (fraction > 0.01) {
        int left = (int)(seconds / fraction * (1 - fraction));

        buffer_printf(&line, ", %d:%02d left", left / 60, left % 60);
    }
    load_clear_bar(load);
    command_printf(load->output, COMMAND_ERR, load->is_terminal ? "%.*s" : "%.*s\n", (int)line.size,
                   (const char *)line.data);
    load->is_bar_shown = load->is_terminal;
    buffer_release(&line);
}

static void load_summarize(struct load *load)
{
    double seconds = (double)(world_monotonic_us(load->world) - load->start_us) * 1e-6;
    uint64_t lines = load->accepted + load->rejected;
    struct buffer text = {0};
    char number[40];

    load_clear_bar(load);
    buffer_printf(&text, "%s: %s accepted", load->file.path, load_lines(load->accepted, number));
    buffer_printf(&text, ", %s refused", load_number(load->rejected, number));
    if (load->rejected > 0 && load->rejects_path != NULL)
        buffer_printf(&text, " (%s)", load->rejects_path);
    buffer_printf(&text, ", %.1f s", seconds);
    if (seconds > 0.01)
        buffer_printf(&text, ", %s lines/s",
                      load_number((uint64_t)((double)lines / seconds), number));
    if (load->duplicates > 0)
        buffer_printf(&text, "; %" PRIu64 " batches were there already", load->duplicates);
    command_printf(load->output, COMMAND_OUT, "%.*s\n", (int)text.size, (const char *)text.data);
    buffer_release(&text);
}

/* ---- life ---- */

static void load_close_file(struct load *load)
{
    load_file_close(&load->file);
    bool is_cut = load->rejects != NULL && ferror(load->rejects) != 0;
    if (load->rejects != NULL && (fclose(load->rejects) != 0 || is_cut))
        command_printf(load->output, COMMAND_ERR, "daybook: cannot write %s\n", load->rejects_path);
    load->rejects = NULL;
    memory_free(load->rejects_path);
    load->rejects_path = NULL;
}

static void load_end(struct load *load, int exit_status)
{
    if (load->phase == LOAD_OVER)
        return;
    load_clear_bar(load);
    load->phase = LOAD_OVER;
    load->exit_status = exit_status;
    network_close(load->connection);
}

__attribute__((format(printf, 2, 3))) static void load_fail(struct load *load, const char *format,
                                                            ...)
{
    char text[1024];
    va_list arguments;

    if (load->phase == LOAD_OVER)
        return;
    load_clear_bar(load);
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    command_printf(load->output, COMMAND_ERR, "daybook: %s\n", text);
    if (load->accepted + load->rejected > 0)
        command_printf(load->output, COMMAND_ERR,
                       "daybook: what was acknowledged stays; the same command goes on behind "
                       "it\n");
    load_end(load, EXIT_SYSTEM_FAILED);
}

__attribute__((format(printf, 2, 3))) static void load_control(struct load *load,
                                                               const char *format, ...)
{
    char line[CONTROL_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (load->frames != NULL) {
        load_frames_control(load->frames, line);
        network_write(load->connection, load_frames_take(load->frames));
        return;
    }
    memcpy(line + strlen(line), "\n", 2);
    network_write(load->connection, bytes_text(line));
}

static const char *load_hex(const uint8_t hash[16], char *text)
{
    for (int i = 0; i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return text;
}

/* ---- one file after the other ---- */

static void load_next_file(struct load *load)
{
    load_close_file(load);
    if (load->path_index == load->options->path_count) {
        load_end(load, load->options->is_strict && load->rejected_all > 0 ? EXIT_DATA_SAYS_NO
                                                                          : EXIT_DONE);
        return;
    }
    load->file.path = load->options->paths[load->path_index++];
    load->phase = LOAD_ASKING_COLUMNS;
    if (load->frames == NULL && load->path_index == 1)
        load_control(load, "#notes");
    /* The header follows, and the server accepts a header only after #stream. */
    if (load->options->stream != NULL)
        load_control(load, "#stream %s", load->options->stream);
    else
        load_control(load, "#stream");
    load_control(load, "#columns");
}

static void load_ask_files(struct load *load)
{
    const struct load_options *options = load->options;
    const char *path = load->file.path;
    const char *identity = strcmp(path, "-") == 0 ? options->producer : options->as;
    char key[33];
    struct error err = {0};

    int rc = load_file_open(&load->file, path, identity, &load->columns, &err);
    if (rc < 0) {
        load_fail(load, "%s", err.text);
        return;
    }
    load->accepted = 0;
    load->rejected = 0;
    load->duplicates = 0;
    load->start_us = world_monotonic_us(load->world);
    load->shown_us = load->start_us;
    load->is_read = false;
    if (rc == 0) {
        load_note(load, "no records");
        load_next_file(load);
        return;
    }
    load->phase = LOAD_ASKING_FILES;
    load_control(load, "#files %s", load_hex(load->file.key, key));
}

/* ---- sending ---- */

/* Read the next batch from the file.  False: there are no more lines, or an error ended the
 * load. */
static bool load_read_batch(struct load *load, struct load_batch *batch)
{
    struct error err = {0};

    batch->sequence = load->sequence;
    batch->first_line = load->file.lines + (load->file.header.size > 0) + 1;
    batch->lines = 0;
    batch->refused = 0;
    buffer_clear(&batch->text);
    while (batch->lines < LOAD_BATCH_LINES && batch->text.size < LOAD_BATCH_BYTES) {
        int rc = load_file_line(&load->file, &batch->text, &err);

        if (rc < 0) {
            load_fail(load, "%s", err.text);
            return false;
        }
        if (rc == 0) {
            load->is_read = true;
            break;
        }
        batch->lines++;
        load->file.lines++;
    }
    return batch->lines > 0;
}

static void load_send_batch(struct load *load, struct load_batch *batch)
{
    uint8_t hash[16];
    char key_text[33];
    char hash_text[33];

    load_file_hash(&load->file, hash);
    load_control(load, "#file %s %" PRIu64 " %s %" PRIu64 " %s", load_hex(load->file.key, key_text),
                 load->file.bytes, load_hex(hash, hash_text), load->file.lines,
                 load->file.ends_line ? "lf" : "cut");
    if (load->frames != NULL) {
        buffer_reserve(&batch->text, LINE_PARSER_PADDING);
        load_frames_batch(load->frames, batch->sequence, batch->lines, buffer_view(&batch->text));
        network_write(load->connection, load_frames_take(load->frames));
        return;
    }
    load_control(load, "#batch %" PRIu64 " %" PRIu64, batch->sequence, batch->lines);
    network_write(load->connection, buffer_view(&batch->text));
}

/* Send batches until LOAD_BATCHES are unanswered or the connection's queue is full.  After the
 * file's last answer, begin the next file. */
static void load_pump(struct load *load)
{
    while (load->phase == LOAD_SENDING && !load->is_read && load->batch_count < LOAD_BATCHES &&
           network_queued(load->connection) < LOAD_QUEUE_MAX) {
        struct load_batch *batch = &load->batches[load->sequence % LOAD_BATCHES];

        if (!load_read_batch(load, batch))
            break;
        load->sequence++;
        load->batch_count++;
        load_send_batch(load, batch);
    }
    if (load->phase == LOAD_SENDING && load->is_read && load->batch_count == 0) {
        load_summarize(load);
        load->rejected_all += load->rejected;
        load_next_file(load);
    }
}

static void load_begin(struct load *load)
{
    struct error err = {0};
    uint8_t id[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];
    char number[40];
    int rc = load_file_match(&load->file, &load->prefix, &err);

    if (rc == 0)
        rc = load_file_at_end(&load->file, &err);
    if (rc < 0) {
        load_fail(load, "%s", err.text);
        return;
    }
    if (load->prefix != NULL && rc == 1) {
        load_clear_bar(load);
        command_printf(load->output, COMMAND_OUT, "%s: already loaded, %s, counted once\n",
                       load->file.path, load_lines(load->file.lines, number));
        load_next_file(load);
        return;
    }
    if (load->prefix != NULL)
        load_note(load, "its first %s are loaded already; going on behind them",
                  load_lines(load->file.lines, number));
    else if (load->file.prefix_count > 0)
        load_note(load, "begins like a file that was loaded before, but is another: loading all "
                        "of it");
    uuid_make(load->world->random, id);
    uuid_format(load->prefix != NULL ? load->prefix->producer : id, text);
    load->sequence = load->prefix != NULL ? load->prefix->batch + 1 : 1;
    load_control(load, "#producer %s 1%s", text, load->sequence > 1 ? "" : " new");
    if (load->frames == NULL)
        network_write(load->connection, buffer_view(&load->file.header));
    else if (load_frames_file(load->frames, &load->columns, buffer_view(&load->file.header),
                              &err) != 0) {
        load_fail(load, "%s: %s", load->file.path, err.text);
        return;
    }
    load->phase = LOAD_SENDING;
    load_pump(load);
}

/* ---- refused lines ---- */

/* Line `number` without its LF.  The search begins at the last refused line, because the server
 * refuses the lines of a batch in order. */
static struct bytes batch_line(struct load_batch *batch, uint64_t number)
{
    if (batch->refused == 0 || number < batch->refused) {
        batch->refused = 1;
        batch->refused_at = 0;
    }
    for (;;) {
        const uint8_t *line = batch->text.data + batch->refused_at;
        const uint8_t *end = memchr(line, '\n', batch->text.size - batch->refused_at);

        check(end != NULL);
        if (batch->refused == number)
            return bytes_of(line, (size_t)(end - line));
        batch->refused_at += (size_t)(end - line) + 1;
        batch->refused++;
    }
}

static const char *reason_of(struct bytes code)
{
    for (int i = 0; i < REJECT_CODE_COUNT; i++)
        if (bytes_equal(code, bytes_text(reject_name((enum reject_code)i))))
            return reject_reason((enum reject_code)i);
    return "";
}

/* A new file is readable only by this user; an existing one keeps its owner and mode.  Symbolic
 * links are not followed, because another user may have put one there to make this user overwrite a
 * file. */
static FILE *rejects_file(const char *path, bool goes_on)
{
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (goes_on ? O_APPEND : O_TRUNC);
    int fd = open(path, flags, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, goes_on ? "a" : "w") : NULL;

    if (fd >= 0 && file == NULL)
        (void)close(fd);
    return file;
}

/* If the beginning of the file was loaded before, append to its FILE.rejects.csv. */
static bool rejects_open(struct load *load)
{
    bool goes_on = load->prefix != NULL;
    struct buffer path = {0};

    if (load->rejects != NULL)
        return true;
    if (load->rejects_path != NULL)
        return false;
    buffer_printf(&path, "%s.rejects.csv", load->file.path);
    buffer_put_u8(&path, 0);
    load->rejects_path = (char *)path.data;
    load->rejects = rejects_file(load->rejects_path, goes_on);
    if (load->rejects == NULL)
        load_note(load, "cannot write %s; `daybook rejects list` has the refused lines",
                  load->rejects_path);
    else if (fseek(load->rejects, 0, SEEK_END) == 0 && ftell(load->rejects) == 0)
        fputs("line,code,reason,content\n", load->rejects);
    return load->rejects != NULL;
}

static void load_reject(struct load *load, struct load_batch *batch, uint64_t number,
                        struct bytes code)
{
    uint64_t line = batch->first_line + number - 1;
    struct bytes content = batch_line(batch, number);
    struct buffer row = {0};

    if (load->file.is_stdin) {
        load_note(load, "line %" PRIu64 " refused: %.*s", line, (int)code.size,
                  (const char *)code.data);
        return;
    }
    if (!rejects_open(load))
        return;
    buffer_printf(&row, "%" PRIu64 ",%.*s,", line, (int)code.size, (const char *)code.data);
    table_print_csv_field(&row, bytes_text(reason_of(code)));
    buffer_put_u8(&row, ',');
    table_print_csv_field(&row, content);
    buffer_put_u8(&row, '\n');
    (void)fwrite(row.data, 1, row.size, load->rejects);
    buffer_release(&row);
}

/* ---- answers ---- */

static struct bytes reply_word(const struct control_words *reply, uint32_t index)
{
    return index < reply->count ? reply->words[index] : bytes_of("", 0);
}

static bool reply_word_is(const struct control_words *reply, uint32_t index, const char *text)
{
    return control_line_is_word(reply_word(reply, index), text);
}

static bool reply_number(const struct control_words *reply, uint32_t index, uint64_t *number_out)
{
    return control_line_number(reply_word(reply, index), number_out);
}

static struct bytes reply_rest(struct bytes line, uint32_t count)
{
    while (count-- > 0) {
        const uint8_t *space = memchr(line.data, ' ', line.size);
        size_t size = space == NULL ? line.size : (size_t)(space - line.data) + 1;
        line = bytes_of(line.data + size, line.size - size);
    }
    return line;
}

/* The unanswered batch whose number is the reply's second word; NULL: there is none. */
static struct load_batch *reply_batch(struct load *load, const struct control_words *reply)
{
    uint64_t sequence;

    if (load->phase != LOAD_SENDING || !reply_number(reply, 1, &sequence))
        return NULL;
    struct load_batch *batch = &load->batches[sequence % LOAD_BATCHES];
    return batch->sequence == sequence && sequence < load->sequence &&
                   load->sequence - sequence <= load->batch_count
               ? batch
               : NULL;
}

/* columns a,b,c,d,e[,f] */
static bool load_columns(struct load *load, struct bytes names)
{
    size_t at = 0;

    buffer_clear(&load->names);
    buffer_append_bytes(&load->names, names);
    load->columns = (struct line_columns){0};
    for (int i = 0; i < RECORD_FIELDS_MAX && at <= load->names.size; i++) {
        struct bytes rest = bytes_of(load->names.data + at, load->names.size - at);
        const uint8_t *comma = rest.size == 0 ? NULL : memchr(rest.data, ',', rest.size);
        size_t size = comma == NULL ? rest.size : (size_t)(comma - rest.data);

        if (size == 0)
            return false;
        load->columns.names[i] = bytes_of(rest.data, size);
        at += size + 1;
    }
    if (at <= load->names.size || load->columns.names[RECORD_FIELDS - 1].size == 0)
        return false;
    load_ask_files(load);
    return true;
}

/* file PRODUCER BATCH BYTES HASH LINES lf|cut */
static bool load_prefix_reply(struct load *load, const struct control_words *reply)
{
    struct load_prefix prefix = {.ends_line = reply_word_is(reply, 6, "lf")};

    if (!uuid_from_text(reply_word(reply, 1), prefix.producer) ||
        !reply_number(reply, 2, &prefix.batch) || !reply_number(reply, 3, &prefix.bytes) ||
        !control_line_hash(reply_word(reply, 4), prefix.hash) ||
        !reply_number(reply, 5, &prefix.lines))
        return false;
    load_file_add_prefix(&load->file, &prefix);
    return true;
}

/* ok N accepted A rejected R [duplicate | duplicates D], or ok N duplicate */
static bool load_ok(struct load *load, const struct control_words *reply)
{
    struct load_batch *batch = reply_batch(load, reply);
    bool has_counts = reply_word_is(reply, 2, "accepted");
    uint64_t accepted = 0;
    uint64_t rejected = 0;

    if (batch == NULL || (has_counts && (!reply_number(reply, 3, &accepted) ||
                                         !reply_word_is(reply, 4, "rejected") ||
                                         !reply_number(reply, 5, &rejected))))
        return false;
    load->duplicates += reply_word_is(reply, has_counts ? 6 : 2, "duplicate");
    load->accepted += accepted;
    load->rejected += rejected;
    load->batch_count--;
    batch->sequence = 0;
    load_show(load);
    load_pump(load);
    return true;
}

/* reject N LINE CODE "TEXT" */
static bool load_reject_reply(struct load *load, const struct control_words *reply)
{
    struct load_batch *batch = reply_batch(load, reply);
    uint64_t line;

    /* An older server rejects #notes, as a line outside of batches. */
    if (reply_word_is(reply, 1, "-"))
        return true;
    if (batch == NULL || !reply_number(reply, 2, &line) || line == 0 || line > batch->lines)
        return false;
    load_reject(load, batch, line, reply_word(reply, 3));
    return true;
}

/* error N WORD [TEXT] */
static void load_error(struct load *load, struct bytes why)
{
    if (bytes_equal(why, bytes_text("file_busy")))
        load_fail(load, "%s: another load of a file that begins like it is under way",
                  load->file.path);
    else
        load_fail(load, "%s: the server says: %.*s", load->file.path, (int)why.size,
                  (const char *)why.data);
}

/* note waiting REASON BYTES, note goes_on */
static void load_take_note(struct load *load, const struct control_words *reply)
{
    struct bytes reason = reply_word(reply, 2);
    uint64_t bytes = 0;
    char number[40];

    if (reply_word_is(reply, 1, "goes_on"))
        load_note(load, "the server goes on");
    if (!reply_word_is(reply, 1, "waiting"))
        return;
    if (!reply_word_is(reply, 2, "disk_full"))
        load_note(load, "the server waits: %.*s; it goes on by itself", (int)reason.size,
                  (const char *)reason.data);
    else if (reply_number(reply, 3, &bytes) && bytes > 0)
        load_note(load, "the server waits for disk space, %s bytes; it goes on by itself",
                  load_number(bytes, number));
    else
        load_note(load, "the server waits for disk space; it goes on by itself");
}

static bool load_reply(struct load *load, struct bytes line)
{
    struct control_words reply;

    control_line_split(line, &reply);
    if (reply_word_is(&reply, 0, "ok"))
        return load_ok(load, &reply);
    if (reply_word_is(&reply, 0, "reject"))
        return load_reject_reply(load, &reply);
    if (reply_word_is(&reply, 0, "columns") && load->phase == LOAD_ASKING_COLUMNS)
        return load_columns(load, reply_rest(line, 1));
    if (reply_word_is(&reply, 0, "file") && load->phase == LOAD_ASKING_FILES)
        return load_prefix_reply(load, &reply);
    if (reply_word_is(&reply, 0, "binary"))
        return load->frames != NULL;
    if (reply_word_is(&reply, 0, "error"))
        load_error(load, reply_rest(line, 2));
    else if (reply_word_is(&reply, 0, "note"))
        load_take_note(load, &reply);
    else if (reply_word_is(&reply, 0, "files") && load->phase == LOAD_ASKING_FILES)
        load_begin(load);
    else
        return false;
    return true;
}

/* ---- the connection ---- */

static void load_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct load *load = context;

    *to_out = load->space;
    *size_out = sizeof load->space;
}

static void load_data(void *context, size_t size)
{
    struct load *load = context;
    size_t at = 0;

    if (load->frames == NULL)
        buffer_append(&load->reply, load->space, size);
    else if (load_frames_answers(load->frames, bytes_of(load->space, size), &load->reply) != 0)
        load_fail(load, "what answers is no binary door");
    while (load->phase != LOAD_OVER && at < load->reply.size) {
        const uint8_t *start = load->reply.data + at;
        const uint8_t *end = memchr(start, '\n', load->reply.size - at);

        if (end == NULL)
            break;
        struct bytes line = bytes_of(start, (size_t)(end - start));
        if (!load_reply(load, line))
            load_fail(load, "what answers is no ingest door: %.*s",
                      (int)(line.size < 200 ? line.size : 200), (const char *)line.data);
        at += line.size + 1;
    }
    if (at > 0) {
        memmove(load->reply.data, load->reply.data + at, load->reply.size - at);
        load->reply.size -= at;
    }
    if (load->reply.size > LOAD_REPLY_MAX)
        load_fail(load, "what answers is no ingest door: a line without an end");
}

static void load_connection_end(void *context, int status)
{
    load_fail(context, "the connection to the server broke%s%s", status < 0 ? ": " : "",
              status < 0 ? error_text(status) : "");
}

static void load_drained(void *context)
{
    load_pump(context);
}

static void load_closed(void *context)
{
    struct load *load = context;
    struct command_output *output = load->output;
    int exit_status = load->exit_status;

    load_close_file(load);
    for (int i = 0; i < LOAD_BATCHES; i++)
        buffer_release(&load->batches[i].text);
    load_frames_free(load->frames);
    buffer_release(&load->reply);
    buffer_release(&load->names);
    memory_free(load);
    output->finish(output, exit_status);
}

static const struct connection_handler load_handler = {
    .space = load_space,
    .data = load_data,
    .end = load_connection_end,
    .drained = load_drained,
    .closed = load_closed,
};

void load_start(const struct load_options *options, struct world *world,
                struct connection *connection, bool is_terminal, struct command_output *output)
{
    struct load *load = memory_zeroed(1, sizeof *load);
    uint64_t seed;

    load->options = options;
    load->world = world;
    load->connection = connection;
    load->output = output;
    load->is_terminal = is_terminal;
    if (options->is_binary) {
        world->random->fill(world->random, &seed, sizeof seed);
        load->frames = load_frames_new(seed);
    }
    network_start(connection, &load_handler, load);
    load_next_file(load);
}
