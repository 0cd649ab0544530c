// SPDX-License-Identifier: GPL-2.0-only
/* Does register_ftrace_direct() take a struct ftrace_ops? Since v6.3. */
#include <linux/ftrace.h>

int probe(struct ftrace_ops *ops, unsigned long address);
int probe(struct ftrace_ops *ops, unsigned long address)
{
	return register_ftrace_direct(ops, address);
}
