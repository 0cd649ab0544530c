/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The module's files in debugfs, and the commands that `control` and
 * `session` take. A write holds one or more lines; the first bad one ends it
 * with its errno, and the lines before it hold.
 *
 *   pid N [now]		watch process N: its mappings now and later; with
 *			`now` only those that it has now
 *   follow N		the same, and its children, and theirs
 *   file FD		(session only) this process's mappings of the file that
 *			it has open as FD
 *   only FD			(session only) of all that is watched, the mappings of
 *				the file that it has open as FD, and no other
 *   fault_around keep|off	off: every page faults by itself (map_pages hidden)
 *   ring_size SIZE	bytes of records a CPU; K, M, G; from a page to 1 G
 *   mode drop|overwrite	what a full ring does with a new record
 *   stop		end the session; what was recorded stays readable
 *   clear		forget what was recorded
 *
 * only, fault_around, ring_size and mode are taken before the first target only
 * (else EBUSY). Targets given to `control` stay until `stop` or the end of
 * the process; targets given to `session` go when it is closed.
 * A session begins with the defaults (every file, keep, 4 MiB, drop) and leaves them;
 * `control` keeps what it was given until then.
 * There is one recorder at a time: while `session` is open, or targets of
 * `control` stand, the other gets EBUSY; `targets` names the holder.
 *
 * Errors: EINVAL unknown command or value, ESRCH no such process,
 * EPERM kernel thread, EBADF bad descriptor, ENOENT file not mapped here,
 * EOPNOTSUPP mapped, but must not be hooked, EBUSY, ENOMEM, EINTR killed meanwhile,
 * ENODEV the kernel does not let do_mmap() or the fork event be probed (see its log),
 * ETIMEDOUT a call holds the process's memory map (on a file system that is frozen or
 * hangs), EOVERFLOW more than PFSTAT_COMMAND_MAX in one write.
 */
#ifndef PFSTAT_CONTROL_H
#define PFSTAT_CONTROL_H

#define PFSTAT_DEBUGFS	    "/sys/kernel/debug/pfstat"
#define PFSTAT_FILE_LOG	    "log"     /* text, one line a record */
#define PFSTAT_FILE_STATS   "stats"   /* text, table and histograms */
#define PFSTAT_FILE_TARGETS "targets" /* text, holder and what is hooked */
#define PFSTAT_FILE_CONTROL "control" /* commands, from the shell */
#define PFSTAT_FILE_SESSION "session" /* commands, from a program */
#define PFSTAT_DIR_RING	    "ring"    /* ring/cpuN: mmap; poll: half full */

#define PFSTAT_RING_SIZE_MIN	 4096UL
#define PFSTAT_RING_SIZE_MAX	 (1UL << 30)
#define PFSTAT_RING_SIZE_DEFAULT (4UL << 20)
#define PFSTAT_COMMAND_MAX	 4096 /* bytes in one write */

#endif
