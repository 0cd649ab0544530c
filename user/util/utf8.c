// SPDX-License-Identifier: GPL-2.0-only
/*
 * Validates UTF-8 and prints untrusted names. Except for newlines and tabs allowed by a caller,
 * output contains no character that a terminal obeys or that changes the text direction.
 */
#include <stdbool.h>
#include <string.h>

#include "util/utf8.h"

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
