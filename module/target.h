/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lists of watched processes (by struct pid, so a reused pid is another process) and watched
 * address spaces.
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
	bool follow; /* also the children */
};

struct watched_mm {
	struct hlist_node node;
	struct list_head dead; /* on the way out */
	struct mm_struct *mm;  /* held by mmgrab() */
	pid_t pid;	       /* for people, 0 if not known yet */
	bool future;	       /* mappings made later, too */
	bool follow;	       /* copies made by a fork, too */
};

/*
 * The file whose mappings are searched. An overlay file's mappings belong to the file below, and
 * after a copy-up to another file. So the file is identified by the current inode below and by the
 * overlay's own inode.
 */
struct pfstat_file {
	const struct inode *real;
	const struct inode *opened; /* NULL: any file */
};

/*
 * The list is open while a recorder works. When shut, nothing can be added, and ->open unhooks
 * copies. `only`: no other file's mappings are hooked. The caller holds the inodes in `only` until
 * shut.
 */
void pfstat_target_open(bool fault_around, const struct pfstat_file *only);
void pfstat_target_shut(void);
/*
 * Empties the shut list, once nothing hooks any more. The list's address spaces are retired: they
 * wait to be unhooked, while another session may start.
 */
void pfstat_target_retire(void);
/*
 * Calls unhook for each retired address space that lives, and forgets those for which it
 * returns true, and the dead. True: no living one is left. One caller at a time.
 */
bool pfstat_target_release(bool (*unhook)(struct mm_struct *mm));
unsigned int pfstat_target_retired(void); /* how many there are, the exiting too */
bool pfstat_target_is_open(void);
bool pfstat_target_fault_around(void);
/* Does the VMA map a watched file: any file, or the only one? */
bool pfstat_target_wants(const struct vm_area_struct *vma);
/* Does the VMA, which has a file, map this one? */
bool pfstat_target_maps_file(const struct vm_area_struct *vma, const struct pfstat_file *file);

/* 0, -ENOMEM, -ESHUTDOWN (closed). An existing entry is widened. */
int pfstat_target_add_process(struct pid *pid, bool follow, gfp_t gfp);
int pfstat_target_add_mm(struct mm_struct *mm, pid_t pid, bool future, bool follow, gfp_t gfp);

/* A process with all that it maps, both or neither. As these two. */
int pfstat_target_add(struct pid *pid, struct mm_struct *mm, pid_t number, bool follow);
bool pfstat_target_is_known(struct pid *pid, struct mm_struct *mm);
/* Undoes pfstat_target_add() and retires the hooks made. */
void pfstat_target_forget(struct pid *pid, struct mm_struct *mm);
/* A process's mm, held by mmgrab(), or NULL. */
struct mm_struct *pfstat_target_grab_mm(struct task_struct *task);

/* Look-ups under rcu_read_lock(), valid while it is held. */
struct watched_process *pfstat_target_find_process(struct pid *pid);
struct watched_mm *pfstat_target_find_mm(struct mm_struct *mm);
bool pfstat_target_is_watched(struct mm_struct *mm); /* without rcu_read_lock() */

/* exit_mmap() frees VMAs under the lock held for writing: with it, those in the tree are valid. */
static inline bool pfstat_target_is_exiting(const struct mm_struct *mm)
{
	return !atomic_read(&mm->mm_users);
}

/* Calls visit for each live address space, whose struct is held. May sleep. */
typedef void (*pfstat_mm_visitor)(struct watched_mm *watched, void *data);
void pfstat_target_visit_mms(pfstat_mm_visitor visit, void *data);
/* Adds processes and address spaces if the table has only the other half. */
void pfstat_target_find_missed(void);

/* Forgets the dead. True: nothing is watched any more. */
bool pfstat_target_reap(void);
void pfstat_target_exit(void);
size_t pfstat_target_bytes(void); /* list sizes: by process and address space */

#endif
