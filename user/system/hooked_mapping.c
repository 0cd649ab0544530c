// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the lines "vma pid PID START-END …" that the module prints for each hooked mapping. The
 * fields have names, and the file path comes last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "system/hooked_mapping.h"

static bool hooked_advice(const char *word, uint32_t *advice)
{
	static const char *const names[] = MAPPING_ADVICE_NAMES;

	for (*advice = 0; *advice < MAPPING_NR_ADVICES; ++*advice)
		if (!strcmp(word, names[*advice]))
			return true;
	return false;
}

bool hooked_mapping_parse(struct hooked_mapping *mapping, const char *line)
{
	struct mapping_state *state = &mapping->state;
	char advice[16];
	int fields;

	*mapping = (struct hooked_mapping){ 0 };
	fields = sscanf(line,
			"vma pid %d %" SCNx64 "-%" SCNx64
			" pgoff %*u dev %*u:%*u inode %*u advice %15s readahead_pages %" SCNu32
			" mmap_miss %" SCNu32,
			&mapping->pid, &mapping->start, &mapping->end, advice, &state->ra_pages,
			&state->mmap_miss);
	state->known = fields == 6 && hooked_advice(advice, &state->advice);
	return fields >= 3;
}
