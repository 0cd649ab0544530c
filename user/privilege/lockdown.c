// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the lockdown level from securityfs. If the file cannot be read, the kernel counts
 * as not locked down.
 */
#include <stdio.h>
#include <string.h>

#include "privilege/lockdown.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

const char *lockdown_parse(const char *text, char *word, size_t size)
{
	const char *begin = strchr(text, '['), *end = begin ? strchr(begin, ']') : NULL;
	size_t length;

	if (!end)
		return NULL;
	length = end - begin - 1;
	if (!length || length >= size)
		return NULL;
	memcpy(word, begin + 1, length);
	word[length] = '\0';
	return word;
}

const char *lockdown_level(void)
{
	static char word[32];
	char line[128] = "";
	FILE *file = fopen(LOCKDOWN, "re");
	const char *level;

	if (!file)
		return NULL;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	level = lockdown_parse(line, word, sizeof(word));
	return level && strcmp(level, "none") ? level : NULL;
}
