// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps the files, hooks them, moves their bytes by one method, and checks what was read. A pass
 * is timed by this file; a watched one is also a client of a measurement, which sees only what
 * happens between open_window() and close_window().
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/measurement.h"
#include "study/io/io_pass.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

struct passing {
	const struct pass_plan *plan;
	struct pass *pass;
	struct transfer transfer;
	struct measurement measurement;	/* its instruments are NULL in a bare pass */
	pid_t tid;
};

static int message_of(const struct passing *passing, const char *what, int err)
{
	char name[64];

	if (signals_caught)
		return 128 + signals_caught;
	if (instruments_thread_err(passing->measurement.instruments))
		return message(STATUS_FAILED, "cannot tell eBPF which thread to watch: %s; "
			       "--no-bpf goes on without", strerror(-err));
	way_name(passing->plan->way, name, sizeof(name));
	return message(STATUS_FAILED, "%s: cannot %s the files in %s: %s", name, what,
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
	if (passing->measurement.instruments) {
		instruments_hold_thread(passing->measurement.instruments, passing->tid);
		err = instruments_begin_thread(passing->measurement.instruments, passing->tid);
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
	if (passing->measurement.instruments)
		err = instruments_end_thread(passing->measurement.instruments, passing->tid);
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
	return err ? message_of(passing, "map", err) : STATUS_OK;
}

/* The module hooks what is mapped: between the windows. */
static int hook(struct passing *passing)
{
	const struct transfer *transfer = &passing->transfer;
	struct measurement *measurement = &passing->measurement;
	unsigned int i;
	int err = 0;

	if (!measurement->instruments)
		return STATUS_OK;
	for (i = 0; i < transfer->nr && !err && transfer->way->map; i++)
		err = measurement_hook_file(measurement, transfer->files->mappings[i].fd,
					    passing->plan->folder);
	return measurement_status(measurement, err ?: measurement_start(measurement));
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
	return err ? message_of(passing, transfer->way->write ? "write" : "read", err) : STATUS_OK;
}

/* Every word that was read must be the one that was written there last. */
static int check_sum(const struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;

	if (plan->way->write || passing->transfer.sum == files_sum(plan->files, plan->nr))
		return STATUS_OK;
	return message(STATUS_FAILED, "the files in %s do not hold what was written to them: "
		       "do not trust this disk", plan->folder);
}

static int look_before(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	const uint64_t pages = plan->nr * plan->files->mappings[0].pages;
	int err = files_prepare(plan->files, plan->nr, plan->cache, &signals_caught);

	if (err == -EBUSY || err == -ENOBUFS)
		return message(STATUS_FAILED, "the pages of the files in %s %s in the page cache: "
			       "take other files or another folder", plan->folder,
			       err == -EBUSY ? "stay" : "do not all stay");
	if (!err)
		err = files_resident(plan->files, plan->nr, &passing->pass->resident_before);
	if (!err && plan->cache == VIA_FIT && passing->pass->resident_before < pages)
		return message(STATUS_FAILED, "%u files of %" PRIu64 " bytes do not stay in the "
			       "page cache: use a smaller --file-size", plan->nr,
			       plan->files->bytes);
	meminfo_read(&passing->pass->before);
	return err ? message_of(passing, "prepare", err) : STATUS_OK;
}

static int look_after(struct passing *passing)
{
	const struct pass_plan *plan = passing->plan;
	int err;

	meminfo_read(&passing->pass->after);
	err = files_resident(plan->files, plan->nr, &passing->pass->resident_after);
	return err ? message_of(passing, "look at", err) : check_sum(passing);
}

/* A page of a mapped file that cannot be read, or has no room on the disk. */
static int transfer_or_bus(struct passing *passing)
{
	volatile int status;

	if (sigsetjmp(signals_bus, 1)) {
		signals_bus_armed = 0;
		return message_of(passing, "access", -EIO);
	}
	signals_bus_armed = 1;
	status = map(passing) ?: hook(passing) ?: move_and_sync(passing);
	signals_bus_armed = 0;
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
				    &signals_caught);
	passing->transfer.word = plan->word;
	return err ? message_of(passing, "prepare", err) : STATUS_OK;
}

static int make_pass(struct passing *passing)
{
	return open_transfer(passing) ?:
	       look_before(passing) ?:
	       transfer_or_bus(passing) ?:
	       look_after(passing);
}

int pass_bare(const struct pass_plan *plan, struct pass *pass)
{
	struct passing passing = { .plan = plan, .pass = pass, .measurement = MEASUREMENT_NONE };
	int status = make_pass(&passing);

	transfer_close(&passing.transfer);
	return status;
}

/* Methods without a mapping have nothing to hook, but something must be a target. */
static int open_measurement(struct passing *passing, struct result *result)
{
	const struct pass_plan *plan = passing->plan;
	struct measurement *measurement = &passing->measurement;
	const struct measurement_options options = {
		.instruments = {
			.bpf = plan->bpf,
			.bpf_missing = "--no-bpf was given",
			.events = { .pages = true },
			.fault_around = true,
			.only_fd = -1,
			.cpus = plan->cpus,
			.tick_ms = -1,
		},
		.hooks_nothing = !plan->way->map,
		.keeps_privileges = true,
		.exact = true,
	};
	int err = measurement_open(measurement, &options, result);

	if (!err && !plan->way->map)
		err = measurement_hook_nothing(measurement);
	return measurement_status(measurement, err);
}

static int finish(struct passing *passing, struct result *result)
{
	measurement_stop(&passing->measurement);
	result->counters.hooked_only = passing->plan->way->map;
	result->counters.usage = passing->pass->usage;
	return measurement_finish(&passing->measurement);
}

int pass_watched(const struct pass_plan *plan, struct pass *pass, struct result *result)
{
	struct passing passing = {
		.plan = plan, .pass = pass, .measurement = MEASUREMENT_NONE, .tid = gettid(),
	};
	int status;

	result_init(result);
	status = open_measurement(&passing, result) ?:
		 make_pass(&passing) ?:
		 finish(&passing, result);
	measurement_close(&passing.measurement);
	transfer_close(&passing.transfer);
	return status;
}
