// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes and parses prefetch lists, without doing I/O itself. A list may come from anywhere, so the
 * parser accepts only what the writer writes: plain decimal numbers, one blank between words.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prefetch/prefetch.h"

#define FIRST_ROOM 64U

struct parser {
	struct prefetch_list *list;
	const char *at, *end; /* the rest of the line */
	const char *why;
	int err; /* besides -EINVAL */
};

void prefetch_list_exit(struct prefetch_list *list)
{
	size_t i;

	for (i = 0; i < list->nr_files; i++)
		free(list->files[i].path);
	free(list->files);
	free(list->reads);
	*list = (struct prefetch_list){ 0 };
}

/* Makes space for one more entry: the array grows at each power of two. */
static void *with_space(void *array, size_t nr, size_t size)
{
	if (nr && (nr < FIRST_ROOM || nr & (nr - 1)))
		return array;
	return reallocarray(array, nr < FIRST_ROOM ? FIRST_ROOM : 2 * nr, size);
}

int prefetch_list_add_file(struct prefetch_list *list, const struct prefetch_file *file)
{
	struct prefetch_file *files;
	char *path;

	if (list->nr_files == PREFETCH_LIST_FILES_MAX)
		return -E2BIG;
	files = with_space(list->files, list->nr_files, sizeof(*files));
	if (!files)
		return -ENOMEM;
	list->files = files;
	path = strdup(file->path);
	if (!path)
		return -ENOMEM;
	files[list->nr_files] = *file;
	files[list->nr_files++].path = path;
	return 0;
}

int prefetch_list_add_read(struct prefetch_list *list, const struct prefetch_read *read)
{
	struct prefetch_read *reads = with_space(list->reads, list->nr_reads, sizeof(*reads));

	if (!reads)
		return -ENOMEM;
	list->reads = reads;
	reads[list->nr_reads++] = *read;
	return 0;
}

/* A control character or a backslash is written as \ooo. */
static bool is_escaped(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f || byte == '\\';
}

static void write_path(FILE *out, const char *path)
{
	for (; *path; path++)
		if (is_escaped(*path))
			fprintf(out, "\\%03o", (unsigned char)*path);
		else
			fputc(*path, out);
}

void prefetch_list_write(FILE *out, const struct prefetch_list *list)
{
	const struct prefetch_file *file;
	size_t i;

	fprintf(out, PREFETCH_LIST_HEAD "\n");
	for (i = 0; i < list->nr_files; i++) {
		file = &list->files[i];
		fprintf(out, "file %u:%u %" PRIu64 " %" PRIu64 " %" PRId64 ".%09u ",
			file->dev_major, file->dev_minor, file->inode, file->bytes, file->mtime_s,
			file->mtime_ns);
		write_path(out, file->path);
		fputc('\n', out);
	}
	for (i = 0; i < list->nr_reads; i++)
		fprintf(out, "read %u %" PRIu64 " %" PRIu64 "\n", list->reads[i].file + 1,
			list->reads[i].offset, list->reads[i].bytes);
	fprintf(out, "end %zu %zu\n", list->nr_files, list->nr_reads);
}

static bool refuse(struct parser *parser, const char *why)
{
	if (!parser->why)
		parser->why = why;
	return false;
}

static bool take_char(struct parser *parser, char expected)
{
	if (parser->at == parser->end || *parser->at != expected)
		return refuse(parser, "a word is missing, or has a wrong separator");
	parser->at++;
	return true;
}

/* Only digits, without needless zeros. */
static bool take_number(struct parser *parser, uint64_t max, uint64_t *number)
{
	const char *start = parser->at;
	uint64_t value = 0;

	for (; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9'; parser->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *parser->at - '0', &value))
			return refuse(parser, "a number is too large");
	if (parser->at == start)
		return refuse(parser, "a number is missing");
	if (parser->at - start > 1 && *start == '0')
		return refuse(parser, "a number begins with 0");
	if (value > max)
		return refuse(parser, "a number is too large");
	*number = value;
	return true;
}

/* Nine digits. */
static bool take_nanoseconds(struct parser *parser, uint32_t *ns)
{
	int i;

	*ns = 0;
	for (i = 0; i < 9; i++, parser->at++) {
		if (parser->at == parser->end || *parser->at < '0' || *parser->at > '9')
			return refuse(parser, "a time has not nine digits after the point");
		*ns = 10 * *ns + (*parser->at - '0');
	}
	return true;
}

static bool take_time(struct parser *parser, struct prefetch_file *file)
{
	const bool negative = parser->at < parser->end && *parser->at == '-';
	uint64_t seconds;

	parser->at += negative;
	if (!take_number(parser, INT64_MAX, &seconds) || !take_char(parser, '.') ||
	    !take_nanoseconds(parser, &file->mtime_ns))
		return false;
	file->mtime_s = negative ? -(int64_t)seconds : (int64_t)seconds;
	if (negative && !seconds)
		return refuse(parser, "a time is -0");
	return true;
}

/* Returns the byte for \ooo, or 0 if no byte is written like this. */
static unsigned char escaped_byte(const char *at, const char *end)
{
	unsigned int byte = 0;
	int i;

	if (end - at < 4)
		return 0;
	for (i = 1; i < 4; i++) {
		if (at[i] < '0' || at[i] > '7')
			return 0;
		byte = 8 * byte + (at[i] - '0');
	}
	return byte <= UCHAR_MAX && is_escaped(byte) ? byte : 0;
}

static bool take_path(struct parser *parser, char path[PREFETCH_LIST_PATH_MAX])
{
	size_t length = 0;
	unsigned char byte;

	while (parser->at < parser->end) {
		if (length == PREFETCH_LIST_PATH_MAX - 1)
			return refuse(parser, "the path is too long");
		byte = *parser->at;
		if (byte == '\\') {
			byte = escaped_byte(parser->at, parser->end);
			parser->at += 3;
		} else if (is_escaped(byte)) {
			byte = 0;
		}
		if (!byte)
			return refuse(parser, "the path has a byte that must be written as \\ooo");
		path[length++] = byte;
		parser->at++;
	}
	path[length] = '\0';
	return path[0] == '/' || refuse(parser, "the path does not begin with /");
}

static void parse_file(struct parser *parser)
{
	char path[PREFETCH_LIST_PATH_MAX];
	struct prefetch_file file = { .path = path };
	uint64_t major, minor;

	if (parser->list->nr_reads) {
		refuse(parser, "a file follows a read");
		return;
	}
	if (!take_number(parser, UINT32_MAX, &major) || !take_char(parser, ':') ||
	    !take_number(parser, UINT32_MAX, &minor) || !take_char(parser, ' ') ||
	    !take_number(parser, UINT64_MAX, &file.inode) || !take_char(parser, ' ') ||
	    !take_number(parser, INT64_MAX, &file.bytes) || !take_char(parser, ' ') ||
	    !take_time(parser, &file) || !take_char(parser, ' ') || !take_path(parser, path))
		return;
	file.dev_major = major;
	file.dev_minor = minor;
	parser->err = prefetch_list_add_file(parser->list, &file);
	if (parser->err == -E2BIG)
		refuse(parser, "there are more than 65536 files");
}

static void parse_read(struct parser *parser)
{
	struct prefetch_read read;
	uint64_t number, end;

	if (!take_number(parser, PREFETCH_LIST_FILES_MAX, &number) || !take_char(parser, ' ') ||
	    !take_number(parser, INT64_MAX, &read.offset) || !take_char(parser, ' ') ||
	    !take_number(parser, INT64_MAX, &read.bytes))
		return;
	if (!number || number > parser->list->nr_files) {
		refuse(parser, "the list has no file with that number");
		return;
	}
	read.file = number - 1;
	end = read.offset + read.bytes;
	if (!read.bytes || end > parser->list->files[read.file].bytes)
		refuse(parser, "the extent is empty, or not within the file");
	else
		parser->err = prefetch_list_add_read(parser->list, &read);
}

static bool parse_end(struct parser *parser)
{
	uint64_t files, reads;

	if (!take_number(parser, UINT64_MAX, &files) || !take_char(parser, ' ') ||
	    !take_number(parser, UINT64_MAX, &reads))
		return false;
	if (files != parser->list->nr_files || reads != parser->list->nr_reads)
		return refuse(parser, "the list has other file and read counts");
	return true;
}

static bool begins_with(struct parser *parser, const char *word)
{
	const size_t length = strlen(word);

	if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length))
		return false;
	parser->at += length;
	return true;
}

/* Returns true if this is the list's last line. */
static bool prefetch_parse_line(struct parser *parser, size_t number)
{
	bool is_end = false;

	if (number == 1) {
		if (!begins_with(parser, PREFETCH_LIST_HEAD))
			refuse(parser, "it is not a version 1 prefetch list");
	} else if (begins_with(parser, "file ")) {
		parse_file(parser);
	} else if (begins_with(parser, "read ")) {
		parse_read(parser);
	} else if (begins_with(parser, "end ")) {
		is_end = parse_end(parser);
	} else {
		refuse(parser, "it begins with none of file, read and end");
	}
	if (!parser->why && !parser->err && parser->at != parser->end)
		refuse(parser, "there is more than the line should have");
	return is_end;
}

int prefetch_list_parse(struct prefetch_list *list, const char *text, size_t size, size_t *line,
			struct why *why)
{
	const char *const end = text + size;
	struct parser parser = { .list = list };
	bool ended = false;

	*list = (struct prefetch_list){ 0 };
	for (*line = 1; text < end && !parser.why && !parser.err; *line += 1) {
		if (ended) {
			refuse(&parser, "it follows the list's end");
			break;
		}
		parser.at = text;
		parser.end = memchr(text, '\n', end - text);
		if (!parser.end) {
			refuse(&parser, "the list is cut here");
			break;
		}
		text = parser.end + 1;
		ended = prefetch_parse_line(&parser, *line);
		if (parser.why || parser.err)
			break;
	}
	if (!parser.why && !parser.err && !ended)
		refuse(&parser, "the list has no end: it was cut");
	if (!parser.why && !parser.err)
		return 0;
	prefetch_list_exit(list);
	return parser.why ? why_fail(why, -EINVAL, "%s", parser.why) : parser.err;
}
