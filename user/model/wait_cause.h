/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a thread waited, from the function names on the kernel stack. */
#ifndef PFSTAT_USER_WAIT_CAUSE_H
#define PFSTAT_USER_WAIT_CAUSE_H

/* Causes for which the verdict has a rule. */
#define WAIT_USERFAULTFD "a userfaultfd handler"
#define WAIT_MMAP_LOCK	 "mmap_lock"
#define WAIT_VMA_LOCK	 "the VMA lock"
#define WAIT_WRITEBACK	 "writeback, because too many pages are dirty"
#define WAIT_NFS	 "the NFS server"
#define WAIT_FUSE	 "the FUSE server"
#define WAIT_SMB	 "the SMB server"
#define WAIT_9P		 "the 9p server"
#define WAIT_CEPH	 "the Ceph servers"
#define WAIT_PAGE	 "a page that another thread reads or has locked"
#define WAIT_READ	 "the read of a page"
/* WAIT_PAGE, if the thread may have begun the read itself */
#define WAIT_OWN_PAGE "a page that is read or locked"

/* What is known of a sleep from its kernel stack. */
enum wait_kind {
	WAIT_UNKNOWN,	/* no stack, or none of the table's functions is on it */
	WAIT_KNOWN,	/* its cause is in the table */
	WAIT_OF_HANDLER /* WAIT_USERFAULTFD */
};

/*
 * @functions: as in struct pfstat_wait, "innermost<caller<…"
 * Returns a noun that fits after "waited for", or NULL if the table has none of the functions.
 */
const char *wait_cause_of(const char *functions);
/* @cause: from wait_cause_of(), or NULL */
enum wait_kind wait_kind_of(const char *cause);

#endif
