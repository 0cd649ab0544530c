// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps the files, hooks them, transfers their bytes by one method, and verifies the result.
 * This file times a pass. A watched pass is also a client of a measurement, which sees only
 * the time between io_pass_open_window() and io_pass_close_window().
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/io/io_pass.h"
#include "run/measurement.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"

struct passing {
	const struct io_pass_plan *plan;
	struct io_pass *pass;
	struct io_transfer transfer;
	struct measurement measurement; /* a bare pass has no instruments (NULL) */
	pid_t tid;
};

static int io_pass_report(const struct passing *passing, const char *what, int err)
{
	char name[64];

	if (signals_caught)
		return 128 + signals_caught;
	if (instruments_thread_err(passing->measurement.instruments))
		return message(
			STATUS_FAILED,
			"cannot set the thread that eBPF watches: %s; use --no-bpf to measure "
			"without eBPF",
			strerror(-err));
	io_method_name(passing->plan->method, name, sizeof(name));
	return message(STATUS_FAILED, "%s: cannot %s the files in %s: %s", name, what,
		       passing->plan->folder, strerror(-err));
}

/*
 * Some phases, timed between two getrusage(2) calls, and watched only in between. The result's
 * memory is touched before.
 */
struct window {
	struct rusage before, after;
	uint64_t start_ns, move_ns, end_ns;
};

static int io_pass_open_window(struct passing *passing, struct window *window)
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

static int io_pass_close_window(struct passing *passing, struct window *window)
{
	int err = 0;

	window->end_ns = clock_monotonic_ns();
	getrusage(RUSAGE_THREAD, &window->after);
	if (passing->measurement.instruments)
		err = instruments_end_thread(passing->measurement.instruments, passing->tid);
	return err;
}

static void io_pass_take_usage(struct passing *passing, const struct window *window)
{
	const struct usage usage = usage_between(&window->before, &window->after);

	usage_add(&passing->pass->usage, &usage);
}

static int io_pass_map(struct passing *passing)
{
	struct window window = { 0 };
	int err, end;

	err = io_pass_open_window(passing, &window);
	if (!err)
		err = io_transfer_map(&passing->transfer);
	end = io_pass_close_window(passing, &window);
	passing->pass->map_ns = window.end_ns - window.start_ns;
	io_pass_take_usage(passing, &window);
	err = err ?: end;
	return err ? io_pass_report(passing, "map", err) : STATUS_OK;
}

/* Between the windows: the source hooks existing mappings. */
static int io_pass_hook(struct passing *passing)
{
	const struct io_transfer *transfer = &passing->transfer;
	struct measurement *measurement = &passing->measurement;
	unsigned int i;
	int err = 0;

	if (!measurement->instruments)
		return STATUS_OK;
	for (i = 0; i < transfer->nr && !err && transfer->method->map; i++)
		err = measurement_hook_file(measurement, transfer->files->mappings[i].fd,
					    passing->plan->folder);
	return measurement_status(measurement, err ?: measurement_start(measurement));
}

static int io_pass_move_and_sync(struct passing *passing)
{
	struct io_transfer *transfer = &passing->transfer;
	struct io_pass *pass = passing->pass;
	struct window window = { 0 };
	int err, end;

	err = io_pass_open_window(passing, &window);
	if (!err)
		err = io_transfer_move(transfer);
	window.move_ns = clock_monotonic_ns();
	if (!err && pass->synced)
		err = io_transfer_sync(transfer);
	end = io_pass_close_window(passing, &window);
	pass->move_ns = window.move_ns - window.start_ns;
	pass->sync_ns = pass->synced ? window.end_ns - window.move_ns : 0;
	io_pass_take_usage(passing, &window);
	err = err ?: end;
	return err ? io_pass_report(passing, transfer->method->write ? "write" : "read", err) :
		     STATUS_OK;
}

/* Every word read must be the word last written there. */
static int io_pass_check_sum(const struct passing *passing)
{
	const struct io_pass_plan *plan = passing->plan;

	if (plan->method->write || passing->transfer.sum == io_files_sum(plan->files, plan->nr))
		return STATUS_OK;
	return message(
		STATUS_FAILED,
		"the files in %s differ from the data that was written; do not trust this disk",
		plan->folder);
}

static int io_pass_check_before(struct passing *passing)
{
	const struct io_pass_plan *plan = passing->plan;
	const uint64_t pages = plan->nr * plan->files->mappings[0].pages;
	int err = io_files_prepare(plan->files, plan->nr, plan->cache, &signals_caught);

	if (err == -EBUSY || err == -ENOBUFS)
		return message(STATUS_FAILED,
			       "the file pages in %s %s in the page cache; use another "
			       "--scratch-dir",
			       plan->folder, err == -EBUSY ? "stay" : "do not all stay");
	if (!err)
		err = io_files_resident(plan->files, plan->nr, &passing->pass->resident_before);
	if (!err && plan->cache == IO_FIT && passing->pass->resident_before < pages)
		return message(STATUS_FAILED,
			       "%u files of %" PRIu64
			       " bytes do not stay in the page cache; use a smaller --file-size",
			       plan->nr, plan->files->bytes);
	meminfo_read(&passing->pass->before);
	return err ? io_pass_report(passing, "prepare", err) : STATUS_OK;
}

static int io_pass_check_after(struct passing *passing)
{
	const struct io_pass_plan *plan = passing->plan;
	int err;

	meminfo_read(&passing->pass->after);
	err = io_files_resident(plan->files, plan->nr, &passing->pass->resident_after);
	return err ? io_pass_report(passing, "look at", err) : io_pass_check_sum(passing);
}

/* A page of a mapped file cannot be read, or the disk has no room for it. */
static int io_pass_transfer_or_bus(struct passing *passing)
{
	volatile int status;

	if (sigsetjmp(signals_bus, 1)) {
		signals_bus_armed = 0;
		return io_pass_report(passing, "access", -EIO);
	}
	signals_bus_armed = 1;
	status = io_pass_map(passing) ?: io_pass_hook(passing) ?: io_pass_move_and_sync(passing);
	signals_bus_armed = 0;
	return status;
}

static int io_pass_open_transfer(struct passing *passing)
{
	const struct io_pass_plan *plan = passing->plan;
	int err;

	*passing->pass = (struct io_pass){
		/* Where all fits into the cache, writing is over when it is there. */
		.synced = plan->method->write && plan->cache != IO_FIT,
	};
	err = io_transfer_warm_up(plan->method);
	if (!err)
		err = io_transfer_open(&passing->transfer, plan->method, plan->files, plan->nr,
				       &signals_caught);
	passing->transfer.word = plan->word;
	return err ? io_pass_report(passing, "prepare", err) : STATUS_OK;
}

static int io_pass_make(struct passing *passing)
{
	return io_pass_open_transfer(passing)		?:
		       io_pass_check_before(passing)	?:
		       io_pass_transfer_or_bus(passing) ?:
							  io_pass_check_after(passing);
}

int io_pass_bare(const struct io_pass_plan *plan, struct io_pass *pass)
{
	struct passing passing = { .plan = plan, .pass = pass, .measurement = MEASUREMENT_NONE };
	int status = io_pass_make(&passing);

	io_transfer_close(&passing.transfer);
	return status;
}

/* Methods without a mapping have nothing to hook, but something must be a target. */
static int io_pass_open_measurement(struct passing *passing, struct result *result)
{
	const struct io_pass_plan *plan = passing->plan;
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
		.hooks_nothing = !plan->method->map,
		.keeps_privileges = true,
		.exact = true,
	};
	int err = measurement_open(measurement, &options, result);

	if (!err && !plan->method->map)
		err = measurement_hook_nothing(measurement);
	return measurement_status(measurement, err);
}

static int io_pass_finish(struct passing *passing, struct result *result)
{
	measurement_stop(&passing->measurement);
	result->counters.hooked_only = passing->plan->method->map;
	result->counters.usage = passing->pass->usage;
	return measurement_finish(&passing->measurement);
}

int io_pass_watched(const struct io_pass_plan *plan, struct io_pass *pass, struct result *result)
{
	struct passing passing = {
		.plan = plan,
		.pass = pass,
		.measurement = MEASUREMENT_NONE,
		.tid = gettid(),
	};
	int status;

	result_init(result);
	status = io_pass_open_measurement(&passing, result) ?:
			 io_pass_make(&passing)		    ?:
							      io_pass_finish(&passing, result);
	measurement_close(&passing.measurement);
	io_transfer_close(&passing.transfer);
	return status;
}
