// SPDX-License-Identifier: GPL-2.0-only
/* The table of parts as an array, for the printers, the figures and the comparisons. */
#include "model/part.h"

#define PART_ROW(name, spelling, title, rgb, hooks, traits) { spelling, title, rgb, hooks, traits },

const struct part_row part_rows[NR_PARTS] = { PARTS(PART_ROW) };

uint32_t parts_with(enum part_trait trait)
{
	uint32_t parts = 0;
	enum part part;

	for (part = 0; part < NR_PARTS; part++)
		if (part_has(part, trait))
			parts |= 1U << part;
	return parts;
}
