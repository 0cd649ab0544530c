// SPDX-License-Identifier: GPL-2.0-only
/* Text for output: sizes, untrusted names, wrapped lines, shell words and code addresses. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

/*
 * Converts sizes between text and numbers, without I/O. size_parse() reads back every text
 * of size_name().
 */

int size_parse(const char *text, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t value = 0;
	int i;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	if (*text) {
		unit = strchr(units, *text);
		if (!unit || text[1])
			return -EINVAL;
		for (i = 0; i <= unit - units; i++)
			if (__builtin_mul_overflow(value, 1024, &value))
				return -ERANGE;
	}
	*size = value;
	return 0;
}

void size_name(uint64_t bytes, char *name, size_t size)
{
	static const char units[] = "KMG";
	const char *unit = units;

	if (bytes % 1024 || !bytes) {
		snprintf(name, size, "%" PRIu64, bytes);
		return;
	}
	for (bytes /= 1024; bytes % 1024 == 0 && unit[1]; bytes /= 1024)
		unit++;
	snprintf(name, size, "%" PRIu64 "%c", bytes, *unit);
}

/*
 * Validates UTF-8 and prints untrusted names. Except for newlines and tabs allowed by a caller,
 * output contains no character that a terminal obeys or that changes the text direction.
 */

size_t utf8_character(const char *string, size_t bytes)
{
	static const struct {
		unsigned char mask, lead;
	} forms[] = { { 0xe0, 0xc0 }, { 0xf0, 0xe0 }, { 0xf8, 0xf0 } };
	const unsigned char *text = (const unsigned char *)string;
	size_t length, i;

	if (*text < 0x80)
		return 1;
	for (length = 2; length <= 4; length++)
		if ((*text & forms[length - 2].mask) == forms[length - 2].lead)
			break;
	if (length > 4 || length > bytes || *text < 0xc2 || *text > 0xf4)
		return 0;
	for (i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and values above U+10FFFF. */
	if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
	    (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
		return 0;
	/* U+FFFE and U+FFFF are not characters in XML. */
	if (*text == 0xef && text[1] == 0xbf && text[2] >= 0xbe)
		return 0;
	return length;
}

/* C0, DEL, and C1 (U+0080 to U+009F). */
static bool is_control(const unsigned char *character)
{
	return character[0] < ' ' || character[0] == 0x7f ||
	       (character[0] == 0xc2 && character[1] < 0xa0);
}

/*
 * Characters that change the direction of the text after them, U+202A to U+202E and U+2066
 * to U+2069. They can make a name look like another one.
 */
static bool is_bidi(const unsigned char *character)
{
	if (character[0] != 0xe2)
		return false;
	return (character[1] == 0x80 && character[2] >= 0xaa && character[2] <= 0xae) ||
	       (character[1] == 0x81 && character[2] >= 0xa6 && character[2] <= 0xa9);
}

static bool is_obeyed(const char *string)
{
	const unsigned char *character = (const unsigned char *)string;

	return is_control(character) || is_bidi(character);
}

size_t utf8_printable(const char *string, size_t bytes)
{
	const size_t length = utf8_character(string, bytes);

	return length && is_obeyed(string) ? 0 : length;
}

/* The character as pfdrive's own text has it in ASCII, or NULL. */
static const char *utf8_ascii(const char *character, size_t length)
{
	static const char *const others[][2] = {
		{ "µ", "u" }, { "±", "+-" }, { "…", "..." }, { "∞", "inf" }
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strlen(others[i][0]) == length && !memcmp(character, others[i][0], length))
			return others[i][1];
	return NULL;
}

static void print(FILE *out, const char *text, const char *kept, bool ascii)
{
	size_t bytes = strlen(text), length;
	const char *other;

	while (bytes) {
		length = strchr(kept, *text) ? 1 : utf8_printable(text, bytes);
		other = ascii ? utf8_ascii(text, length) : NULL;
		if (other)
			fputs(other, out);
		else if (length)
			fwrite(text, 1, length, out);
		else
			fputc('?', out);
		text += length ?: 1;
		bytes -= length ?: 1;
	}
}

void utf8_print(FILE *out, const char *text)
{
	print(out, text, "", false);
}

void utf8_print_lines(FILE *out, const char *text)
{
	print(out, text, "\n\t", false);
}

void utf8_print_ascii_lines(FILE *out, const char *text)
{
	print(out, text, "\n\t", true);
}

static unsigned int code_point(const char *string, size_t length)
{
	const unsigned char *text = (const unsigned char *)string;

	return length == 1 ? text[0] :
	       length == 2 ? (text[0] & 0x1f) << 6 | (text[1] & 0x3f) :
			     (text[0] & 0xf) << 12 | (text[1] & 0x3f) << 6 | (text[2] & 0x3f);
}

void utf8_print_json(FILE *out, const char *json)
{
	size_t bytes = strlen(json), length;

	for (; bytes; json += length, bytes -= length) {
		length = utf8_character(json, bytes);
		/* These characters have at most three bytes. */
		if (*json != '\n' && length && is_obeyed(json))
			fprintf(out, "\\u%04x", code_point(json, length));
		else
			fwrite(json, 1, length ?: 1, out);
		length = length ?: 1;
	}
}

void utf8_hide_bidi(char *text)
{
	size_t length;
	char *end = text;

	for (; *text; text += length) {
		length = utf8_character(text, strlen(text)) ?: 1;
		if (length == 3 && is_bidi((unsigned char *)text)) {
			*end++ = '?';
		} else {
			memmove(end, text, length);
			end += length;
		}
	}
	*end = '\0';
}

/* Wraps sentences for the verdict, in a report and in a live view. Width is in characters. */

#define INDENT "  "

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0, i;

	for (i = 0; i < bytes; i++)
		columns += (text[i] & 0xc0) != 0x80;
	return columns;
}

static size_t word_of(const char *text)
{
	size_t word = strcspn(text, " \n");

	if (!strncmp(text + word, " %", 2))
		word += 1 + strcspn(text + word + 1, " \n");
	return word;
}

static void wrap_line(FILE *out, const char *line, size_t length, size_t columns)
{
	const char *const end = line + length;
	size_t column = 0, word;

	while (line < end) {
		word = word_of(line);
		if (column && column + 1 + columns_of(line, word) > columns) {
			fputs("\n" INDENT, out);
			column = strlen(INDENT);
		} else if (column) {
			fputc(' ', out);
			column++;
		}
		fwrite(line, 1, word, out);
		column += columns_of(line, word);
		line += word + (line + word < end);
	}
	fputc('\n', out);
}

void wrap_text(FILE *out, const char *text, size_t columns)
{
	size_t length;

	for (; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		wrap_line(out, text, length, columns);
	}
}

/*
 * Quotes a word so that a shell reads it back unchanged. Only characters known to be safe
 * are left without quotes.
 */

void shell_quote(FILE *out, const char *word)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "-_./:=,+@%";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

/*
 * Formats a function and an offset for reports and recordings. The result is valid UTF-8 if
 * the name is, and fits into the symbol field of a recording.
 */

/* A recording stores 255 bytes for a symbol and the offset. */
#define NAME_BYTES_MAX 220

/* Does not cut within a UTF-8 character. */
static int code_name_length(const char *name)
{
	size_t length = strnlen(name, NAME_BYTES_MAX);

	while (name[length] && length && (name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

char *code_name_print(const char *name, uint64_t offset)
{
	const int length = code_name_length(name);
	char *text;

	return asprintf(&text, "%.*s%s+0x%" PRIx64, length, name, name[length] ? "..." : "",
			offset) < 0 ?
		       NULL :
		       text;
}
