// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "html_text.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the UTF-8 character that text begins with; 0: it is none. */
static size_t character(const unsigned char *text, size_t bytes)
{
	static const struct {
		unsigned char mask, lead;
	} forms[] = { { 0xe0, 0xc0 }, { 0xf0, 0xe0 }, { 0xf8, 0xf0 } };
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
	return length;
}

static void put_ascii(FILE *out, char c)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			fputs(REPLACEMENT, out);
		else
			fputc(c, out);
	}
}

void html_text_part(FILE *out, const char *text, size_t bytes)
{
	size_t length;

	for (; bytes; text += length, bytes -= length) {
		length = character((const unsigned char *)text, bytes);
		if (length > 1) {
			fwrite(text, 1, length, out);
		} else if (length) {
			put_ascii(out, *text);
		} else {
			fputs(REPLACEMENT, out);
			length = 1;
		}
	}
}

void html_text(FILE *out, const char *text)
{
	html_text_part(out, text, strlen(text));
}
