/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels, and nothing else. The PFSTAT_HAVE_ macros come from
 * module/probes/, which are compiled when the module is built, never from version numbers:
 * distributions backport. Kbuild refuses kernels outside the supported range.
 */
#ifndef PFSTAT_COMPAT_H
#define PFSTAT_COMPAT_H

#include <linux/device.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/module.h>
#include <linux/percpu.h>

/* v6.6: a huge fault's size is an order, no longer an enum. */
#ifdef PFSTAT_HAVE_PAGE_ENTRY_SIZE
typedef enum page_entry_size compat_huge_size_t;
#else
typedef unsigned int compat_huge_size_t;
#endif

/*
 * v6.18: finish_fault() maps the whole folio of the page returned by ->fault(). Before, it mapped
 * only the page. No header shows the change, so this tests for another change in the same release,
 * and tests/vm/test_large_folios.py compares the result with each kernel's page tables.
 */
#ifdef PFSTAT_HAVE_MEMDESC_FLAGS
#define COMPAT_FAULT_MAPS_FOLIO true
#else
#define COMPAT_FAULT_MAPS_FOLIO false
#endif

/* v6.18: folio->flags became a one-word struct. */
static inline unsigned long compat_folio_flags(const struct folio *folio)
{
	/* Other CPUs change flags at any time. Callers expect a slightly stale value. */
#ifdef PFSTAT_HAVE_MEMDESC_FLAGS
	return data_race(folio->flags.f); /* see above */
#else
	return data_race(folio->flags); /* see above */
#endif
}

/*
 * The inode under which a mapping's file was opened: an overlay's inode, where the file itself has
 * the lower inode. Before v6.8 such a file has the overlay's path.
 */
static inline const struct inode *compat_user_inode(const struct file *file)
{
#ifdef PFSTAT_HAVE_FILE_USER_INODE
	return file_user_inode((struct file *)file); /* not const in v6.8 */
#else
	return d_inode(file->f_path.dentry);
#endif
}

/*
 * current, looked up again: the compiler may keep the other copy over a call, in a register that
 * something else needs more. v6.2 to v6.14: current is a struct member.
 */
static __always_inline struct task_struct *compat_current_anew(void)
{
#ifndef CONFIG_X86_64
	return current; /* current has a separate register */
#elif defined(PFSTAT_HAVE_PCPU_HOT)
	return this_cpu_read(pcpu_hot.current_task);
#else
	return this_cpu_read(current_task);
#endif
}

/* v6.2: a class names the node of a device that the class cannot change. */
#ifdef PFSTAT_HAVE_DEVNODE_DEVICE
typedef struct device compat_devnode_device_t;
#else
typedef const struct device compat_devnode_device_t;
#endif

/*
 * A direct ftrace call at the functions in ops' filter. v6.3: the functions for a single address
 * are gone, and these have their names.
 */
static inline int compat_register_direct(struct ftrace_ops *ops, unsigned long address)
{
#ifdef PFSTAT_HAVE_FTRACE_DIRECT_OPS
	return register_ftrace_direct(ops, address);
#else
	return register_ftrace_direct_multi(ops, address);
#endif
}

static inline int compat_unregister_direct(struct ftrace_ops *ops, unsigned long address)
{
#ifdef PFSTAT_HAVE_FTRACE_DIRECT_OPS
	return unregister_ftrace_direct(ops, address, false);
#else
	return unregister_ftrace_direct_multi(ops, address);
#endif
}

/* An argument of a traced function: 0 or 3. v6.2: there is a function for it. */
static __always_inline unsigned long compat_traced_argument(struct ftrace_regs *fregs,
							    unsigned int n)
{
#ifdef PFSTAT_HAVE_FTRACE_REGS_ARGUMENT
	return ftrace_regs_get_argument(fregs, n);
#elif defined(CONFIG_X86_64)
	return n ? fregs->regs.cx : fregs->regs.di;
#else
	return 0;
#endif
}

/* The bit of an entry that userfaultfd protects, on x86-64. v7.3: it has another name. */
#if defined(_PAGE_UFFD_WP)
#define COMPAT_ENTRY_UFFD _PAGE_UFFD_WP
#elif defined(_PAGE_UFFD)
#define COMPAT_ENTRY_UFFD _PAGE_UFFD
#else
#define COMPAT_ENTRY_UFFD 0
#endif

/*
 * The current thread runs a virtual CPU: only KVM uses notifiers of preemption, while it has loaded
 * the CPU. Without KVM the kernel has none.
 */
static inline bool compat_runs_guest(void)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	return !hlist_empty(&current->preempt_notifiers);
#else
	return false;
#endif
}

/* v6.4: text, data and the rest of a module lie apart. */
static inline size_t compat_module_bytes(const struct module *module)
{
#ifdef PFSTAT_HAVE_MODULE_MEMORY
	size_t bytes = 0;

	for_each_mod_mem_type(type)
		bytes += module->mem[type].size;
	return bytes;
#else
	return module->core_layout.size;
#endif
}

#endif
