// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules about waits outside the device: for a CPU, a lock, a handler or a server, or for
 * another process's read, and about faults in the kernel itself. The kernel stacks when sleeping
 * name most locks and servers, but not the lock holders.
 */
#include <inttypes.h>
#include <string.h>

#include "model/wait_cause.h"
#include "verdict/verdict_rules.h"
#include "report/view.h"
#include "util/array.h"

#define KERNEL_SHARE   0.5
#define CPU_TASK_SHARE 0.1  /* of the waits for a CPU, to name a task or a time */
#define LIMIT_SHARE    0.05 /* of the run */

bool verdict_wait_claim(struct verdict_cause *cause, const struct report *run,
			const char *const *waits)
{
	const struct fault_figures *all = &run->faults.all;
	uint64_t parts_ns[NR_PARTS] = { 0 }, total_ns = 0;
	const struct wait_row *row;
	enum part part;

	for (; *waits; waits++)
		for (row = run->waits.rows; row < run->waits.rows + run->waits.nr; row++) {
			if (!row->cause || strcmp(row->cause, *waits))
				continue;
			total_ns += row->total_ns;
			for (part = 0; part < NR_PARTS; part++)
				parts_ns[part] += row->parts_ns[part];
		}
	cause->claim.classes = VERDICT_ALL;
	for (part = 0; part < NR_PARTS; part++)
		if (parts_ns[part] &&
		    parts_ns[part] >= VERDICT_WAIT_SHARE * all->parts[part].total_ns)
			cause->claim.parts |= VERDICT_PART(part);
	cause->weight = verdict_share_of(run, total_ns);
	return cause->weight >= VERDICT_CAUSE_SHARE;
}

/* Returns the kind with half of the time that threads waited for a CPU. */
static enum cpu_wait main_cpu_wait(const struct report *run)
{
	const struct evidence_cpu_wait *waits = run->evidence.cpu_waits;
	uint64_t all_ns = 0;
	enum cpu_wait kind;

	for (kind = 0; kind < NR_CPU_WAITS; kind++)
		all_ns += waits[kind].total_ns;
	for (kind = 0; kind < NR_CPU_WAITS; kind++)
		if (all_ns && waits[kind].total_ns >= VERDICT_WAIT_SHARE * all_ns)
			return kind;
	return CPU_WAIT_UNKNOWN;
}

/* The longest running task while threads waited for the CPU. NULL: none is known for long. */
static const struct cpu_task_row *main_cpu_task(const struct report *run)
{
	const struct cpu_task_row *row, *end = run->cpu_tasks.rows + run->cpu_tasks.nr;
	const uint64_t waited_ns = run->faults.all.parts[PART_RUNQUEUE].total_ns;

	/* The longest is the first. */
	for (row = run->cpu_tasks.rows; row < end; row++)
		if (!view_cpu_task_is_own(row))
			return row->ran_ns >= CPU_TASK_SHARE * waited_ns ? row : NULL;
	return NULL;
}

static uint64_t tasks_ran_ns(const struct report *run)
{
	uint64_t ran_ns = 0;
	size_t i;

	for (i = 0; i < run->cpu_tasks.nr; i++)
		ran_ns += run->cpu_tasks.rows[i].ran_ns;
	return ran_ns;
}

/* A wait has one known process, which may have had the CPU for a short part of it. */
static bool tasks_ran_mostly(const struct report *run)
{
	return tasks_ran_ns(run) >=
	       VERDICT_WAIT_SHARE * run->faults.all.parts[PART_RUNQUEUE].total_ns;
}

static void cpu_task_cause(struct verdict_cause *cause, const struct report *run,
			   const struct cpu_task_row *task)
{
	const uint64_t waited_ns = run->faults.all.parts[PART_RUNQUEUE].total_ns;
	const uint64_t ran_ns = tasks_ran_ns(run);
	const uint64_t others_ns = ran_ns - task->ran_ns - view_own_ran_ns(run);
	const bool is_half = task->ran_ns >= VERDICT_WAIT_SHARE * waited_ns;
	const char *others = is_half ? "" : " perf sched timehist names the other tasks.";
	char span[VERDICT_SPAN], waited[VERDICT_SPAN], name[VIEW_CPU_TASK];

	view_cpu_task_name(name, task);
	verdict_add(cause, " Of %s of waits, %s ran there for at least %s",
		    verdict_span(waited, waited_ns), name, verdict_span(span, task->ran_ns));
	if (others_ns >= CPU_TASK_SHARE * waited_ns)
		verdict_add(cause, ", and other tasks for at least %s",
			    verdict_span(span, others_ns));
	verdict_add(cause, ".");
	if (waited_ns > ran_ns && waited_ns - ran_ns >= CPU_TASK_SHARE * waited_ns)
		verdict_add(cause, " No running task is known for %s.",
			    verdict_span(span, waited_ns - ran_ns));
	if (task->recorded)
		verdict_advise(cause,
			       "%s is of the program itself: fewer threads or processes at "
			       "once, or CPUs of their own (taskset).%s",
			       name, others);
	else if (!task->kernel)
		verdict_advise(cause,
			       "keep %s off these CPUs (taskset, cpuset.cpus), give it less "
			       "weight (nice, cpu.weight), or run fewer threads.%s",
			       name, others);
}

/* The recording itself makes these waits. */
static void own_task_cause(struct verdict_cause *cause, const struct report *run)
{
	const uint64_t waited_ns = run->faults.all.parts[PART_RUNQUEUE].total_ns;
	const uint64_t own_ns = view_own_ran_ns(run);
	char span[VERDICT_SPAN], waited[VERDICT_SPAN];

	if (own_ns < CPU_TASK_SHARE * waited_ns)
		return;
	verdict_add(cause,
		    " pfdrive ran there for at least %s of %s, and does so only while it records.",
		    verdict_span(span, own_ns), verdict_span(waited, waited_ns));
	if (own_ns < VERDICT_WAIT_SHARE * tasks_ran_ns(run))
		return;
	cause->certain = false;
	verdict_advise(cause, "record with pfdrive on another CPU than the program: "
			      "taskset -c CPU pfdrive record -p PID.");
}

/* The kernel's counters also include unwatched processes in the cgroup. */
static void cpu_limit_fact(struct verdict_cause *cause, const struct report *run,
			   const char *conclusion)
{
	const struct cgroup_cpu_limit *cpu = &run->cgroup.cpu;

	if (!cpu->path[0] || cpu->throttled == COUNT_NA || !cpu->throttled ||
	    cpu->periods == COUNT_NA)
		return;
	verdict_add(cause,
		    " The CPU time of the cgroup %.200s was used up in %" PRIu64 " of %" PRIu64
		    " periods%s.",
		    cpu->path, cpu->throttled, cpu->periods, conclusion);
}

/* Waits after a sleep are not included: their start does not show a used-up limit. */
bool verdict_wait_limit(const struct verdict *verdict, const struct report *run,
			struct verdict_cause *cause)
{
	const struct evidence_cpu_wait *throttled = &run->evidence.throttled;
	const uint64_t in_faults_ns = run->evidence.cpu_waits[CPU_WAIT_THROTTLED].total_ns;
	char span[VERDICT_SPAN], in_faults[VERDICT_SPAN];

	if (!throttled->count || throttled->total_ns < LIMIT_SHARE * verdict->wall_ns)
		return false;
	verdict_claim_outside(cause, verdict, throttled->total_ns);
	verdict_state(cause,
		      "a thread lost its CPU %" PRIu64 " time%s while its cgroup had used up its "
		      "CPU time (cpu.max), and the threads waited for %s in all until they ran "
		      "again, %s of it in faults.",
		      throttled->count, throttled->count == 1 ? "" : "s",
		      verdict_span(span, throttled->total_ns),
		      in_faults_ns ? verdict_span(in_faults, in_faults_ns) : "nothing");
	cpu_limit_fact(cause, run, "");
	verdict_advise(cause, "raise cpu.max of the cgroup, or run fewer threads at once; "
			      "nr_throttled in cpu.stat counts the periods with too little.");
	return true;
}

bool verdict_wait_runqueue(const struct verdict *verdict, const struct report *run,
			   struct verdict_cause *cause)
{
	static const struct {
		const char *text, *remedy;
	} kinds[NR_CPU_WAITS] = {
		[CPU_WAIT_UNKNOWN] = { ": another task ran there, or the CPU had to wake up.",
				       "perf sched timehist shows which; fewer threads, or CPUs of "
				       "their own (taskset)." },
		[CPU_WAIT_TASK] = { ": other tasks ran there.",
				    "perf sched timehist names these tasks; fewer threads, or CPUs "
				    "of their own (taskset)." },
		[CPU_WAIT_IDLE] = { ": no other task ran there right before. The CPU had to wake "
				    "up, or the thread was moved or held back.",
				    "keep CPUs out of deep idle states (cpupower idle-set -D 10, "
				    "/dev/cpu_dma_latency; in a guest, cpuidle-haltpoll); cpu.stat of "
				    "the cgroup (nr_throttled) shows cpu.max." },
		[CPU_WAIT_THROTTLED] = { ": its cgroup had used up its CPU time (cpu.max) when the "
					 "wait began.",
					 "raise cpu.max of the cgroup, or run fewer threads at "
					 "once." },
		[CPU_WAIT_PREEMPTED_IDLE] = { ": it was stopped, and no other task ran there, as "
					      "with a limit of CPU time.",
					      "cpu.stat of the cgroup (nr_throttled) shows if "
					      "cpu.max stopped it." },
	};
	/* The limits are known, and none held the thread back at the start of the wait. */
	static const char *const moved = ": it was preempted, and ran again on an idle CPU.";
	static const char *const last = ": another task ran there right before.";
	const enum cpu_wait kind = main_cpu_wait(run);
	const bool was_moved = kind == CPU_WAIT_PREEMPTED_IDLE && run->evidence.limits_known;
	const bool is_last = kind == CPU_WAIT_TASK && !tasks_ran_mostly(run);
	const struct cpu_task_row *task = main_cpu_task(run);

	(void)verdict;
	if (!verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_RUNQUEUE)) ||
	    !(run->bpf.hooks & (1U << HOOK_WAKEUP | 1U << HOOK_PERF)))
		return false;
	cause->last = true;
	verdict_state(cause,
		      "for %.0f %% of the faults' time the thread could run, but had no CPU%s",
		      100 * cause->weight,
		      was_moved ? moved :
		      is_last	? last :
				  kinds[kind].text);
	if (kind != CPU_WAIT_TASK || is_last)
		cpu_limit_fact(cause, run,
			       kind == CPU_WAIT_THROTTLED ?
				       "" :
				       ", so the thread may have waited for that");
	verdict_advise(cause, "%s",
		       was_moved ? kinds[CPU_WAIT_UNKNOWN].remedy : kinds[kind].remedy);
	if (kind == CPU_WAIT_TASK && task)
		cpu_task_cause(cause, run, task);
	if (kind == CPU_WAIT_TASK)
		own_task_cause(cause, run);
	return true;
}

/* The handler with most of the waits. NULL: none is known. */
static const struct handler_row *main_handler(const struct report *run)
{
	const struct handlers_figures *handlers = &run->evidence.handlers;
	const struct handler_row *row = handlers->rows;
	uint64_t total_ns = 0;
	unsigned int i;

	for (i = 0; i < handlers->nr; i++)
		total_ns += handlers->rows[i].total_ns;
	return total_ns && row->pid && row->total_ns >= VERDICT_WAIT_SHARE * total_ns ? row : NULL;
}

static void state_handler(struct verdict_cause *cause, const struct handler_row *row)
{
	char total[VERDICT_SPAN], span[VERDICT_SPAN];

	verdict_add(cause, ": %s for %s (pid %" PRIu32 ").", verdict_span(total, row->total_ns),
		    row->name, row->pid);
	if (row->queue_ns || row->work_ns) {
		verdict_add(cause, " %s passed until it had read the faults",
			    verdict_span(span, row->queue_ns));
		verdict_add(cause, ", and %s from then until it had brought the pages.",
			    verdict_span(span, row->work_ns));
	}
	if (row->unread_ns)
		verdict_add(cause, " No read is known for %s of the waits.",
			    verdict_span(span, row->unread_ns));
}

/*
 * The handler's reads show whether it knew the fault. It may have a queue of its own behind the
 * read, so the time after it is not called work on one fault.
 */
bool verdict_userfault_handler(const struct verdict *verdict, const struct report *run,
			       struct verdict_cause *cause)
{
	const struct handler_row *row = main_handler(run);

	(void)verdict;
	if (!verdict_wait_claim(cause, run, (const char *const[]){ WAIT_USERFAULTFD, NULL }))
		return false;
	verdict_state(cause,
		      "for %.0f %% of the faults' time threads waited for a handler of "
		      "userfaultfd, which must bring each page",
		      100 * cause->weight);
	if (row)
		state_handler(cause, row);
	else
		verdict_add(cause, ".");
	if (row && row->queue_ns > row->work_ns)
		verdict_advise(
			cause,
			"more threads that read and answer faults (%u did), each with a CPU; "
			"UFFDIO_COPY of many pages at once, so that there are fewer faults.",
			row->threads);
	else if (row && row->work_ns)
		verdict_advise(cause,
			       "perf trace -p %" PRIu32 " shows the handler's calls for a page; "
			       "UFFDIO_COPY of many pages at once, also of those that are needed "
			       "next; UFFDIO_CONTINUE and UFFDIO_MOVE save the copy.",
			       row->pid);
	else
		verdict_advise(cause,
			       "more handler threads; UFFDIO_COPY of many pages at once, also of "
			       "those that are needed next; top -H shows if the handler has a CPU "
			       "to itself.");
	return true;
}

/* Servers, the waits for them in kernel stacks ("": none), and how the file system's type begins. */
static const struct server {
	const char *wait, *filesystem, *name, *remedy;
} servers[] = {
	{ WAIT_FUSE, "fuse", WAIT_FUSE,
	  "profile the server; let it answer with larger reads (max_readahead) and keep the "
	  "kernel's cache (FOPEN_KEEP_CACHE), or copy the file to a local disk." },
	{ WAIT_NFS, "nfs", WAIT_NFS,
	  "nfsiostat shows the server's times; rsize and read_ahead_kb of the mount; copy the file "
	  "to a local disk." },
	{ WAIT_SMB, "cifs", WAIT_SMB,
	  "mount options rsize and cache; copy the file to a local disk." },
	{ WAIT_SMB, "smb", WAIT_SMB,
	  "mount options rsize and cache; copy the file to a local disk." },
	{ WAIT_9P, "9p", WAIT_9P, "mount options msize and cache; copy the file to a local disk." },
	{ WAIT_CEPH, "ceph", WAIT_CEPH,
	  "mount options rsize and rasize; copy the file to a local disk." },
	{ "", "virtiofs", "the server of virtiofs",
	  "virtiofsd's cache option, or its DAX window." },
};

static bool is_on_server(const char *filesystem, const struct server *server)
{
	return !strncmp(filesystem, server->filesystem, strlen(server->filesystem));
}

/* The files of one server: a page that is not in memory comes from nowhere else. */
static struct verdict_served files_of(const struct report *run, const struct server *server,
				      enum part part)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	struct verdict_served served = { .name = server->name, .remedy = server->remedy };
	const struct group *file;

	for (file = files->rows; file < files->rows + files->nr; file++) {
		if (!file->filesystem || !is_on_server(file->filesystem->type, server))
			continue;
		served.waited_ns += file->parts_ns[part];
		served.total_ns += file->total_ns;
		served.major_ns += file->reads.major_ns;
		if (!served.most || file->parts_ns[part] > served.most->parts_ns[part])
			served.most = file;
	}
	return served;
}

struct verdict_served verdict_wait_served(const struct report *run, enum part part)
{
	struct verdict_served most = { 0 }, served;
	const struct server *server;

	for (server = servers; server < servers + ARRAY_SIZE(servers); server++) {
		served = files_of(run, server, part);
		if (served.waited_ns > most.waited_ns)
			most = served;
	}
	return most;
}

/*
 * Waits for a page of a server's file, while the kernel's read-ahead fetches it: the stacks do not
 * name the server. A locked page that is in memory does not come from there.
 */
static bool claim_pages_of(struct verdict_cause *cause, const struct report *run,
			   const struct verdict_served *served)
{
	const uint32_t classes = VERDICT_ALL & ~VERDICT_CLASS(FAULT_LOCK);
	const double share = verdict_share_of(run, served->waited_ns);

	verdict_claim_time(cause, run, classes, VERDICT_PART(PART_FOREIGN));
	if (cause->weight > share)
		cause->weight = share;
	return verdict_is_worth(run, cause->weight);
}

/* Older recordings name the file system only of a drive. */
static bool claim_drive(struct verdict_cause *cause, const struct report *run,
			const struct server *server)
{
	return is_on_server(run->environment.filesystem, server) &&
	       verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_FOREIGN));
}

bool verdict_wait_server(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	const struct server *server = servers, *end = servers + ARRAY_SIZE(servers);
	struct verdict_served served;

	(void)verdict;
	for (; server < end; server++) {
		*cause = (struct verdict_cause){ .rule = cause->rule, .certain = true };
		served = files_of(run, server, PART_FOREIGN);
		if (verdict_wait_claim(cause, run, (const char *const[]){ server->wait, NULL }) ||
		    claim_pages_of(cause, run, &served) || claim_drive(cause, run, server))
			break;
	}
	if (server == end)
		return false;
	verdict_state(cause, "%.0f %% of the faults' time waited for %s", 100 * cause->weight,
		      server->name);
	verdict_add_filesystem(cause, ": ", NULL, served.most);
	verdict_add(cause, ".");
	verdict_advise(cause, "%s", server->remedy);
	return true;
}

bool verdict_wait_has_rule(const char *wait)
{
	static const char *const waits[] = { WAIT_USERFAULTFD, WAIT_MMAP_LOCK, WAIT_VMA_LOCK,
					     WAIT_WRITEBACK,   WAIT_NFS,       WAIT_FUSE,
					     WAIT_SMB,	       WAIT_9P,	       WAIT_CEPH };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(waits[i], wait))
			return true;
	return false;
}

bool verdict_wait_contention(const struct verdict *verdict, const struct report *run,
			     struct verdict_cause *cause)
{
	const char *waited_for = verdict_wait_cause(run, PART_BLOCKED);

	(void)verdict;
	if (!verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_BLOCKED)) ||
	    (waited_for && verdict_wait_has_rule(waited_for)))
		return false;
	cause->certain = waited_for;
	if (waited_for)
		verdict_state(cause,
			      "for %.0f %% of the faults' time the thread was blocked, mostly "
			      "waiting for %s, as its kernel stacks show.",
			      100 * cause->weight, waited_for);
	else
		verdict_state(
			cause,
			"for %.0f %% of the faults' time the thread was blocked: by a lock%s or a "
			"FUSE server.",
			100 * cause->weight,
			run->bpf.hooks & 1U << HOOK_RECLAIM ? "" : ", reclaim");
	verdict_advise(cause,
		       "perf lock contention -ab -- COMMAND names the lock and its callers.");
	return true;
}

bool verdict_wait_page_lock(const struct verdict *verdict, const struct report *run,
			    struct verdict_cause *cause)
{
	const uint32_t waits = VERDICT_PART(PART_FOREIGN) | VERDICT_PART(PART_BLOCKED);

	(void)verdict;
	if (!verdict_claim_time(cause, run, VERDICT_CLASS(FAULT_LOCK), waits))
		return false;
	cause->certain = false;
	verdict_state(cause,
		      "%" PRIu64 " faults met a page that another thread had locked, and waited "
		      "for it for %.0f %% of the faults' time.",
		      run->faults.classes[FAULT_LOCK].count, 100 * cause->weight);
	verdict_advise(cause,
		       "perf lock contention -ab -- COMMAND names the callers; pfdrive report "
		       "--by thread shows which threads meet.");
	return true;
}

/* The file with most of the waits for I/O of others. NULL: none has half of them. */
static const struct group *foreign_file(const struct report *run)
{
	const struct report_places *files = &run->places[GROUP_BY_FILE];
	const uint64_t all_ns = run->faults.all.parts[PART_FOREIGN].total_ns;
	const struct group *file;

	for (file = files->rows; file < files->rows + files->nr; file++)
		if (file->inode && file->parts_ns[PART_FOREIGN] >= VERDICT_WAIT_SHARE * all_ns)
			return file;
	return NULL;
}

bool verdict_wait_foreign(const struct verdict *verdict, const struct report *run,
			  struct verdict_cause *cause)
{
	const char *waited_for = verdict_wait_cause(run, PART_FOREIGN);
	const struct group *file = foreign_file(run);
	const bool known = file && file->filesystem;

	(void)verdict;
	if (!verdict_claim_time(cause, run, VERDICT_ALL, VERDICT_PART(PART_FOREIGN)) ||
	    (waited_for && verdict_wait_has_rule(waited_for)))
		return false;
	cause->certain = false;
	if (waited_for)
		verdict_state(cause,
			      "%.0f %% of the faults' time waited for reads or writes that no "
			      "watched thread had submitted, mostly for %s, as the kernel stacks "
			      "show.",
			      100 * cause->weight, waited_for);
	else
		verdict_state(cause,
			      "%.0f %% of the faults' time waited for reads or writes that no "
			      "watched thread had submitted: of another process%s.",
			      100 * cause->weight,
			      known && filesystem_kind(file->filesystem) == FILESYSTEM_DISK ?
				      " or a kernel thread" :
				      ", a kernel thread or a server");
	if (known) {
		verdict_add_filesystem(cause, " ", NULL, file);
		verdict_add(cause, ".");
	}
	verdict_advise(cause, "%siotop or biosnoop names the process.",
		       known ? "" :
			       "findmnt -T FILE names the file system (nfs, fuse, compressed "
			       "btrfs); ");
	return true;
}

/* Only if no other rule names a cause, see verdict_rules.c. */
bool verdict_wait_kernel(const struct verdict *verdict, const struct report *run,
			 struct verdict_cause *cause)
{
	(void)verdict;
	cause->weight = verdict_share_of(run, run->evidence.kernel_ns);
	if (cause->weight < KERNEL_SHARE)
		return false;
	if (run->evidence.guest_ns >= VERDICT_WAIT_SHARE * run->evidence.kernel_ns) {
		cause->weight = verdict_share_of(run, run->evidence.guest_ns);
		verdict_state(
			cause,
			"%.0f %% of the faults' time is on the memory of a guest, taken by its "
			"virtual CPUs (KVM).",
			100 * cause->weight);
		verdict_advise(cause, "allocate the guest's memory before it starts (QEMU: "
				      "prealloc=on), or in huge pages.");
		return true;
	}
	verdict_state(cause,
		      "%.0f %% of the faults' time was taken in system calls: the kernel copied to "
		      "or from memory that was not mapped, pinned it, or populated it",
		      100 * cause->weight);
	verdict_code_add_caller(cause, run);
	verdict_add(cause, ".");
	verdict_advise(cause, "pfdrive report --with syscalls has the times of the calls; reuse "
			      "buffers that are mapped already.");
	return true;
}
