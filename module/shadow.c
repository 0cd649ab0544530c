// SPDX-License-Identifier: GPL-2.0-only
/*
 * One shadow for each original vm_operations_struct, device, fault-around mode, and shared or
 * private mapping (so a record has these, and a call need not look them up in the VMA): a copy
 * whose fault operations are wrappers. NULL members stay NULL, because the kernel draws conclusions
 * from them, and .close is never added: it would stop VMA merging.
 *
 * Shadows live until the module is unloaded, so an old pointer leads to valid memory. There are
 * some for each file system in use. Shadows are not module data: a shadow that might still be
 * pointed to at the unload is leaked, disarmed.
 *
 * VMAs and wrappers see a shadow through a read-only mapping of the shadow's page, just as the
 * original is read-only data. Writes go through the kernel's own mapping of all memory (`store`).
 * No other object shares the page. (set_memory_ro() is not exported.)
 *
 *	ARMED --session ends--> DISARMED --session begins--> FREE --same kind needed--> ARMED
 *
 * A disarmed shadow has the original operations in place of the wrappers. It becomes free only if
 * no living VMA points to it: a new session must not time an old session's targets.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/magic.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "fault.h"
#include "shadow.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

#define SHADOWS_PER_PAGE (PAGE_SIZE / sizeof(struct shadow))
/* So many are there for probes, which cannot sleep. */
#define SHADOWS_SPARE 4

struct shadow_page {
	struct list_head list;
	struct page *page;
	struct shadow *view; /* read-only */
	struct shadow *store;
	unsigned int used;
};

struct shadow_entry {
	struct list_head list;
	const struct shadow *view;
	struct shadow *store;
};

static LIST_HEAD(shadows);	      /* entries are struct shadow_entry */
static LIST_HEAD(shadow_pages);	      /* the first has room, if any has */
static unsigned int shadows_spare;    /* unused in all pages */
static DEFINE_SPINLOCK(shadows_lock); /* for all of these; readers of `shadows` use RCU */
static bool shadows_open;	      /* a session records, under shadows_lock */
/* The ->open in every shadow, which identifies shadow operations. */
static void (*shadow_vma_open)(struct vm_area_struct *vma) __ro_after_init;

void pfstat_shadow_init(void (*vma_open)(struct vm_area_struct *vma))
{
	shadow_vma_open = vma_open;
}

bool pfstat_shadow_is_ours(const struct vm_operations_struct *ops)
{
	return ops && ops->open == shadow_vma_open;
}

bool pfstat_shadow_is_armed(const struct vm_operations_struct *ops)
{
	return READ_ONCE(pfstat_shadow_of(ops)->state) == SHADOW_ARMED;
}

bool pfstat_shadow_hooked(const struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	return pfstat_shadow_is_ours(ops) && pfstat_shadow_is_armed(ops);
}

/* The operations given to the VMA by the file system. */
static const struct vm_operations_struct *original_of(const struct vm_operations_struct *ops)
{
	return pfstat_shadow_is_ours(ops) ? pfstat_shadow_of(ops)->kind.original : ops;
}

/* File systems whose VMAs are known by the identity of their operations. */
static bool filesystem_allowed(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC: /* also memfd and SysV shared memory */
	case HUGETLBFS_MAGIC:
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case SECRETMEM_MAGIC:
	case CODA_SUPER_MAGIC:
	case DEBUGFS_MAGIC:
	case PROC_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/*
 * Do the pages come from a device or a server? Other regular files are memory that looks
 * like a file to share the page cache's code, as guest_memfd's. On a file system without a
 * device (NFS, SMB, 9p, FUSE, ZFS) a file has an operation to read a page, or it is DAX.
 */
static bool has_backing(const struct file *file)
{
	return file_inode(file)->i_sb->s_type->fs_flags & FS_REQUIRES_DEV ||
	       IS_DAX(file_inode(file)) || file->f_mapping->a_ops->read_folio;
}

/* ops: the VMA's original operations. */
static int shadow_check(const struct vm_area_struct *vma, const struct vm_operations_struct *ops)
{
	const struct inode *inode;

	if (!vma->vm_file || !ops || !ops->fault)
		return -EOPNOTSUPP;
	if (vma->vm_flags & (VM_HUGETLB | VM_PFNMAP | VM_IO))
		return -EOPNOTSUPP;
	inode = file_inode(vma->vm_file);
	if (!S_ISREG(inode->i_mode) || !filesystem_allowed(inode->i_sb) ||
	    !has_backing(vma->vm_file))
		return -EOPNOTSUPP;
	/* FUSE's close only writes back. Others may rely on the count from open. */
	if (ops->open || (ops->close && inode->i_sb->s_magic != FUSE_SUPER_MAGIC))
		return -EOPNOTSUPP;
	return 0;
}

static struct shadow_kind shadow_kind_of(const struct vm_area_struct *vma,
					 const struct vm_operations_struct *original,
					 bool fault_around)
{
	return (struct shadow_kind){
		.original = original,
		.dev = file_inode(vma->vm_file)->i_sb->s_dev,
		.shared = vma->vm_flags & VM_SHARED,
		.fault_around = fault_around,
	};
}

static bool is_same_kind(const struct shadow_kind *a, const struct shadow_kind *b)
{
	return a->original == b->original && a->dev == b->dev && a->shared == b->shared &&
	       a->fault_around == b->fault_around;
}

static struct shadow_entry *shadow_find(const struct shadow_kind *kind, enum shadow_state state)
{
	struct shadow_entry *entry;

	/*
	 * Compares the contents too: a file system's module may have been unloaded, and another
	 * loaded at the same address.
	 */
	list_for_each_entry_rcu(entry, &shadows, list, lockdep_is_held(&shadows_lock))
		if (READ_ONCE(entry->view->state) == state &&
		    is_same_kind(&entry->view->kind, kind) &&
		    !memcmp(&entry->view->wrapping.pristine, kind->original,
			    sizeof(*kind->original)))
			return entry;
	return NULL;
}

static void page_free(struct shadow_page *page)
{
	vunmap(page->view);
	if (page->page)
		__free_page(page->page);
	kfree(page);
}

static struct shadow_page *page_make(void)
{
	struct shadow_page *made = kzalloc(sizeof(*made), GFP_KERNEL);

	if (!made)
		return NULL;
	made->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (made->page)
		made->view = vmap(&made->page, 1, VM_MAP, PAGE_KERNEL_RO);
	if (made->view) {
		made->store = page_address(made->page);
		return made;
	}
	page_free(made);
	return NULL;
}

/* May sleep. Returns false if memory is short. */
static bool shadows_refill(void)
{
	struct shadow_page *made;

	if (READ_ONCE(shadows_spare) >= SHADOWS_SPARE)
		return true;
	made = page_make();
	if (!made)
		return READ_ONCE(shadows_spare);
	spin_lock(&shadows_lock);
	list_add(&made->list, &shadow_pages);
	shadows_spare += SHADOWS_PER_PAGE;
	spin_unlock(&shadows_lock);
	return true;
}

/* Under shadows_lock. */
static bool entry_place(struct shadow_entry *entry)
{
	struct shadow_page *page;

	list_for_each_entry(page, &shadow_pages, list) {
		if (page->used == SHADOWS_PER_PAGE)
			continue;
		entry->view = page->view + page->used;
		entry->store = page->store + page->used++;
		WRITE_ONCE(shadows_spare, shadows_spare - 1);
		return true;
	}
	return false;
}

static void shadow_fill(struct shadow *shadow, const struct shadow_kind *kind)
{
	struct fault_wrapping *wrapping = &shadow->wrapping;

	shadow->kind = *kind;
	wrapping->pristine = *kind->original;
	wrapping->dev = kind->dev;
	wrapping->shared = kind->shared;
	wrapping->ops = *kind->original;
	wrapping->ops.open = shadow_vma_open;
	pfstat_fault_wrap(wrapping, kind->fault_around);
	shadow->state = SHADOW_ARMED;
}

/* Under shadows_lock. An armed shadow of this kind, if there is one or a free one. */
static struct shadow_entry *shadow_reuse(const struct shadow_kind *kind)
{
	struct shadow_entry *entry = shadow_find(kind, SHADOW_ARMED);

	if (entry)
		return entry;
	entry = shadow_find(kind, SHADOW_FREE);
	if (!entry)
		return NULL;
	pfstat_fault_wrap(&entry->store->wrapping, kind->fault_around);
	/* Pairs with the load in shadow_find(): wrappers, then state (shadow-reuse.litmus). */
	smp_store_release(&entry->store->state, SHADOW_ARMED);
	return entry;
}

/* An armed shadow of this kind: an existing one, or else `made`, which is then taken. */
static struct shadow_entry *shadow_enter(const struct shadow_kind *kind, struct shadow_entry *made)
{
	struct shadow_entry *entry = NULL;

	spin_lock(&shadows_lock);
	if (shadows_open)
		entry = shadow_reuse(kind);
	if (shadows_open && !entry && made && entry_place(made)) {
		shadow_fill(made->store, kind);
		list_add_tail_rcu(&made->list, &shadows);
		entry = made;
	}
	spin_unlock(&shadows_lock);
	return entry;
}

/* Returns NULL if memory is short or the session has just ended. */
static struct shadow_entry *shadow_make(const struct shadow_kind *kind, gfp_t gfp)
{
	struct shadow_entry *entry, *made;

	if (gfp == GFP_KERNEL && !shadows_refill())
		return NULL;
	made = kmalloc(sizeof(*made), gfp);
	if (!made)
		return NULL;
	entry = shadow_enter(kind, made);
	if (entry != made)
		kfree(made);
	return entry;
}

static const struct shadow *shadow_get(const struct shadow_kind *kind, gfp_t gfp)
{
	struct shadow_entry *entry;

	rcu_read_lock();
	entry = shadow_find(kind, SHADOW_ARMED);
	rcu_read_unlock();
	entry = entry ?: shadow_enter(kind, NULL) ?: shadow_make(kind, gfp);
	return entry ? entry->view : NULL;
}

int pfstat_shadow_prepare(const struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	const struct vm_operations_struct *original = original_of(vma->vm_ops);
	struct shadow_kind kind;

	if (pfstat_shadow_hooked(vma) || shadow_check(vma, original))
		return 0;
	kind = shadow_kind_of(vma, original, fault_around);
	return shadow_get(&kind, gfp) ? 0 : -ENOMEM;
}

int pfstat_shadow_hook(struct vm_area_struct *vma, bool fault_around, gfp_t gfp)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);
	struct shadow_kind kind;
	const struct shadow *shadow;
	int err;

	if (pfstat_shadow_hooked(vma))
		return 0;
	err = shadow_check(vma, original_of(ops));
	if (err)
		return err;
	kind = shadow_kind_of(vma, original_of(ops), fault_around);
	shadow = shadow_get(&kind, gfp);
	if (!shadow)
		return -ENOMEM;
	/*
	 * Other threads may fault in the VMA meanwhile. Pairs with the address dependency of their
	 * loads through vm_ops: the shadow's members come before the pointer. An older session's
	 * shadow may be taken out at the same time: this one stays. See shadow-publish.litmus and
	 * shadow-take-out.litmus in tests/litmus/.
	 */
	smp_store_release(&vma->vm_ops, &shadow->wrapping.ops);
	return 0;
}

void pfstat_shadow_unhook(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);

	if (pfstat_shadow_is_ours(ops))
		WRITE_ONCE(vma->vm_ops, original_of(ops));
}

void pfstat_shadow_unhook_if(struct vm_area_struct *vma, const struct vm_operations_struct *ops)
{
	cmpxchg(&vma->vm_ops, ops, original_of(ops));
}

int pfstat_shadow_open(bool reuse)
{
	struct shadow_entry *entry;

	if (!shadows_refill())
		return -ENOMEM;
	spin_lock(&shadows_lock);
	list_for_each_entry(entry, &shadows, list)
		if (reuse && entry->store->state == SHADOW_DISARMED)
			WRITE_ONCE(entry->store->state, SHADOW_FREE);
	shadows_open = true;
	spin_unlock(&shadows_lock);
	return 0;
}

static void disarm(struct shadow *shadow)
{
	pfstat_fault_unwrap(&shadow->wrapping.ops, &shadow->wrapping.pristine);
	WRITE_ONCE(shadow->state, SHADOW_DISARMED);
}

void pfstat_shadow_shut(void)
{
	struct shadow_entry *entry;

	spin_lock(&shadows_lock);
	shadows_open = false;
	list_for_each_entry(entry, &shadows, list)
		if (entry->store->state == SHADOW_ARMED)
			disarm(entry->store);
	spin_unlock(&shadows_lock);
}

static void pages_free(void)
{
	struct shadow_page *page, *next;

	list_for_each_entry_safe(page, next, &shadow_pages, list)
		page_free(page);
}

void pfstat_shadow_exit(bool leak)
{
	struct shadow_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &shadows, list) {
		list_del(&entry->list);
		/* Only an exiting process can still look at it, and it copies no VMA. */
		if (leak)
			WRITE_ONCE(entry->store->wrapping.ops.open,
				   entry->store->wrapping.pristine.open);
		kfree(entry);
	}
	if (!leak)
		pages_free();
}

bool pfstat_shadow_never_made(void)
{
	return list_empty(&shadows);
}

size_t pfstat_shadow_bytes(void)
{
	struct shadow_entry *entry;
	struct shadow_page *page;
	size_t bytes = 0;

	spin_lock(&shadows_lock);
	list_for_each_entry(entry, &shadows, list)
		bytes += sizeof(*entry);
	list_for_each_entry(page, &shadow_pages, list)
		bytes += sizeof(*page) + PAGE_SIZE;
	spin_unlock(&shadows_lock);
	return bytes;
}
