// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of causes. The first row with a function on the stack decides: a server or a journal
 * comes before the general locks, through which a thread waits for it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "model/wait_cause.h"

/* A function that ends in '*' matches a prefix. */
static const struct {
	const char *function, *cause;
} causes[] = {
	{ "handle_userfault", WAIT_USERFAULTFD },
	{ "jbd2_*", "the journal of ext4 (jbd2)" },
	{ "wait_transaction_*", "the journal of ext4 (jbd2)" },
	{ "start_this_handle", "the journal of ext4 (jbd2)" },
	{ "add_transaction_credits", "the journal of ext4 (jbd2)" },
	{ "xlog_*", "the log of XFS" },
	{ "xfs_log_*", "the log of XFS" },
	{ "nfs_*", WAIT_NFS },
	{ "nfs4_*", WAIT_NFS },
	{ "rpc_*", WAIT_NFS },
	{ "__rpc_*", WAIT_NFS },
	{ "xprt_*", WAIT_NFS },
	{ "fuse_*", WAIT_FUSE },
	{ "__fuse_*", WAIT_FUSE },
	{ "request_wait_answer", WAIT_FUSE },
	{ "cifs_*", WAIT_SMB },
	{ "smb2_*", WAIT_SMB },
	{ "p9_*", WAIT_9P },
	{ "v9fs_*", WAIT_9P },
	{ "ceph_*", WAIT_CEPH },
	{ "balance_dirty_pages*", WAIT_WRITEBACK },
	{ "__btrfs_tree_*", "a lock of a btrfs tree" },
	{ "btrfs_tree_*", "a lock of a btrfs tree" },
	{ "lock_extent*", "a lock of an extent (btrfs)" },
	{ "reclaim_throttle", "reclaim of memory, which is throttled" },
	{ "throttle_direct_reclaim", "reclaim of memory, which is throttled" },
	{ "shrink_*", "reclaim of memory" },
	{ "try_to_free_*", "reclaim of memory" },
	{ "mem_cgroup_oom*", "the OOM killer of the cgroup" },
	{ "migration_entry_wait*", "the migration of the page" },
	{ "folio_wait_writeback", "the writeback of the page" },
	{ "folio_wait_stable", "the writeback of the page" },
	{ "wait_on_page_writeback", "the writeback of the page" },
	{ "swap_read*", "a page of swap" },
	{ "do_swap_page", "a page of swap that is read or locked" },
	{ "rq_qos_wait", "the limit of writeback (wbt, iolatency)" },
	{ "ioc_rqos_throttle", "the limit of I/O (io.cost)" },
	{ "blk_mq_get_tag", "a free request of the device" },
	{ "lock_mm_and_find_vma", WAIT_MMAP_LOCK },
	{ "mmap_read_lock*", WAIT_MMAP_LOCK },
	{ "vma_start_*", WAIT_VMA_LOCK },
	/* The stacks end at handle_mm_fault(), so this is the way to it. */
	{ "do_user_addr_fault", WAIT_MMAP_LOCK },
	{ "do_page_fault", WAIT_MMAP_LOCK },
	{ "percpu_rwsem_wait", "the end of a freeze of the file system" },
	{ "__lock_buffer", "a buffer of the file system" },
	{ "__wait_on_buffer", "a buffer of the file system" },
	{ "__bread_gfp", "a block of the file system's own" },
	{ "inode_lock*", "the lock of the inode" },
	{ "rwsem_down_*", "a read-write semaphore" },
	{ "__mutex_lock*", "a mutex" },
	{ "folio_wait_bit_common", "a page that another thread reads or has locked" },
	{ "__folio_lock*", "a page that another thread reads or has locked" },
};

/* @length: of the function */
static bool cause_matches(const char *pattern, const char *function, size_t length)
{
	const char *star = strchr(pattern, '*');
	size_t fixed = star ? (size_t)(star - pattern) : strlen(pattern);

	if (length < fixed || strncmp(pattern, function, fixed) || (!star && length != fixed))
		return false;
	return true;
}

static bool cause_is_on_stack(const char *pattern, const char *functions)
{
	size_t length;

	for (; *functions; functions += length + (functions[length] == '<')) {
		length = strcspn(functions, "<");
		if (cause_matches(pattern, functions, length))
			return true;
	}
	return false;
}

const char *wait_cause_of(const char *functions)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (cause_is_on_stack(causes[i].function, functions))
			return causes[i].cause;
	return NULL;
}

enum wait_kind wait_kind_of(const char *cause)
{
	if (!cause)
		return WAIT_UNKNOWN;
	return strcmp(cause, WAIT_USERFAULTFD) ? WAIT_KNOWN : WAIT_OF_HANDLER;
}
