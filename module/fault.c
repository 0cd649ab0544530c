// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrappers for the rarely called VMA fault operations, and the table of all five. A wrapper
 * calls the original operation through attempt.c, which times and records the call. The two
 * wrappers called by nearly every fault are in fault_fast.c.
 *
 * Every wrapper that calls the original first counts itself in flight and then looks whether the
 * VMA still leads here: the operations may have been taken back after the kernel loaded the pointer
 * to the wrapper. See pfstat_exit() for the other side.
 */
#include <linux/mm.h>
#include <pfstat/record.h>

#include "attempt.h"
#include "compat.h"
#include "fault.h"
#include "fault_fast.h"
#include "in_flight.h"

static vm_fault_t fault_huge(struct vm_fault *vmf, compat_huge_size_t size)
{
	const struct vm_operations_struct *ops;
	vm_fault_t result;

	pfstat_in_flight_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (likely(READ_ONCE(ops->huge_fault) == fault_huge))
		result = pfstat_attempt_huge_fault(pfstat_wrapping_of(ops), vmf, size);
	else
		result = ops->huge_fault(vmf, size);
	pfstat_in_flight_leave();
	return result;
}

static vm_fault_t fault_page_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	vm_fault_t result;

	pfstat_in_flight_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (likely(READ_ONCE(ops->page_mkwrite) == fault_page_mkwrite))
		result = pfstat_attempt_page_mkwrite(pfstat_wrapping_of(ops), vmf);
	else
		result = ops->page_mkwrite(vmf);
	pfstat_in_flight_leave();
	return result;
}

static vm_fault_t fault_pfn_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops;
	vm_fault_t result;

	pfstat_in_flight_enter();
	ops = READ_ONCE(vmf->vma->vm_ops);
	if (likely(READ_ONCE(ops->pfn_mkwrite) == fault_pfn_mkwrite))
		result = pfstat_attempt_pfn_mkwrite(pfstat_wrapping_of(ops), vmf);
	else
		result = ops->pfn_mkwrite(vmf);
	pfstat_in_flight_leave();
	return result;
}

/*
 * Without fault-around: found nothing, so the kernel calls ->fault(), under the same lock. A NULL
 * would make it call ->fault() under the mmap lock only, so it would start each fault twice (since
 * v6.4). It is not counted in flight: it never sleeps, and the exit waits for tasks that are here.
 */
static vm_fault_t fault_map_nothing(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff)
{
	return 0;
}

void pfstat_fault_wrap(struct fault_wrapping *wrapping, bool fault_around)
{
	struct vm_operations_struct *ops = &wrapping->ops;

	if (ops->fault)
		ops->fault = pfstat_fault_fast;
	if (ops->map_pages)
		ops->map_pages = fault_around ? pfstat_map_pages_fast : fault_map_nothing;
	if (ops->huge_fault)
		ops->huge_fault = fault_huge;
	if (ops->page_mkwrite)
		ops->page_mkwrite = fault_page_mkwrite;
	if (ops->pfn_mkwrite)
		ops->pfn_mkwrite = fault_pfn_mkwrite;
	pfstat_fault_fast_templates(wrapping);
}

unsigned long pfstat_fault_wrapper(void)
{
	return (unsigned long)pfstat_fault_fast;
}

void pfstat_fault_unwrap(struct vm_operations_struct *ops,
			 const struct vm_operations_struct *original)
{
	WRITE_ONCE(ops->fault, original->fault);
	WRITE_ONCE(ops->map_pages, original->map_pages);
	WRITE_ONCE(ops->huge_fault, original->huge_fault);
	WRITE_ONCE(ops->page_mkwrite, original->page_mkwrite);
	WRITE_ONCE(ops->pfn_mkwrite, original->pfn_mkwrite);
}

/* record.h states the kernel's values for user space. They must be the same. */
static_assert(PFSTAT_FLAG_WRITE == FAULT_FLAG_WRITE);
static_assert(PFSTAT_FLAG_ALLOW_RETRY == FAULT_FLAG_ALLOW_RETRY);
static_assert(PFSTAT_FLAG_TRIED == FAULT_FLAG_TRIED);
static_assert(PFSTAT_FLAG_USER == FAULT_FLAG_USER);
static_assert(PFSTAT_FLAG_REMOTE == FAULT_FLAG_REMOTE);
static_assert(PFSTAT_FLAG_INSTRUCTION == FAULT_FLAG_INSTRUCTION);
#ifdef PFSTAT_HAVE_VMA_LOCK
static_assert(PFSTAT_FLAG_VMA_LOCK == FAULT_FLAG_VMA_LOCK);
#endif
static_assert((PFSTAT_RESULT_ERROR | PFSTAT_RESULT_FALLBACK) == (__force u32)VM_FAULT_ERROR);
static_assert(PFSTAT_RESULT_MAJOR == (__force u32)VM_FAULT_MAJOR);
static_assert(PFSTAT_RESULT_NOPAGE == (__force u32)VM_FAULT_NOPAGE);
static_assert(PFSTAT_RESULT_LOCKED == (__force u32)VM_FAULT_LOCKED);
static_assert(PFSTAT_RESULT_RETRY == (__force u32)VM_FAULT_RETRY);
static_assert(PFSTAT_RESULT_FALLBACK == (__force u32)VM_FAULT_FALLBACK);
