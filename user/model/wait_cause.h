/* SPDX-License-Identifier: GPL-2.0-only */
/* The cause of a wait, from the names of the functions on the kernel stack. */
#ifndef PFSTAT_USER_WAIT_CAUSE_H
#define PFSTAT_USER_WAIT_CAUSE_H

/* Causes that have a rule of the verdict. */
#define WAIT_USERFAULTFD "a handler of userfaultfd"
#define WAIT_MMAP_LOCK	 "mmap_lock"
#define WAIT_VMA_LOCK	 "the lock of the VMA"
#define WAIT_WRITEBACK	 "writeback, because too many pages are dirty"
#define WAIT_NFS	 "the NFS server"
#define WAIT_FUSE	 "the FUSE server"
#define WAIT_SMB	 "the SMB server"
#define WAIT_9P		 "the 9p server"
#define WAIT_CEPH	 "the Ceph servers"

/*
 * @functions: as in struct pfstat_wait, "innermost<caller<…"
 * Returns a noun that fits after "waited for". NULL: the table has none of the functions.
 */
const char *wait_cause_of(const char *functions);

#endif
