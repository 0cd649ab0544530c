// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of causes. The first row with a function on the stack decides: a server or a journal
 * comes before the general locks, through which a thread waits for it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "model/wait_cause.h"

/* A function ending in '*' matches a prefix. */
static const struct {
	const char *function, *cause;
} causes[] = {
	{ "handle_userfault", WAIT_USERFAULTFD },
	{ "jbd2_*", "the ext4 journal (jbd2)" },
	{ "wait_transaction_*", "the ext4 journal (jbd2)" },
	{ "start_this_handle", "the ext4 journal (jbd2)" },
	{ "add_transaction_credits", "the ext4 journal (jbd2)" },
	{ "xlog_*", "the XFS log" },
	{ "xfs_log_*", "the XFS log" },
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
	{ "__btrfs_tree_*", "a btrfs tree lock" },
	{ "btrfs_tree_*", "a btrfs tree lock" },
	{ "lock_extent*", "an extent lock (btrfs)" },
	{ "reclaim_throttle", "memory reclaim, which is throttled" },
	{ "throttle_direct_reclaim", "memory reclaim, which is throttled" },
	{ "shrink_*", "memory reclaim" },
	{ "try_to_free_*", "memory reclaim" },
	{ "mem_cgroup_oom*", "the cgroup's OOM killer" },
	{ "migration_entry_wait*", "the page's migration" },
	{ "folio_wait_writeback", "the page's writeback" },
	{ "folio_wait_stable", "the page's writeback" },
	{ "wait_on_page_writeback", "the page's writeback" },
	{ "swap_read*", "a swap page" },
	{ "do_swap_page", "a swap page that is read or locked" },
	{ "rq_qos_wait", "the writeback limit (wbt, iolatency)" },
	{ "ioc_rqos_throttle", "the I/O limit (io.cost)" },
	{ "blk_mq_get_tag", "a free device request" },
	{ "lock_mm_and_find_vma", WAIT_MMAP_LOCK },
	{ "mmap_read_lock*", WAIT_MMAP_LOCK },
	{ "vma_start_*", WAIT_VMA_LOCK },
	/* The stacks end at handle_mm_fault(), so this is the way to it. */
	{ "do_user_addr_fault", WAIT_MMAP_LOCK },
	{ "do_page_fault", WAIT_MMAP_LOCK },
	{ "percpu_rwsem_wait", "the end of a file system freeze" },
	{ "__lock_buffer", "a file system buffer" },
	{ "__wait_on_buffer", "a file system buffer" },
	{ "__bread_gfp", "a block of the file system's own" },
	{ "inode_lock*", "the inode lock" },
	{ "rwsem_down_*", "a read-write semaphore" },
	{ "__mutex_lock*", "a mutex" },
	/* The thread has called ->read_folio. */
	{ "filemap_read_folio", WAIT_READ },
	{ "folio_wait_bit_common", WAIT_PAGE },
	{ "__folio_lock*", WAIT_PAGE },
};

/* @length: the function name's length */
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
