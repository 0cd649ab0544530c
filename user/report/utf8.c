// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <string.h>

#include "utf8.h"

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
	/* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
	if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
	    (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
		return 0;
	/* U+FFFE and U+FFFF: XML has no such characters. */
	if (*text == 0xef && text[1] == 0xbf && text[2] >= 0xbe)
		return 0;
	return length;
}

/* C0 and DEL, and C1, which are U+0080 to U+009F. */
static bool is_control(const unsigned char *character)
{
	return character[0] < ' ' || character[0] == 0x7f ||
	       (character[0] == 0xc2 && character[1] < 0xa0);
}

size_t utf8_printable(const char *string, size_t bytes)
{
	const size_t length = utf8_character(string, bytes);

	return length && is_control((const unsigned char *)string) ? 0 : length;
}

void utf8_print(FILE *out, const char *text)
{
	size_t bytes = strlen(text), length;

	while (bytes) {
		length = utf8_printable(text, bytes);
		if (length)
			fwrite(text, 1, length, out);
		else
			fputc('?', out);
		text += length ?: 1;
		bytes -= length ?: 1;
	}
}
