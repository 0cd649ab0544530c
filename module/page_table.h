/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the page table entry for a fault solved by ->map_pages. */
#ifndef PFSTAT_PAGE_TABLE_H
#define PFSTAT_PAGE_TABLE_H

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <pfstat/record.h>

/*
 * The frame at the faulting address. PFSTAT_NO_PFN: there is no table, or another CPU has unmapped
 * the page meanwhile. The operation's caller keeps the table: by RCU since v6.4, before by the mmap
 * lock.
 */
static __always_inline unsigned long page_table_pfn(const struct vm_fault *vmf)
{
#ifdef CONFIG_X86_64
	const unsigned long pmd = READ_ONCE(*(const unsigned long *)vmf->pmd);
	const unsigned long *table;
	unsigned long pte;

	/* Xen PV tables have machine frames. */
	if (unlikely((pmd & (_PAGE_PRESENT | _PAGE_PSE)) != _PAGE_PRESENT) ||
	    unlikely(cpu_feature_enabled(X86_FEATURE_XENPV)))
		return PFSTAT_NO_PFN;
	table = __va(pmd & PTE_PFN_MASK);
	pte = READ_ONCE(table[pte_index(vmf->real_address)]);
	if (unlikely(!(pte & _PAGE_PRESENT)))
		return PFSTAT_NO_PFN;
	return (pte & PTE_PFN_MASK) >> PAGE_SHIFT;
#else
	const pmd_t pmd = READ_ONCE(*vmf->pmd);
	const pte_t *table;
	pte_t pte;

	if (unlikely(!pmd_present(pmd)) || unlikely(pmd_leaf(pmd)))
		return PFSTAT_NO_PFN;
	table = (const pte_t *)pmd_page_vaddr(pmd);
	pte = READ_ONCE(table[pte_index(vmf->real_address)]);
	return likely(pte_present(pte)) ? pte_pfn(pte) : PFSTAT_NO_PFN;
#endif
}

#endif
