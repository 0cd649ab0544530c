// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs one short session when the module is loaded: it watches the loading process, makes a private
 * mapping there, touches its page, compares the fault's record, and takes the hooks out again. A
 * kernel newer than the tested ones may differ in a way that no header shows. In this case the
 * module is not loaded.
 *
 * The mapping uses a file that the process has mapped itself, in general the process's program. The
 * kernel has read the program's first page to execute it, so the page is in the page cache.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>
#include <pfstat/record.h>

#include "follow.h"
#include "ring.h"
#include "self_test.h"
#include "session.h"
#include "shadow.h"

/* Says nothing about the kernel: another attempt may pass. */
static const char no_memory[] __initconst = "there is no memory";

/* A hooked file in current, with a reference, or NULL if there is none. */
static struct file *__init self_test_file(void)
{
	struct vm_area_struct *vma;
	struct file *file = NULL;

	mmap_read_lock(current->mm);
	VMA_ITERATOR(vmi, current->mm, 0);
	for_each_vma(vmi, vma) {
		if (pfstat_shadow_hooked(vma)) {
			file = get_file(vma->vm_file);
			break;
		}
	}
	mmap_read_unlock(current->mm);
	return file;
}

static bool __init self_test_is_ours(unsigned long address)
{
	struct vm_area_struct *vma;
	bool ours;

	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, address);
	ours = vma && pfstat_shadow_is_ours(READ_ONCE(vma->vm_ops));
	mmap_read_unlock(current->mm);
	return ours;
}

/* The record of the last attempt at a fault at this address. */
static bool __init self_test_record(unsigned long address, struct pfstat_record *record)
{
	bool found = false;
	unsigned int cpu;
	u64 position, end;

	pfstat_ring_hold();
	for_each_possible_cpu(cpu) {
		end = pfstat_ring_head(per_cpu_ptr(&pfstat_rings, cpu));
		for (position = 0; position < end && !found; position++)
			found = pfstat_ring_copy(cpu, position, record) &&
				record->address == address &&
				!(record->result & (__force u32)VM_FAULT_RETRY);
	}
	pfstat_ring_release();
	return found;
}

/*
 * As the kernel touches a page for another kernel function. If a program's access fails, nothing
 * tells a lack of memory from other errors.
 */
static int __init self_test_touch(unsigned long address, u64 *pfn)
{
	struct page *page;
	const int got = get_user_pages_fast(address, 1, 0, &page);

	if (got != 1)
		return got < 0 ? got : -EFAULT;
	*pfn = page_to_pfn(page);
	put_page(page);
	return 0;
}

/* Returns what differs, or NULL. */
static const char *__init self_test_compare(const struct pfstat_record *record,
					    const struct file *file, u64 pfn)
{
	if (record->op != PFSTAT_OP_FAULT)
		return "its record is not one of ->fault()";
	if (record->result & (__force u32)VM_FAULT_ERROR)
		return "its record has an error";
	if (record->class != PFSTAT_CLASS_LONG)
		return "its record has not the class of a page in the page cache";
	if (record->inode != file_inode(file)->i_ino ||
	    record->dev != file_inode(file)->i_sb->s_dev || record->pgoff)
		return "its record is of another page of a file";
	if (record->tid != current->pid || record->pid != current->tgid)
		return "its record is of another process";
	if (record->pfn != pfn)
		return "its record has another page frame than the page table";
	return NULL;
}

/* As above, for a mapping that the session found when it was made. */
static const char *__init self_test_fault(const struct file *file, unsigned long address)
{
	struct pfstat_record record;
	u64 pfn;
	int err;

	if (!self_test_is_ours(address))
		return pfstat_follow_missed() ? no_memory : "a new mapping is not wrapped";
	err = self_test_touch(address, &pfn);
	if (err)
		return err == -ENOMEM ? no_memory : "a wrapped mapping cannot be read";
	if (!self_test_record(address, &record))
		return "a fault of a wrapped mapping leaves no record";
	return self_test_compare(&record, file, pfn);
}

/* Without fault-around, because the hooks for it need more kernel locks. */
static const char *__init self_test_watch(void)
{
	char line[24];
	int err;

	snprintf(line, sizeof(line), "pid %d", task_tgid_vnr(current));
	err = pfstat_session_command(SESSION_PROGRAM, "ring_size 64K", true)		?:
		      pfstat_session_command(SESSION_PROGRAM, "fault_around off", true) ?:
		      pfstat_session_command(SESSION_PROGRAM, line, true);
	if (err == -ENOMEM)
		return no_memory;
	return err ? "the loading process cannot be watched" : NULL;
}

static const char *__init self_test_map(struct file *file)
{
	const unsigned long address = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_PRIVATE, 0);
	const char *wrong;

	if (address == (unsigned long)-ENOMEM)
		return no_memory;
	if (IS_ERR_VALUE(address))
		return "the loading process cannot map a file";
	wrong = self_test_fault(file, address);
	pfstat_session_close();
	if (!wrong && self_test_is_ours(address))
		wrong = "a mapping stays wrapped";
	vm_munmap(address, PAGE_SIZE);
	return wrong;
}

static const char *__init self_test_run(void)
{
	const char *wrong = self_test_watch();
	struct file *file;

	if (wrong)
		return wrong;
	file = self_test_file();
	if (!file)
		return "the loading process maps no file that can be wrapped; "
		       "load the module from a file system on a disk";
	wrong = self_test_map(file);
	fput(file);
	return wrong;
}

int __init pfstat_self_test(void)
{
	const char *wrong = "the loading process was killed";

	if (!pfstat_session_open()) {
		wrong = self_test_run();
		pfstat_session_close();
	}
	if (!wrong) {
		pr_info("the self-test passed\n");
		return 0;
	}
	pr_err("the self-test failed: %s\n", wrong);
	return wrong == no_memory ? -ENOMEM : -EOPNOTSUPP;
}
