// SPDX-License-Identifier: GPL-2.0-only
/* Does ftrace_regs_get_argument() return a traced function's arguments? Since v6.2. */
#include <linux/ftrace.h>

unsigned long probe(struct ftrace_regs *fregs);
unsigned long probe(struct ftrace_regs *fregs)
{
	return ftrace_regs_get_argument(fregs, 0);
}
