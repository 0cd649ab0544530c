// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/instruments.h"
#include "run/phases.h"
#include "study/io/io_pass.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

struct passing {
	const struct pass_plan *plan;
	struct pass *pass;
	struct transfer transfer;
	struct instruments *instruments;	/* NULL: bare */
	struct result *result;
	pid_t tid;
	int nothing_fd;		/* of a file that nobody maps; -1: files are hooked */
};

static int complain_of(const struct passing *passing, const char *what, int err)
{
	char name[64];

	if (interrupt_signal)
		return 128 + interrupt_signal;
	if (instruments_thread_err(passing->instruments))
		return complain(STATUS_FAILED, "cannot tell eBPF which thread to watch: %s; "
				"--no-bpf goes on without", strerror(-err));
	way_name(passing->plan->way, name, sizeof(name));
	return complain(STATUS_FAILED, "%s: cannot %s the files in %s: %s", name, what,
			passing->plan->folder, strerror(-err));
}

/*
 * Some of the phases, timed, between two calls of getrusage(2); watched only in
 * between. What fills the result's memory comes before.
 */
struct window {
	struct rusage before, after;
	uint64_t start_ns, move_ns, end_ns;
};

static int open_window(struct passing *passing, struct window *window)
{
	int err = 0;

	getrusage(RUSAGE_THREAD, &window->after);
	clock_monotonic_ns();
	if (passing->instruments) {
		instruments_hold_thread(passing->instruments, passing->tid);
		err = instruments_begin_thread(passing->instruments, passing->tid);
	}
	getrusage(RUSAGE_THREAD, &window->before);
	window->start_ns = clock_monotonic_ns();
	return err;
}

static int close_window(struct passing *passing, struct window *window)
{
	int err = 0;

	window->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &window->after);
	if (passing->instruments)
		err = instruments_end_thread(passing->instruments, passing->tid);
	return err;
}

static void take_usage(struct passing *passing, const struct window *window)
{
	const struct usage usage = usage_between(&window->before, &window->after);

	usage_add(&passing->pass->usage, &usage);
}

static int map(struct passing *passing)
{
	struct window window = { 0 };
	int err, end;

	err = open_window(passing, &window);
	if (!err)
		err = transfer_map(&passing->transfer);
	end = close_window(passing, &window);
	passing->pass->map_ns = window.end_ns - window.start_ns;
	take_usage(passing, &window);
	err = err ?: end;
	return err ? complain_of(passing, "map", err) : STATUS_OK;
}

/* The module hooks what is mapped: between the windows. */
static int hook(struct passing *passing)
{
	const struct transfer *transfer = &passing->transfer;
	unsigned int i;
	char why[512];
	int err = 0;

	if (!passing->instruments)
		return STATUS_OK;
	for (i = 0; i < transfer->nr && !err && transfer->way->map; i++)
		err = instruments_hook_file(passing->instruments, transfer->files->mappings[i].fd,
					    passing->plan->folder, why, sizeof(why));
	if (!err)
		err = instruments_go(passing->instruments, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
}

static int move_and_sync(struct passing *passing)
{
	struct transfer *transfer = &passing->transfer;
	struct pass *pass = passing->pass;
	struct window window = { 0 };
	int err, end;

	err = open_window(passing, &window);
	if (!err)
		err = transfer_move(transfer);
	window.move_ns = clock_monotonic_ns();
	if (!err && pass->synced)
		err = transfer_sync(transfer);
	end = close_window(passing, &window);
	pass->move_ns = window.move_ns - window.start_ns;
	pass->sync_ns = pass->synced ? window.end_ns - window.move_ns : 0;
	take_usage(passing, &window);
	err = err ?: end;
	return err ? complain_of(passing, transfer->way->write ? "write" : "read", err) : STATUS_OK;
}

/* Every word that was read must be the one that was written there last. */
static int check_sum(const struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;

	if (plan->way->write || passing->transfer.sum == files_sum(plan->files, plan->nr))
		return STATUS_OK;
	return complain(STATUS_FAILED, "the files in %s do not hold what was written to them: "
			"do not trust this disk", plan->folder);
}

static int look_before(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	const uint64_t pages = plan->nr * plan->files->mappings[0].pages;
	int err = files_prepare(plan->files, plan->nr, plan->cache, &interrupt_signal);

	if (err == -EBUSY || err == -ENOBUFS)
		return complain(STATUS_FAILED, "the pages of the files in %s %s in the page cache: "
				"take other files or another folder", plan->folder,
				err == -EBUSY ? "stay" : "do not all stay");
	if (!err)
		err = files_resident(plan->files, plan->nr, &passing->pass->resident_before);
	if (!err && plan->cache == VIA_FIT && passing->pass->resident_before < pages)
		return complain(STATUS_FAILED, "%u files of %" PRIu64 " bytes do not stay in the "
				"page cache: use a smaller --file-size", plan->nr,
				plan->files->bytes);
	meminfo_read(&passing->pass->before);
	return err ? complain_of(passing, "prepare", err) : STATUS_OK;
}

static int look_after(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	int err;

	meminfo_read(&passing->pass->after);
	err = files_resident(plan->files, plan->nr, &passing->pass->resident_after);
	return err ? complain_of(passing, "look at", err) : check_sum(passing);
}

static int make_pass(struct passing *passing)
{
	int status;

	status = map(passing);
	if (!status)
		status = hook(passing);
	if (!status)
		status = move_and_sync(passing);
	return status;
}

/* A page of a mapped file that cannot be read, or has no room on the disk. */
static int make_pass_or_bus(struct passing *passing)
{
	volatile int status;

	if (sigsetjmp(interrupt_bus, 1)) {
		interrupt_bus_armed = 0;
		return complain_of(passing, "access", -EIO);
	}
	interrupt_bus_armed = 1;
	status = make_pass(passing);
	interrupt_bus_armed = 0;
	return status;
}

static int open_transfer(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	int err;

	*passing->pass = (struct pass){
		/* Where all fits into the cache, writing is over when it is there. */
		.synced = plan->way->write && plan->cache != VIA_FIT,
	};
	err = transfer_warm_up(plan->way);
	if (!err)
		err = transfer_open(&passing->transfer, plan->way, plan->files, plan->nr,
				    &interrupt_signal);
	passing->transfer.word = plan->word;
	return err ? complain_of(passing, "prepare", err) : STATUS_OK;
}

static int pass_steps(struct passing *passing)
{
	int status;

	status = open_transfer(passing);
	if (!status)
		status = look_before(passing);
	if (!status)
		status = make_pass_or_bus(passing);
	if (!status)
		status = look_after(passing);
	return status;
}

int pass_bare(const struct pass_plan *plan, struct pass *pass)
{
	struct passing passing = { .plan = plan, .pass = pass, .nothing_fd = -1 };
	int status = pass_steps(&passing);

	transfer_close(&passing.transfer);
	return status;
}

static int on_item(void *context, const struct item *item)
{
	return analysis_add(((struct result *)context)->analysis, item);
}

/* Of ways without a mapping there is nothing to hook, but something must be a target. */
static int begin_watch(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	const struct instruments_options options = {
		.bpf = plan->bpf,
		.bpf_missing = "--no-bpf was given",
		.events = { .pages = true },
		.fault_around = true,
		.only_fd = passing->nothing_fd,
		.sink = on_item,
		.sink_context = passing->result,
		.cpus = plan->cpus,
		.tick_ms = -1,
	};
	char why[512];
	int err;

	err = instruments_open(&passing->instruments, &options, why, sizeof(why));
	if (!err && !plan->way->map)
		err = instruments_hook_nothing(passing->instruments, why, sizeof(why));
	return err ? complain(STATUS_FAILED, "%s", why) : STATUS_OK;
}

static int end_watch(struct passing *passing)
{
	struct run_counters *counters = &passing->result->counters;
	char why[512];

	if (instruments_stop(passing->instruments, counters, why, sizeof(why)) ||
	    instruments_check_events(counters, why, sizeof(why)))
		return complain(STATUS_FAILED, "%s", why);
	counters->hooked_only = passing->plan->way->map;
	counters->usage = passing->pass->usage;
	if (analysis_finish(passing->result->analysis) ||
	    report_fill(&passing->result->report, passing->result->analysis, counters))
		return complain(STATUS_FAILED, "out of memory");
	return STATUS_OK;
}

static int watched_steps(struct passing *passing)
{
	int status;

	passing->result->analysis = analysis_new(passing->plan->bpf, 0);
	if (!passing->result->analysis)
		return complain(STATUS_FAILED, "out of memory");
	if (!passing->plan->way->map)
		passing->nothing_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!passing->plan->way->map && passing->nothing_fd < 0)
		return complain(STATUS_FAILED, "cannot open /dev/null: %s", strerror(errno));
	status = begin_watch(passing);
	if (!status)
		status = pass_steps(passing);
	if (!status)
		status = end_watch(passing);
	return status;
}

int pass_watched(const struct pass_plan *plan, struct pass *pass, struct result *result)
{
	struct passing passing = {
		.plan = plan, .pass = pass, .result = result, .tid = gettid(), .nothing_fd = -1,
	};
	int status;

	*result = (struct result){ 0 };
	report_init(&result->report);
	run_counters_init(&result->counters);
	status = watched_steps(&passing);
	instruments_close(passing.instruments);
	transfer_close(&passing.transfer);
	if (passing.nothing_fd >= 0)
		close(passing.nothing_fd);
	return status;
}
