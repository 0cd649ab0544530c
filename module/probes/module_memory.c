// SPDX-License-Identifier: GPL-2.0-only
/* Is a module's memory an array by type? No: 6.1. Yes: 6.4 and later. */
#include <linux/module.h>

unsigned int probe(const struct module *module);
unsigned int probe(const struct module *module)
{
	return module->mem[MOD_TEXT].size;
}
