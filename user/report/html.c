// SPDX-License-Identifier: GPL-2.0-only
#include "html.h"

int html_print_report(FILE *out, const struct html_page *page)
{
	(void)out;
	(void)page;
	return 0;
}
