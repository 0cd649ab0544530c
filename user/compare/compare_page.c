// SPDX-License-Identifier: GPL-2.0-only
/* A comparison's HTML page: a figure and a table. */
#include <errno.h>
#include <stdlib.h>

#include "compare/compare_page.h"
#include "compare/compare_print.h"
#include "print/html/html.h"
#include "print/html/html_template.h"

static int compare_page_subject(FILE *out, const void *context)
{
	const struct compare_page *page = context;
	const struct compare_side *a = &page->report->a, *b = &page->report->b;
	char *text;

	if (asprintf(&text,
		     a->nr + b->nr > 2 ? "Page faults: %s, %s and others compared" :
					 "Page faults: %s and %s compared",
		     a->runs[0].file, b->runs[0].file) < 0)
		return -ENOMEM;
	html_text(out, text);
	free(text);
	return 0;
}

static int compare_page_table(FILE *out, const void *context)
{
	return compare_print_table(out, context);
}

static int compare_page_body(FILE *out, const void *context)
{
	const struct compare_page *page = context;
	struct html_part part = html_part("comparison");
	int err;

	html_part_to(out, &part, "figures");
	err = html_print_figures(out, page->drawing, page->svgs, 1);
	html_part_to(out, &part, "tables");
	err = err ?: html_tables(out, compare_page_table, page->report);
	html_part_end(out, &part);
	return err;
}

int compare_page_print(FILE *out, const struct compare_page *page)
{
	return html_print_content(out, &(struct html_content){
					       .subject = compare_page_subject,
					       .body = compare_page_body,
					       .context = page,
				       });
}
