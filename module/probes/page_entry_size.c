// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does ->huge_fault() take an enum page_entry_size? Yes: 6.1. No: 6.6 and
 * later (an unsigned order). Asks for the enumerator, because an unsigned
 * parameter is compatible with an enum one and would say yes to both.
 */
#include <linux/mm.h>

int probe(void);
int probe(void)
{
	return PE_SIZE_PTE;
}
