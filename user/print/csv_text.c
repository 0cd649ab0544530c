// SPDX-License-Identifier: GPL-2.0-only
/* Prints text and numbers from recordings as CSV cells, in RFC 4180 format. */
#include <string.h>

#include "print/csv_text.h"

/*
 * Spreadsheets interpret a cell that begins with such a character as a formula, which may run
 * commands or send data away. An apostrophe makes the cell text. A name that begins like a shielded
 * one gets another apostrophe, so that readers can tell them apart.
 */
static const char *shield(const char *text)
{
	const char first = text[strspn(text, "'")];

	return first && strchr("=+-@\t\r", first) ? "'" : "";
}

void csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs_unlocked(shield(text), out);
		fputs_unlocked(text, out);
		return;
	}
	fprintf(out, "\"%s", shield(text));
	for (; *text; text++) {
		if (*text == '"')
			putc_unlocked('"', out);
		putc_unlocked(*text, out);
	}
	putc_unlocked('"', out);
}

void csv_text_number(FILE *out, uint64_t number)
{
	char digits[20], *const end = digits + sizeof(digits), *at = end;

	do {
		*--at = '0' + number % 10;
		number /= 10;
	} while (number);
	while (at < end)
		putc_unlocked(*at++, out);
}

void csv_text_address(FILE *out, uint64_t address)
{
	char digits[16], *const end = digits + sizeof(digits), *at = end;

	fputs_unlocked(address ? "0x" : "0", out);
	for (; address; address >>= 4)
		*--at = "0123456789abcdef"[address & 15];
	while (at < end)
		putc_unlocked(*at++, out);
}
