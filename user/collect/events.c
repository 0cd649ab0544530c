// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads, attaches and pins the eBPF programs. Their events go to the collector, merged by time
 * (event_rings.c). bpf_counters.c reads the maps in which the programs count. bpf_programs.c leaves
 * out a program that this kernel cannot run.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "collect/bpf_pins.h"
#include "collect/bpf_programs.h"
#include "collect/bpf_records.h"
#include "collect/bpf_targets.h"
#include "collect/events.h"
#include "collect/kernel_symbols.h"
#include "collect/kernel_types.h"
#include "collect/pins_lock.h"
#include "pfstat.skel.h"
#include "util/page_size.h"
#include "util/why.h"

/* A slot takes 16 bytes. */
#define MAX_SWAP_SLOTS (1U << 22)

/* More than any program runs. */
#define STOP_US 100000

/*
 * Size of each CPU's ring, unless all rings together would exceed RINGS_BYTES_MAX. With
 * stacks, nearly every event is a stack, which is ten times as long as others, so both
 * sizes are multiplied by STACKS_FACTOR.
 */
#define RING_BYTES	(1U << 20)
#define RING_BYTES_MIN	(1U << 16)
#define RINGS_BYTES_MAX (64U << 20)
#define STACKS_FACTOR	8

#define PAGEMAP_SOFT_DIRTY (1ULL << 55)

const bool bpf_is_built_in = true;

struct events {
	struct pfstat_bpf *bpf;
	struct event_rings rings;
	unsigned int nr_rings; /* one for each online CPU */
	uint32_t ring_bytes;
	int claim; /* see bpf_pins_claim() */
	uint64_t received;
	uint64_t forgotten;	    /* among these, dropped */
	struct run_counters before; /* counts for the dropped events */
	uint32_t hooks;
	uint32_t notes; /* see bpf_programs_attach() */
	struct bpf_pins pins;
	struct kernel_symbols symbols;
	uint64_t skipped; /* when the programs were stopped */
	int skipped_err;  /* 1: they were not stopped yet */
};

static uint32_t events_default_bytes(unsigned int nr_rings, bool stacks)
{
	const uint32_t factor = stacks ? STACKS_FACTOR : 1;
	uint32_t bytes = RING_BYTES;

	while (bytes > RING_BYTES_MIN && (uint64_t)bytes * nr_rings > RINGS_BYTES_MAX)
		bytes /= 2;
	return bytes * factor;
}

static int events_configure_maps(struct events *events, const struct events_options *options)
{
	const int nr_cpus = libbpf_num_possible_cpus();

	if (nr_cpus < 0)
		return nr_cpus;
	events->nr_rings = get_nprocs();
	events->ring_bytes = options->ring_bytes ?:
				     events_default_bytes(events->nr_rings, options->stacks);
	events->bpf->rodata->events_half = events->ring_bytes / 2;
	events->bpf->rodata->possible_cpus = nr_cpus;
	events->bpf->rodata->page_shift = __builtin_ctzll(page_size());
	return bpf_map__set_max_entries(events->bpf->maps.events, nr_cpus);
}

/* One map slot per slot in all swap areas, up to 64 MiB. */
static int events_size_swap_maps(struct pfstat_bpf *bpf, bool used)
{
	const uint64_t pages = bpf_counters_swap_pages();
	uint32_t slots = 1024;
	int err;

	if (!used) {
		err = bpf_map__set_max_entries(bpf->maps.swap_pairs, 1);
		return err ? err : bpf_map__set_max_entries(bpf->maps.swap_names, 1);
	}
	while (slots < pages && slots < MAX_SWAP_SLOTS)
		slots *= 2;
	bpf->rodata->swap_slots_mask = slots - 1;
	return bpf_map__set_max_entries(bpf->maps.swap_slots, slots);
}

static void events_configure_types(struct pfstat_bpf *bpf, const struct bpf_targets *targets)
{
	bpf->rodata->vm_area_struct_type = bpf_targets_struct(targets, "vm_area_struct");
	bpf->rodata->vm_fault_type = bpf_targets_struct(targets, "vm_fault");
	bpf->rodata->have_preempt_count = bpf_targets_symbol(targets, PFSTAT_KERNEL_PREEMPT_COUNT);
	bpf->rodata->have_pcpu_hot = bpf_targets_symbol(targets, PFSTAT_KERNEL_PCPU_HOT);
	bpf->rodata->have_runqueues = bpf_targets_symbol(targets, PFSTAT_KERNEL_RUNQUEUES);
	bpf->rodata->have_interrupt_count =
		bpf_targets_has_variable(targets, "local_interrupt_disable_state");
	bpf->rodata->have_prev_state = bpf_targets_arguments(targets, "sched_switch") > 3;
}

/* A page that was just written is marked in its entry, if the kernel marks entries at all. */
static bool events_kernel_has_soft_dirty(void)
{
	const size_t page = page_size();
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &entry, sizeof(entry), (uintptr_t)&entry / page * sizeof(entry)) !=
	    sizeof(entry))
		entry = 0;
	close(fd);
	return entry & PAGEMAP_SOFT_DIRTY;
}

/* Without the program at this function, an entry that allowed the access would look empty. */
static void events_configure_notes(struct events *events)
{
	const uint32_t needed = 1U << HOOK_FAULT | 1U << HOOK_SWAP | 1U << HOOK_WP;
	struct pfstat_bpf *bpf = events->bpf;

	bpf->rodata->have_notes = (events->hooks & needed) == needed &&
				  (bpf_program__autoload(bpf->progs.on_access) ||
				   bpf_program__autoload(bpf->progs.on_access_kprobe));
	bpf->rodata->have_soft_dirty = events_kernel_has_soft_dirty();
}

/* Sets the programs' constants, which must be known when they are loaded. */
static int events_configure(struct events *events, const struct events_options *options,
			    const struct bpf_targets *targets)
{
	struct pfstat_bpf *bpf = events->bpf;
	uint32_t without = options->without;
	int err = 0;

	without |= options->pages ? 0 : 1U << HOOK_PAGE_DELETE | 1U << HOOK_SWAP_OUT;
	without |= options->swap ? 0 : 1U << HOOK_SWAP_IO;
	if (options->records)
		err = bpf_records_configure(bpf, targets, options->record_bytes);
	/* Chooses second copies of all programs to be loaded. */
	if (!err)
		err = bpf_programs_choose(bpf->obj, targets, without, &events->hooks,
					  &events->notes);
	if (!err)
		err = events_size_swap_maps(bpf, events->hooks & 1U << HOOK_SWAP_IO);
	if (err)
		return err;
	bpf->rodata->have_waking = events->hooks & 1U << HOOK_WAKEUP;
	bpf->rodata->have_wait_stack = events->hooks & 1U << HOOK_WAIT_STACK;
	bpf->rodata->have_page_delete = events->hooks & 1U << HOOK_PAGE_DELETE;
	bpf->rodata->have_graph_probes = bpf_program__autoload(bpf->progs.on_fault_enter_kprobe);
	bpf->rodata->have_new_pages = bpf_program__autoload(bpf->progs.on_new_shared_page) ||
				      bpf_program__autoload(bpf->progs.on_new_shared_page_kprobe);
	bpf->rodata->have_preempt_disable =
		bpf_targets_symbol(targets, PFSTAT_KERNEL_PREEMPT_DISABLE) &&
		bpf_program__autoload(bpf->progs.on_sys_exit_again);
	events_configure_notes(events);
	events_configure_types(bpf, targets);
	bpf->rodata->want_stacks = options->stacks;
	bpf->rodata->have_fault_state = events->hooks & 1U << HOOK_FAULT;
	return events_configure_maps(events, options);
}

/*
 * Memory shared with the programs lies in pages, which 7.3 maps when they are first touched, and
 * this is a fault of pfdrive itself. Naming a target touches one when perf already counts and the
 * programs do not. So all pages are touched before. They hold 0 as long as no program is attached.
 */
static void events_touch_shared(struct pfstat_bpf *bpf)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	volatile char *shared = (volatile char *)bpf->bss;
	size_t i;

	for (i = 0; i < sizeof(*bpf->bss); i += page)
		shared[i] = 0;
}

/* libbpf reads the kernel's types from the descriptor when it loads the programs. */
static int events_open_object(struct events *events, int fd)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.btf_custom_path = path;
	events->bpf = pfstat_bpf__open_opts(&options);
	return events->bpf ? 0 : -errno;
}

/* libbpf gets only the kernel types the programs name. */
static int events_choose_types(struct events *events, struct bpf_targets *targets, int fd)
{
	const struct bpf_object *object = events->bpf->obj;
	struct kernel_types *types;
	int err = kernel_types_read(&types);

	if (!err)
		err = bpf_targets_find(targets, object, types);
	/* The newest helper required by all programs. */
	if (!err && !bpf_targets_has_function(targets, "bpf_task_pt_regs"))
		err = -ENOSYS;
	/* Programs at the start and the end of functions need it. */
	if (!err && !bpf_targets_has_function(targets, "register_ftrace_direct"))
		err = -EOPNOTSUPP;
	if (!err)
		err = kernel_types_write(types, bpf_object__btf(object), fd);
	kernel_types_close(types);
	return err;
}

static int events_load_object(struct events *events, const struct events_options *options, int fd)
{
	struct bpf_targets *targets;
	int err = bpf_targets_open(&targets);

	if (!err)
		err = events_open_object(events, fd);
	if (!err)
		err = events_choose_types(events, targets, fd);
	if (!err)
		err = events_configure(events, options, targets);
	if (!err)
		err = pfstat_bpf__load(events->bpf);
	bpf_targets_close(targets);
	return err;
}

/* A kernel_symbols_lookup: the kernel's own table, which find_symbol() in bpf/ queries. */
static bool events_find_symbol(void *context, struct pfstat_symbol_query *query)
{
	const struct events *events = context;
	struct bpf_test_run_opts run = {
		.sz = sizeof(run),
		.ctx_in = query,
		.ctx_size_in = sizeof(*query),
	};

	return !bpf_prog_test_run_opts(bpf_program__fd(events->bpf->progs.find_symbol), &run);
}

static int events_load(struct events *events, const struct events_options *options,
		       const char **step)
{
	const int fd = memfd_create("pfdrive", MFD_CLOEXEC);
	int err;

	*step = "load the eBPF programs";
	if (fd < 0)
		return -errno;
	err = events_load_object(events, options, fd);
	close(fd);
	if (err)
		return err;
	/*
	 * libbpf tests whether a map can be shared at all, and continues without sharing if this
	 * fails. All supported kernels can, so the cause was a lack of memory.
	 */
	if (!events->bpf->bss)
		return -ENOMEM;
	events->symbols.lookup = events_find_symbol;
	events->symbols.context = events;
	events_touch_shared(events->bpf);
	return 0;
}

static int events_open_rings(struct events *events, const char **step)
{
	const struct bpf_map *map = events->bpf->maps.events;
	int err;

	*step = "open the eBPF ring buffers";
	err = event_rings_open(&events->rings, events->nr_rings, events->ring_bytes);
	return err ? err :
		     event_rings_assign(&events->rings, bpf_map__fd(map),
					bpf_map__max_entries(map));
}

static int events_claim(struct events *events, struct why *why)
{
	events->claim = bpf_pins_claim();
	if (events->claim >= 0)
		return 0;
	if (events->claim == -EBUSY)
		why_set(why, "another pfdrive measures with eBPF; wait until it ends");
	else
		bpf_explain("claim eBPF for this measurement", events->claim, why);
	return events->claim;
}

static int events_open_parts(struct events *events, const struct events_options *options,
			     struct why *why)
{
	const char *step;
	int err = events_load(events, options, &step);

	if (!err) {
		/*
		 * The programs from an earlier measurement were detached while these were loaded.
		 */
		pins_lock_await_detached();
		step = "pin the eBPF maps under " PFSTAT_PIN_DIR;
		/* The keeper starts while the next step waits for a grace period. */
		err = bpf_pins_open(&events->pins);
	}
	if (!err)
		err = events_open_rings(events, &step);
	if (err)
		bpf_explain(step, err, why);
	return err;
}

/* NULL with a reason. */
static struct events *events_new(struct why *why)
{
	struct events *events = calloc(1, sizeof(*events));

	if (!events) {
		bpf_explain("load the eBPF programs", -ENOMEM, why);
		return NULL;
	}
	events->rings = EVENT_RINGS_NONE;
	events->claim = -1;
	events->pins = PINS_NONE;
	events->skipped_err = 1;
	libbpf_set_print(bpf_log_keep);
	return events;
}

int events_open(struct events **opened, const struct events_options *options, struct why *why)
{
	const char *lacking = bpf_explain_missing();
	struct events *events;
	int err;

	*opened = NULL;
	if (lacking)
		return why_fail(why, -EOPNOTSUPP, "%s", lacking);
	events = events_new(why);
	if (!events)
		return -ENOMEM;
	err = events_claim(events, why) ?: events_open_parts(events, options, why);
	if (err)
		events_close(events);
	else
		*opened = events;
	return err;
}

int events_try(struct why *why)
{
	/* The programs for all sources, with the smallest rings. */
	const struct events_options options = {
		.pages = true,
		.records = true,
		.record_bytes = 1,
		.ring_bytes = RING_BYTES_MIN,
	};
	struct events *events = events_new(why);
	const char *step;
	int err;

	if (!events)
		return -ENOMEM;
	err = events_load(events, &options, &step);
	if (err)
		bpf_explain(step, err, why);
	events_close(events);
	return err;
}

int events_attach(struct events *events, struct why *why)
{
	int err = bpf_targets_attach(events->bpf->skeleton);

	if (!err)
		err = bpf_programs_attach(events->bpf->skeleton, events->notes);
	if (err) {
		bpf_explain("attach the eBPF programs", err, why);
		return err;
	}
	err = bpf_pins_make(&events->pins, events->bpf->obj);
	if (err)
		bpf_explain("pin the eBPF maps under " PFSTAT_PIN_DIR, err, why);
	return err;
}

void events_close(struct events *events)
{
	if (!events)
		return;
	bpf_pins_remove(&events->pins);
	if (events->bpf)
		bpf_pins_give_links(&events->pins, events->bpf->skeleton);
	event_rings_close(&events->rings);
	kernel_symbols_exit(&events->symbols);
	pfstat_bpf__destroy(events->bpf);
	bpf_pins_close(&events->pins);
	if (events->claim >= 0)
		close(events->claim);
	free(events);
}

uint32_t events_hooks(const struct events *events)
{
	return events->hooks;
}

void events_set_wrapper(struct events *events, uint64_t address)
{
	events->bpf->bss->wrapper = address;
}

void events_count_swap(struct events *events, bool count)
{
	events->bpf->bss->swap_counting = count;
}

int events_watch(struct events *events, pid_t id, enum pfstat_target how)
{
	const __u32 key = id, value = how;

	events->bpf->bss->seen[key % sizeof(events->bpf->bss->seen)] = 1;
	return bpf_map_update_elem(bpf_map__fd(events->bpf->maps.targets), &key, &value, BPF_ANY);
}

int events_ignore(struct events *events, pid_t id)
{
	const __u32 key = id;
	int err = bpf_map_delete_elem(bpf_map__fd(events->bpf->maps.targets), &key);

	events->bpf->bss->ignored++;
	/* The off-CPU time so far may be dropped too: see events_forget(). */
	bpf_map_delete_elem(bpf_map__fd(events->bpf->maps.off_since), &key);
	return err == -ENOENT ? 0 : err; /* it has ended meanwhile */
}

bool events_is_watched(const struct events *events, pid_t id)
{
	const __u32 key = id;
	__u32 value;

	return !bpf_map_lookup_elem(bpf_map__fd(events->bpf->maps.targets), &key, &value);
}

int events_fd(const struct events *events)
{
	return events->rings.epoll;
}

/* Names the functions on the stacks in events, and counts the events it passes on. */
struct events_passage {
	struct events *events;
	event_rings_sink sink;
	void *context;
};

static int events_pass(void *context, const struct pfstat_event *event)
{
	const struct events_passage *passage = context;

	passage->events->received++;
	return passage->sink(passage->context,
			     kernel_symbols_apply(&passage->events->symbols, event));
}

int events_drain(struct events *events, event_rings_sink sink, void *context)
{
	struct events_passage passage = { events, sink, context };

	return event_rings_drain(&events->rings, events_pass, &passage);
}

uint64_t events_received(const struct events *events)
{
	return events->received - events->forgotten;
}

static int events_read_counts(const struct events *events, struct run_counters *counters)
{
	const struct event_maps maps = {
		.counts = bpf_map__fd(events->bpf->maps.counts),
		.syscalls = bpf_map__fd(events->bpf->maps.syscalls),
		.faults = events->hooks & 1U << HOOK_FAULT ? bpf_map__fd(events->bpf->maps.faults) :
							     -1,
		.missed = events->bpf->bss->missed,
	};

	return bpf_counters_read(&maps, counters);
}

int events_find_mapping(const struct events *events, struct pfstat_handler_query *query)
{
	struct bpf_test_run_opts run = {
		.sz = sizeof(run),
		.ctx_in = query,
		.ctx_size_in = sizeof(*query),
	};
	int err = bpf_prog_test_run_opts(bpf_program__fd(events->bpf->progs.find_handler), &run);

	return err ? err : (int)run.retval;
}

struct pfstat_bpf *events_object(const struct events *events)
{
	return events->bpf;
}

static int events_drop(void *context, const struct pfstat_event *event)
{
	(void)event;
	(*(uint64_t *)context)++;
	return 0;
}

static int events_forget_syscalls(int fd)
{
	struct pfstat_syscall_key key;
	int err, next;

	while ((next = bpf_counters_next_key(fd, NULL, &key)) > 0) {
		err = bpf_map_delete_elem(fd, &key);
		if (err)
			return err;
	}
	return next;
}

/*
 * A program may still run on another CPU, within an RCU read-side section. The barrier waits for
 * those programs. Kernels with nohz_full refuse it. Programs that are skipped later would have done
 * nothing.
 */
void events_stop(struct events *events)
{
	events->bpf->bss->swap_counting = false;
	events->bpf->bss->stopped = 1;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(STOP_US);
	events->skipped_err = bpf_programs_read_skipped(events->bpf->obj, &events->skipped);
}

/*
 * The reader counts the events it drops: some may belong to other processes, and arrive meanwhile.
 */
int events_forget(struct events *events)
{
	int err;

	err = events_drain(events, events_drop, &events->forgotten);
	if (!err)
		err = events_forget_syscalls(bpf_map__fd(events->bpf->maps.syscalls));
	if (!err)
		err = events_read_counts(events, &events->before);
	if (!err)
		err = bpf_programs_read_skipped(events->bpf->obj, &events->before.events_skipped);
	free(events->before.syscalls);
	events->before.syscalls = NULL;
	return err;
}

static void events_take_out_forgotten(const struct events *events, struct run_counters *counters)
{
	const struct run_counters *before = &events->before;
	unsigned int i;

	counters->counts[PFSTAT_COUNT_EVENTS] -= events->forgotten;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] -= before->counts[PFSTAT_COUNT_EVENTS_LOST];
	counters->counts[PFSTAT_COUNT_SYSCALL_LOST] -= before->counts[PFSTAT_COUNT_SYSCALL_LOST];
	counters->counts[PFSTAT_COUNT_OFF_CPU] -= before->counts[PFSTAT_COUNT_OFF_CPU];
	counters->counts[PFSTAT_COUNT_UNTRACKED] -= before->counts[PFSTAT_COUNT_UNTRACKED];
	counters->counts[PFSTAT_COUNT_SEGV] -= before->counts[PFSTAT_COUNT_SEGV];
	counters->counts[PFSTAT_COUNT_BUS] -= before->counts[PFSTAT_COUNT_BUS];
	if (!(events->hooks & 1U << HOOK_FAULT))
		return;
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++) {
		counters->faults[i].count -= before->faults[i].count;
		counters->faults[i].total_ns -= before->faults[i].total_ns;
	}
	counters->task_minor -= before->task_minor;
	counters->task_major -= before->task_major;
}

int events_counters(const struct events *events, struct run_counters *counters)
{
	int err;

	counters->have_bpf = true;
	counters->have_advice = true;
	counters->hooks = events->hooks;
	err = events_read_counts(events, counters);
	if (!err)
		events_take_out_forgotten(events, counters);
	if (!err && events->hooks & 1U << HOOK_SWAP_IO) {
		counters->swap = events->bpf->bss->swap_counts;
		err = bpf_counters_read_swap(bpf_map__fd(events->bpf->maps.swap_pairs),
					     bpf_map__fd(events->bpf->maps.swap_names), counters);
	}
	counters->events_skipped = events->skipped;
	if (!err)
		err = events->skipped_err <= 0 ?
			      events->skipped_err :
			      bpf_programs_read_skipped(events->bpf->obj,
							&counters->events_skipped);
	if (err)
		return err;
	counters->events_skipped -= events->before.events_skipped;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] += counters->events_skipped;
	return 0;
}
