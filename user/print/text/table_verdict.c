// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict as the first lines in a text report. The rules make the sentences. Here they
 * are wrapped to the page width.
 */
#include <errno.h>
#include <stdlib.h>

#include "print/print_verdict.h"
#include "print/text/table.h"
#include "util/grid.h"
#include "util/text.h"

int table_verdict(FILE *out, const struct view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int err;

	if (!memory)
		return -errno;
	print_verdict(memory, &view->verdict, view->run);
	err = fclose(memory) ? -ENOMEM : 0;
	if (!err)
		wrap_text(out, text, grid_width());
	free(text);
	return err;
}
