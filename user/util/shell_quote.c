// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quotes a word so that a shell reads it back unchanged. Only characters known to be safe
 * are left without quotes.
 */
#include <string.h>

#include "util/shell_quote.h"

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
