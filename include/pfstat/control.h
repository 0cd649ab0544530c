/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The module's files, which are both in debugfs and in /dev, and the commands accepted by `control`
 * and `session`. A write holds one or more lines. The first bad line stops the write with the
 * line's errno. The lines before it have taken effect.
 *
 *   pid N [now]		watch process N: its present and later mappings; with
 *			`now` only its present ones
 *   follow N		the same, and also all its descendants
 *   file FD		(session only) this process's mappings of the file that
 *			it has open as FD
 *   only FD			(session only) restrict all targets to their mappings of
 *				the file that this process has open as FD
 *   fault_around keep|off	off: every page faults separately (map_pages hidden)
 *   ring_size SIZE	bytes of records a CPU; K, M, G; from a page to 1 G
 *   mode drop|overwrite	how a full ring treats a new record
 *   faults on|off	(session only) count every return of handle_mm_fault() of the
 *			threads named by `watch`, and record the faults that no hooked
 *			mapping records; off waits until the function is free again
 *   watch N thread|process|follow	(after faults on) a thread, a process, or a
 *			process with its descendants
 *   ignore N		no longer
 *   handler ADDRESS	count the mappings that have the same ->fault as this process's mapping
 *			there as hooked, in place of those that are; 0: the latter again
 *   stop		end the session; the records stay readable
 *   clear		discard the records
 *
 * only, fault_around, ring_size, mode and `faults off` are accepted only before the first target
 * (else EBUSY). Targets given to `control` stay until `stop` or the end of the process. Targets
 * given to `session` are released when it is closed. A session starts with the defaults (every
 * file, keep, 4 MiB, drop) and restores them. `control` keeps its settings until then. There is one
 * recorder at a time: while `session` is open, or `control` has targets, the other one gets EBUSY.
 * `targets` names the holder.
 *
 * Errors: EINVAL unknown command or value, ESRCH no such process,
 * EPERM kernel thread, EBADF bad descriptor, ENOENT file not mapped here,
 * EOPNOTSUPP mapped, but must not be hooked, EBUSY, ENOMEM, EINTR killed meanwhile,
 * ENODEV the kernel does not allow a probe of do_mmap() or of the fork event (see its log),
 * for `faults on` EPERM the module's parameter hold_faults is off, EBUSY another tool holds
 * handle_mm_fault(), or the recorder is held, and EOPNOTSUPP the kernel has no direct calls for
 * ftrace, for `watch` EINVAL the function is not taken, or was given back by `stop`,
 * ETIMEDOUT a call has locked the process's memory map (and waits for a file system that is frozen
 * or hangs), EOVERFLOW more than PFSTAT_COMMAND_MAX in one write.
 */
#ifndef PFSTAT_CONTROL_H
#define PFSTAT_CONTROL_H

#define PFSTAT_DEVICES	    "/dev/pfstat"
#define PFSTAT_DEBUGFS	    "/sys/kernel/debug/pfstat"
#define PFSTAT_FILE_LOG	    "log"     /* text, one line a record */
#define PFSTAT_FILE_STATS   "stats"   /* text, table and histograms */
#define PFSTAT_FILE_TARGETS "targets" /* text, holder and hooked mappings */
#define PFSTAT_FILE_FAULTS  "faults"  /* text, the counts for `faults on` */
#define PFSTAT_FILE_CONTROL "control" /* commands, from the shell */
#define PFSTAT_FILE_SESSION "session" /* commands, from a program */
#define PFSTAT_DIR_RING	    "ring"    /* ring/cpuN: mmap, and poll for half full */

#define PFSTAT_RING_SIZE_MIN	 4096UL
#define PFSTAT_RING_SIZE_MAX	 (1UL << 30)
#define PFSTAT_RING_SIZE_DEFAULT (4UL << 20)
#define PFSTAT_COMMAND_MAX	 4096 /* bytes in one write */

#endif
