/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is watched: processes (by their struct pid, so that a pid used again is
 * somebody else) and address spaces. Hooks and unhooks their VMAs.
 */
#ifndef PFSTAT_TARGET_H
#define PFSTAT_TARGET_H

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/pid.h>

struct watched_process {
	struct hlist_node node;
	struct rcu_head rcu;
	struct pid *pid;
	bool follow;		/* its children too */
};

struct watched_mm {
	struct hlist_node node;
	struct list_head dead;	/* on its way out */
	struct mm_struct *mm;	/* held by mmgrab() */
	pid_t pid;		/* for people; 0: not known yet */
	bool future;		/* mappings that it makes later, too */
	bool follow;		/* copies that a fork makes, too */
};

/*
 * A file that mappings are looked for of. An overlay's are of the file below it, and of
 * another one since it was copied up: so the inode below it now, and its own.
 */
struct pfstat_file {
	const struct inode *real;
	const struct inode *opened;	/* NULL: any file */
};

/*
 * The list is open while a recorder works. Shut, nothing can be added, and ->open
 * unhooks copies. `only`: no other file's mappings are hooked. The caller holds its
 * inodes until shut.
 */
void pfstat_target_open(bool fault_around, const struct pfstat_file *only);
void pfstat_target_shut(void);
/*
 * Empties the shut list, once nothing hooks any more. Its address spaces are retired: they
 * wait to be unhooked, while another session may begin.
 */
void pfstat_target_retire(void);
/*
 * Unhooks the retired address spaces whose lock is free, and forgets them. True: no living
 * one is left. One caller at a time.
 */
bool pfstat_target_unhook(void);
unsigned int pfstat_target_retired(void);	/* how many there are, the exiting too */
bool pfstat_target_is_open(void);
bool pfstat_target_fault_around(void);
/* Is the VMA of a file that is watched: of any, or of the only one? */
bool pfstat_target_wants(const struct vm_area_struct *vma);

/* 0, -ENOMEM, -ESHUTDOWN (closed); what is there already is widened. */
int pfstat_target_add_process(struct pid *pid, bool follow, gfp_t gfp);
int pfstat_target_add_mm(struct mm_struct *mm, pid_t pid, bool future, bool follow, gfp_t gfp);

/* A process with all that it maps, both or neither. As these two. */
int pfstat_target_add(struct pid *pid, struct mm_struct *mm, pid_t number, bool follow);
bool pfstat_target_is_known(struct pid *pid, struct mm_struct *mm);
/* Undoes pfstat_target_add() and retires the hooks that were made. */
void pfstat_target_forget(struct pid *pid, struct mm_struct *mm);
/* The mm of a process, held by mmgrab(), or NULL. */
struct mm_struct *pfstat_target_grab_mm(struct task_struct *task);

/* Look-ups; under rcu_read_lock(), valid as long. */
struct watched_process *pfstat_target_find_process(struct pid *pid);
struct watched_mm *pfstat_target_find_mm(struct mm_struct *mm);

/* Hooks what may be hooked in mm, only this file's mappings if file is given. */
struct pfstat_hook_result {
	unsigned int hooked;
	unsigned int refused;	/* mappings (of that file) that must not be hooked */
};

/*
 * prepare allocates all that hooking the present mappings needs, so that it does not fail
 * half-way. Both: -ENOMEM, -EINTR (killed), -ETIMEDOUT (a lock of mm was held all the time).
 */
int pfstat_target_prepare_mm(struct mm_struct *mm, const struct pfstat_file *file);
int pfstat_target_hook_mm(struct mm_struct *mm, const struct pfstat_file *file,
			  struct pfstat_hook_result *result);

/* Calls visit for each live address space, its struct held; may sleep. */
typedef void (*pfstat_mm_visitor)(struct watched_mm *watched, void *data);
void pfstat_target_visit_mms(pfstat_mm_visitor visit, void *data);
/* Hooks missed VMAs, also of processes outside the table. Returns false if some are left. */
bool pfstat_target_hook_all(void);

/* Forgets the dead. True: nothing is watched any more. */
bool pfstat_target_reap(void);
/* At the end: true when no address space can still hold a shadow pointer. */
bool pfstat_target_all_gone(void);
void pfstat_target_exit(void);
size_t pfstat_target_bytes(void);	/* of the lists: by process and address space */

#endif
