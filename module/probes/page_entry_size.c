// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does ->huge_fault() take an enum page_entry_size? Yes: 6.1. No: 6.6 and later (an unsigned
 * order). The probe uses the enumerator, because an unsigned parameter is compatible with an enum.
 */
#include <linux/mm.h>

int probe(void);
int probe(void)
{
	return PE_SIZE_PTE;
}
