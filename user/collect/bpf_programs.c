// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which eBPF programs are loaded, from the kernel's BTF and tracing files and the caller's
 * options. events.c loads the programs selected here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "collect/bpf_programs.h"
#include "collect/bpf_targets.h"
#include "privilege/privilege.h"
#include "system/perf.h"
#include "util/array.h"

#define PARANOID_UPSTREAM 2 /* the highest kernel.perf_event_paranoid of Linux itself */

/* A program not named here is always needed. */
static const struct {
	const char *program;
	enum bpf_hook hook;
} optional[] = {
	{ "on_sched_waking", HOOK_WAKEUP },
	{ "on_rq_insert", HOOK_BLOCK_INSERT },
	{ "on_rq_issue", HOOK_BLOCK },
	{ "on_rq_merge", HOOK_BLOCK },
	{ "on_rq_complete", HOOK_BLOCK },
	{ "on_fault_enter", HOOK_FAULT },
	{ "on_fault_exit", HOOK_FAULT },
	{ "on_fault_thread_exit", HOOK_FAULT },
	{ "on_fault_thread_exec", HOOK_FAULT },
	{ "on_swap_page", HOOK_SWAP },
	{ "on_wp_page", HOOK_WP },
	{ "on_wp_page_done", HOOK_WP },
	{ "on_page_removed", HOOK_PAGE_DELETE },
	{ "on_swap_cache_delete", HOOK_SWAP_IO },
	{ "on_swap_cache_del_folio", HOOK_SWAP_IO },
	{ "on_swap_read_page", HOOK_SWAP_IO },
	{ "on_swap_read_folio", HOOK_SWAP_IO },
	{ "on_direct_reclaim_begin", HOOK_RECLAIM },
	{ "on_direct_reclaim_end", HOOK_RECLAIM },
	{ "on_cgroup_reclaim_begin", HOOK_RECLAIM },
	{ "on_cgroup_reclaim_end", HOOK_RECLAIM },
	{ "on_compaction_begin", HOOK_RECLAIM },
	{ "on_compaction_end", HOOK_RECLAIM },
	{ "on_unmap", HOOK_UNMAP },
	{ "on_reclaim_high", HOOK_THROTTLE },
	{ "on_reclaim_high_done", HOOK_THROTTLE },
	{ "on_sleep_over_high", HOOK_THROTTLE },
	{ "on_sleep_over_high_done", HOOK_THROTTLE },
	{ "on_signal", HOOK_SIGNAL },
	{ "on_swap_out", HOOK_SWAP_OUT },
	{ "on_swap_out_inner", HOOK_SWAP_OUT },
};

/* Programs for the same event on different kernels. One program in each pair is enough. */
static const struct {
	const char *program, *instead;
} alternatives[] = {
	{ "on_swap_cache_delete", "on_swap_cache_del_folio" },
	{ "on_swap_cache_del_folio", "on_swap_cache_delete" },
	{ "on_swap_read_page", "on_swap_read_folio" },
	{ "on_swap_read_folio", "on_swap_read_page" },
	{ "on_swap_out", "on_swap_out_inner" },
	{ "on_swap_out_inner", "on_swap_out" },
};

/* Loaded only if eBPF records file operation calls. Then all are needed. */
static const char *const of_records[] = {
	"on_call_fault",	  "on_call_fault_done", "on_call_map_pages",
	"on_call_map_pages_done", "on_call_mkwrite",	"on_call_mkwrite_done",
	"on_call_readahead",	  "on_calibrate",	"on_calibrate_done",
};

/*
 * For the members of faults besides the kind. Without a program, its member is not known for any
 * fault. A kernel without NUMA balancing, huge pages or userfaultfd needs no notes of them.
 */
static const char *const of_faults[] = {
	"on_new_shared_page", "on_huge_page",  "on_access",
	"on_huge_access",     "on_migration",  "on_huge_migration",
	"on_userfault_wait",  "on_numa_fault", "on_huge_write",
};

/*
 * on_note replaces those of them that only rare faults run, and gets the note as its cookie. An
 * fentry program's attachment goes through all functions of the kernel, and its detachment waits
 * for a grace period. on_note does both once, but each run of it takes longer.
 */
static const struct {
	const char *program;
	uint64_t note;
} of_note[] = {
	{ "on_huge_access", PFSTAT_NOTE_PRESENT },
	{ "on_migration", PFSTAT_NOTE_MIGRATION },
	{ "on_huge_migration", PFSTAT_NOTE_MIGRATION },
	{ "on_userfault_wait", PFSTAT_NOTE_USERFAULT },
	{ "on_numa_fault", PFSTAT_NOTE_NUMA_STAYED },
	{ "on_huge_write", PFSTAT_NOTE_READ_ONLY },
};

/* One of them, by the kernel. Without it, the queue of a handler of userfaultfd is not known. */
static const char *const of_handlers[] = { "on_userfault_read", "on_userfault_read_iter" };

/*
 * The kernel skips a program that is already running on the same CPU. This happens
 *
 * - if an event comes in an interrupt during the program. At most a thread's, a softirq's and an
 *   interrupt's program can run on one CPU, so one of three copies is always free.
 * - if the kernel preempts kernel code: a thread may lose the CPU inside a program, and the kernel
 *   skips it for all other threads on the CPU until this thread runs again. If return probes use
 *   function-graph tracing, a non-preemptible program replaces the first one. Otherwise a second
 *   copy handles the events that the first one missed.
 */
enum double_use {
	FOR_INTERRUPTS, /* on all kernels */
	IF_PREEMPTED,
	INSTEAD_IF_PREEMPTED, /* comes before other rows for the program */
};

static const struct {
	const char *program, *second;
	enum double_use use;
} doubles[] = {
	{ "on_fault_enter", "on_fault_enter_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_fault_exit", "on_fault_exit_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_swap_page", "on_swap_page_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_wp_page", "on_wp_page_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_wp_page_done", "on_wp_page_done_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_new_shared_page", "on_new_shared_page_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_huge_page", "on_huge_page_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_access", "on_access_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_fault", "on_call_fault_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_fault_done", "on_call_fault_done_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_map_pages", "on_call_map_pages_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_map_pages_done", "on_call_map_pages_done_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_mkwrite", "on_call_mkwrite_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_mkwrite_done", "on_call_mkwrite_done_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_readahead", "on_call_readahead_kprobe", INSTEAD_IF_PREEMPTED },
	{ "on_call_fault", "on_call_fault_again", IF_PREEMPTED },
	{ "on_call_fault_done", "on_call_fault_done_again", IF_PREEMPTED },
	{ "on_call_map_pages", "on_call_map_pages_again", IF_PREEMPTED },
	{ "on_call_map_pages_done", "on_call_map_pages_done_again", IF_PREEMPTED },
	{ "on_call_mkwrite", "on_call_mkwrite_again", IF_PREEMPTED },
	{ "on_call_mkwrite_done", "on_call_mkwrite_done_again", IF_PREEMPTED },
	{ "on_call_readahead", "on_call_readahead_again", IF_PREEMPTED },
	{ "on_fault_thread_exit", "on_fault_thread_exit_again", IF_PREEMPTED },
	{ "on_rq_insert", "on_rq_insert_again", IF_PREEMPTED },
	{ "on_rq_insert", "on_rq_insert_once_again", IF_PREEMPTED },
	{ "on_rq_issue", "on_rq_issue_again", IF_PREEMPTED },
	{ "on_rq_issue", "on_rq_issue_once_again", IF_PREEMPTED },
	{ "on_rq_complete", "on_rq_complete_second", FOR_INTERRUPTS },
	{ "on_rq_complete", "on_rq_complete_third", FOR_INTERRUPTS },
	{ "on_sys_enter", "on_sys_enter_again", IF_PREEMPTED },
	{ "on_sys_exit", "on_sys_exit_again", IF_PREEMPTED },
};

#define NR_DOUBLES ARRAY_SIZE(doubles)

/* The first is useless without the second. */
static const struct {
	enum bpf_hook hook, needs;
} dependent[] = {
	{ HOOK_BLOCK_INSERT, HOOK_BLOCK },
	{ HOOK_SWAP, HOOK_FAULT },
	{ HOOK_WP, HOOK_FAULT },
	{ HOOK_PAGE_DELETE, HOOK_BLOCK },
};

/* Optional hooks missing in the kernel. */
struct hook_search {
	const struct bpf_object *object;
	const struct bpf_targets *targets;
	uint32_t missing; /* 1 << enum bpf_hook */
};

/* Another program that does the same and can run on this kernel: 1, 0, or a negative errno. */
static int hooks_has_instead(struct hook_search *search, const char *program)
{
	struct bpf_program *instead;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alternatives); i++) {
		if (strcmp(alternatives[i].program, program))
			continue;
		instead = bpf_object__find_program_by_name(search->object, alternatives[i].instead);
		return instead ? bpf_targets_has(search->targets, instead) : -ENOENT;
	}
	return 0;
}

/* A kprobe is a perf event. Debian's kernels have a level that refuses these to CAP_PERFMON. */
static bool hooks_may_attach(const struct bpf_program *program)
{
	const char *level = perf_paranoid();
	char names[CAPABILITY_NAMES_SIZE];

	if (strncmp(bpf_program__section_name(program), "kprobe/", 7))
		return true;
	return atoi(level) <= PARANOID_UPSTREAM ||
	       !capabilities_lack(CAPABILITY(CAP_SYS_ADMIN), names, sizeof(names));
}

/* Without this program the hook is missing, unless another program does the same. */
static int hooks_find_program(struct hook_search *search, const char *name, enum bpf_hook hook)
{
	struct bpf_program *program = bpf_object__find_program_by_name(search->object, name);
	int has;

	if (!program)
		return -ENOENT;
	if (bpf_targets_has(search->targets, program) && hooks_may_attach(program))
		return 0;
	has = hooks_has_instead(search, name);
	if (has > 0)
		return bpf_program__set_autoload(program, false);
	search->missing |= 1U << hook;
	return has;
}

static int hooks_find_missing(struct hook_search *search)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(optional); i++) {
		if (search->missing & 1U << optional[i].hook)
			continue;
		err = hooks_find_program(search, optional[i].program, optional[i].hook);
		if (err)
			return err;
	}
	for (i = 0; i < ARRAY_SIZE(dependent); i++)
		if (search->missing & 1U << dependent[i].needs)
			search->missing |= 1U << dependent[i].hook;
	return 0;
}

static int hooks_leave_out(struct bpf_object *object, uint32_t missing)
{
	struct bpf_program *program;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(optional) && !err; i++) {
		if (!(missing & 1U << optional[i].hook))
			continue;
		program = bpf_object__find_program_by_name(object, optional[i].program);
		err = bpf_program__set_autoload(program, false);
	}
	return err;
}

static int hooks_choose_of_faults(const struct hook_search *search)
{
	const bool counts = !(search->missing & 1U << HOOK_FAULT);
	struct bpf_program *program;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(of_faults) && !err; i++) {
		program = bpf_object__find_program_by_name(search->object, of_faults[i]);
		if (!program)
			return -ENOENT;
		err = bpf_program__set_autoload(program, counts && bpf_targets_has(search->targets,
										   program));
	}
	return err;
}

static int hooks_choose_of_handlers(const struct hook_search *search)
{
	struct bpf_program *program;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(of_handlers) && !err; i++) {
		program = bpf_object__find_program_by_name(search->object, of_handlers[i]);
		if (!program)
			return -ENOENT;
		err = bpf_program__set_autoload(program, bpf_targets_has(search->targets, program));
	}
	return err;
}

/* The chosen model is in brackets: "none voluntary (full) lazy". */
static bool hooks_kernel_preempts_itself(void)
{
	FILE *file = fopen("/sys/kernel/debug/sched/preempt", "re");
	struct utsname name;
	char models[128] = "";

	if (file) {
		if (!fgets(models, sizeof(models), file))
			models[0] = '\0';
		fclose(file);
	}
	if (models[0])
		return strstr(models, "(full)") || strstr(models, "(lazy)");
	/* The model was chosen when the kernel was built. */
	return !uname(&name) && strstr(name.version, "PREEMPT");
}

/*
 * Return probes before v6.14 were not made of function-graph tracing: only few threads at a
 * time may be in the function, and faults sleep.
 */
static bool hooks_has_graph_probes(const struct hook_search *search)
{
	return bpf_targets_has_function(search->targets, "fprobe_return") &&
	       bpf_targets_symbol(search->targets, PFSTAT_KERNEL_RDONLY_CAST);
}

/*
 * Probes of several functions exist since v5.18. On a kernel that makes them of function-graph
 * tracing, they would start it for all threads, which then take longer at each switch.
 */
static bool hooks_can_note(const struct hook_search *search)
{
	return bpf_targets_has_function(search->targets, "register_fprobe_ips") &&
	       (!bpf_targets_has_function(search->targets, "fprobe_return") ||
		(hooks_kernel_preempts_itself() && hooks_has_graph_probes(search)));
}

/* After the programs that on_note replaces were chosen. */
static int hooks_choose_note(const struct hook_search *search, uint32_t *notes)
{
	const bool possible = hooks_can_note(search);
	struct bpf_program *program;
	size_t i;
	int err = 0;

	*notes = 0;
	for (i = 0; i < ARRAY_SIZE(of_note) && possible && !err; i++) {
		program = bpf_object__find_program_by_name(search->object, of_note[i].program);
		if (!program)
			return -ENOENT;
		if (!bpf_program__autoload(program))
			continue;
		*notes |= 1U << i;
		err = bpf_program__set_autoload(program, false);
	}
	program = bpf_object__find_program_by_name(search->object, "on_note");
	if (!program)
		return -ENOENT;
	return err ? err : bpf_program__set_autoload(program, *notes);
}

static int hooks_choose_doubles(struct hook_search *search)
{
	const bool preempts = hooks_kernel_preempts_itself();
	const bool load[] = {
		[FOR_INTERRUPTS] = true,
		[IF_PREEMPTED] = preempts,
		[INSTEAD_IF_PREEMPTED] = preempts && hooks_has_graph_probes(search),
	};
	struct bpf_program *program, *second;
	size_t i;
	int err = 0;
	bool both;

	for (i = 0; i < NR_DOUBLES && !err; i++) {
		program = bpf_object__find_program_by_name(search->object, doubles[i].program);
		second = bpf_object__find_program_by_name(search->object, doubles[i].second);
		both = bpf_program__autoload(program) && load[doubles[i].use];
		err = bpf_program__set_autoload(second, both);
		if (!err && both && doubles[i].use == INSTEAD_IF_PREEMPTED)
			err = bpf_program__set_autoload(program, false);
	}
	return err;
}

/* @notes: indices in of_note */
static struct bpf_link *hooks_attach_note(const struct bpf_object *object,
					  const struct bpf_program *program, uint32_t notes)
{
	const char *functions[ARRAY_SIZE(of_note)];
	__u64 cookies[ARRAY_SIZE(of_note)];
	struct bpf_kprobe_multi_opts options = {
		.sz = sizeof(options),
		.syms = functions,
		.cookies = cookies,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_note); i++) {
		if (!(notes & 1U << i))
			continue;
		functions[options.cnt] =
			bpf_targets_name(bpf_object__find_program_by_name(object,
									  of_note[i].program));
		cookies[options.cnt++] = of_note[i].note;
	}
	return bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
}

/* NULL and errno 0: not a kprobe.multi program for one function. */
static struct bpf_link *hooks_attach_program(const struct bpf_program *program)
{
	const char *name = bpf_targets_name(program);
	const char *section = bpf_program__section_name(program);
	struct bpf_kprobe_multi_opts options = {
		.sz = sizeof(options),
		.syms = &name,
		.cnt = 1,
		.retprobe = !strncmp(section, "kretprobe.multi/", 16),
	};

	errno = 0;
	if (!options.retprobe && strncmp(section, "kprobe.multi/", 13))
		return NULL;
	return bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
}

int bpf_programs_attach(const struct bpf_object_skeleton *skeleton, uint32_t notes)
{
	const struct bpf_program *program;
	struct bpf_link *link;
	int i;

	for (i = 0; i < skeleton->prog_cnt; i++) {
		program = *skeleton->progs[i].prog;
		if (!bpf_program__autoload(program))
			continue;
		link = strcmp(bpf_program__name(program), "on_note") ?
			       hooks_attach_program(program) :
			       hooks_attach_note(*skeleton->obj, program, notes);
		if (link)
			*skeleton->progs[i].link = link;
		else if (errno)
			return -errno;
	}
	return 0;
}

/*
 * How often the kernel skipped a program already running on the same CPU, because it was
 * interrupted, or preempted by another thread that reached it.
 */
static int hooks_read_misses(const struct bpf_program *program, uint64_t *misses)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return -errno;
	*misses = info.recursion_misses;
	return 0;
}

/* A copy has another name but is counted with the original program. */
static bool hooks_is_copy(const struct bpf_program *program)
{
	size_t i;

	for (i = 0; i < NR_DOUBLES; i++)
		if (doubles[i].use != INSTEAD_IF_PREEMPTED &&
		    !strcmp(doubles[i].second, bpf_program__name(program)))
			return true;
	return false;
}

/*
 * An event is lost only if all copies were skipped, so the loss is at most the smallest number of
 * misses among the copies. Only preemption can keep all three copies of a program busy.
 */
static int hooks_add_skipped(const struct bpf_object *object, const struct bpf_program *program,
			     bool preempts, uint64_t *skipped)
{
	const struct bpf_program *copy;
	uint64_t misses, least;
	int err = hooks_read_misses(program, &least);
	size_t i;

	for (i = 0; i < NR_DOUBLES && !err; i++) {
		if (strcmp(doubles[i].program, bpf_program__name(program)))
			continue;
		copy = bpf_object__find_program_by_name(object, doubles[i].second);
		if (!copy || !bpf_program__autoload(copy))
			continue;
		if (doubles[i].use == FOR_INTERRUPTS && !preempts)
			return 0;
		err = hooks_read_misses(copy, &misses);
		least = !err && misses < least ? misses : least;
	}
	*skipped += err ? 0 : least;
	return err;
}

int bpf_programs_read_skipped(const struct bpf_object *object, uint64_t *skipped)
{
	const bool preempts = hooks_kernel_preempts_itself();
	struct bpf_program *program;
	int err = 0;

	*skipped = 0;
	bpf_object__for_each_program(program, object) {
		if (!err && bpf_program__autoload(program) && !hooks_is_copy(program))
			err = hooks_add_skipped(object, program, preempts, skipped);
	}
	return err;
}

int bpf_programs_choose(struct bpf_object *object, const struct bpf_targets *targets,
			uint32_t without, uint32_t *hooks, uint32_t *notes)
{
	struct hook_search search = { .object = object, .targets = targets, .missing = without };
	int err = hooks_find_missing(&search);

	if (!err)
		err = hooks_leave_out(object, search.missing);
	if (!err)
		err = hooks_choose_of_faults(&search);
	if (!err)
		err = hooks_choose_note(&search, notes);
	if (!err)
		err = hooks_choose_of_handlers(&search);
	if (!err)
		err = hooks_choose_doubles(&search);
	*hooks = BPF_HOOKS & ~search.missing;
	return err;
}

int bpf_programs_choose_records(struct bpf_object *object, const struct bpf_targets *targets)
{
	struct bpf_program *program;
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(of_records) && !err; i++) {
		program = bpf_object__find_program_by_name(object, of_records[i]);
		if (!program)
			return -ENOENT;
		if (!bpf_targets_has(targets, program))
			return -EOPNOTSUPP;
		err = bpf_program__set_autoload(program, true);
	}
	return err;
}
