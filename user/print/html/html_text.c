// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escapes text for elements and quoted attributes on the page. The text may come from a recording
 * and hold any bytes. The output cannot contain markup.
 */
#include <string.h>

#include "print/html/html_text.h"
#include "util/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

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
		length = utf8_character(text, bytes);
		if (length > 1 && utf8_printable(text, bytes)) {
			fwrite(text, 1, length, out);
		} else if (length > 1) {
			fputs(REPLACEMENT, out);
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
