// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds a command before the exec, makes it and its children an eBPF target, runs it, and writes
 * each event as a JSON object on a separate line. The last object has the counts.
 *
 *	events_dump [OPTION…] OUTPUT COMMAND…
 *	-p	the page cache, -s: stacks, -c: calls of file operations, -o: not its children
 *	-W N	the module's ->fault
 *	-w N	without the hooks of the mask N
 *	-r N	bytes of the ring
 *	-n	read nothing until the command has exited
 *	-i N	read every N ms, not every 20
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/collect/events.h"
#include "user/collect/bpf_pins.h"
#include "user/run/watch.h"

#define READ_MS	    20	/* interval between reads */
#define EMPTY_TRIES 100 /* at 20 ms: processes are freed some time after their exit */

struct plan {
	struct events_options events;
	enum pfstat_target how;
	uint64_t wrapper;
	int read_ms;
};

static FILE *out;

static void print_head(const struct pfstat_event *event)
{
	static const char *const types[] = PFSTAT_EVENT_NAMES;

	fprintf(out, "{\"type\": \"%s\", \"flags\": %u, \"pid\": %u, \"tid\": %u, \"ns\": %llu",
		types[event->type], event->flags, event->pid, event->tid, event->ns);
}

static void print_off_cpu(const struct pfstat_off_cpu *stay)
{
	print_head(&stay->event);
	fprintf(out,
		", \"off_ns\": %llu, \"woken_ns\": %llu, \"state\": %u, \"waker\": %u, "
		"\"total_ns\": %llu}\n",
		stay->off_ns, stay->woken_ns, stay->state, stay->waker, stay->total_ns);
}

static void print_block(const struct pfstat_block *block)
{
	print_head(&block->event);
	fprintf(out,
		", \"insert_ns\": %llu, \"issue_ns\": %llu, \"sector\": %llu, "
		"\"inode\": %llu, \"pgoff\": %llu, \"dev\": %u, \"fs_dev\": %u, \"bytes\": %u, "
		"\"file_bytes\": %u}\n",
		block->insert_ns, block->issue_ns, block->sector, block->inode, block->pgoff,
		block->dev, block->fs_dev, block->bytes, block->file_bytes);
}

static void print_stack(const struct pfstat_stack *stack)
{
	unsigned int i;

	print_head(&stack->event);
	fprintf(out, ", \"address\": %llu, \"ips\": [", stack->address);
	for (i = 0; i < stack->frames; i++)
		fprintf(out, "%s%llu", i ? ", " : "", stack->ips[i]);
	fprintf(out, "]}\n");
}

static void print_fault(const struct pfstat_fault *fault)
{
	static const char *const kinds[] = PFSTAT_FAULT_KIND_NAMES;

	print_head(&fault->event);
	fprintf(out,
		", \"kind\": \"%s\", \"start_ns\": %llu, \"address\": %llu, \"ip\": %llu, "
		"\"pgoff\": %llu, \"inode\": %llu, \"dev\": %u, \"fault_flags\": %u, "
		"\"result\": %u, \"origin\": %u, \"outcome\": %u}\n",
		kinds[PFSTAT_FAULT_KIND(fault->event.flags)], fault->start_ns, fault->address,
		fault->ip, fault->pgoff, fault->inode, fault->dev, fault->fault_flags,
		fault->result, fault->origin, fault->outcome);
}

static void print_page(const struct pfstat_page *page)
{
	print_head(&page->event);
	fprintf(out,
		", \"inode\": %llu, \"pgoff\": %llu, \"dev\": %u, \"pages\": %u, "
		"\"comm\": \"%s\"}\n",
		page->inode, page->pgoff, page->dev, page->pages, page->comm);
}

static void print_task(const struct pfstat_task *task)
{
	print_head(&task->event);
	fprintf(out, ", \"parent\": %u, \"comm\": \"%s\"}\n", task->parent, task->comm);
}

static void print_advice(const struct pfstat_advice *advice)
{
	print_head(&advice->event);
	fprintf(out,
		", \"start_ns\": %llu, \"address\": %llu, \"bytes\": %llu, "
		"\"advice\": %u}\n",
		advice->start_ns, advice->address, advice->bytes, advice->advice);
}

static void print_reclaim(const struct pfstat_reclaim *reclaim)
{
	print_head(&reclaim->event);
	fprintf(out, ", \"start_ns\": %llu, \"pages\": %llu}\n", reclaim->start_ns, reclaim->pages);
}

static void print_wait(const struct pfstat_wait *wait)
{
	print_head(&wait->event);
	fprintf(out, ", \"named\": %u, \"functions\": \"%s\"}\n", wait->event.flags,
		wait->functions);
}

static void print_mapping(const struct pfstat_mapping *mapping)
{
	print_head(&mapping->event);
	fprintf(out,
		", \"address\": %llu, \"bytes\": %llu, \"advice\": %u, \"ra_pages\": %u, "
		"\"mmap_miss\": %u}\n",
		mapping->address, mapping->bytes, mapping->advice, mapping->ra_pages,
		mapping->mmap_miss);
}

static void print_call(const struct pfstat_call *call)
{
	print_head(&call->event);
	fprintf(out, ", \"kind\": %u, \"result\": %lld, \"caller\": %llu}\n", call->kind,
		call->result, call->caller);
}

static void print_userfault(const struct pfstat_userfault *userfault)
{
	print_head(&userfault->event);
	fprintf(out, ", \"address\": %llu, \"target\": %u, \"comm\": \"%s\"}\n", userfault->address,
		userfault->target, userfault->comm);
}

static void print_cpu_task(const struct pfstat_cpu_task *task)
{
	print_head(&task->event);
	fprintf(out,
		", \"off_ns\": %llu, \"ran_ns\": %llu, \"task_pid\": %u, \"task_tid\": %u, "
		"\"comm\": \"%s\"}\n",
		task->off_ns, task->ran_ns, task->task_pid, task->task_tid, task->comm);
}

static void print_fork(const struct pfstat_fork *fork)
{
	print_head(&fork->event);
	fprintf(out, ", \"child\": %u, \"known\": %u, \"pages\": %llu, \"table_bytes\": %llu}\n",
		fork->child, fork->event.flags, fork->pages, fork->table_bytes);
}

/* No program sends it. */
static void print_off_cpu_1(const struct pfstat_off_cpu_1 *interval)
{
	(void)interval;
}

#define PRINT_EVENT(name, spelling)                                         \
	event->type == PFSTAT_EVENT_##name ?                                \
		print_##spelling((const struct pfstat_##spelling *)event) : \
		(void)0;

static int print_event(void *context, const struct pfstat_event *event)
{
	(void)context;
	PFSTAT_EVENTS(PRINT_EVENT)
	return ferror(out) ? -EIO : 0;
}

static void print_faults(const struct run_counters *counters)
{
	static const char *const kinds[] = PFSTAT_FAULT_KIND_NAMES;
	const struct pfstat_fault_value *value;
	unsigned int kind, origin, outcome;
	const char *comma = "";

	fprintf(out, ", \"faults\": [");
	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		for (origin = 0; origin < PFSTAT_NR_ORIGINS; origin++) {
			for (outcome = 0; outcome < PFSTAT_NR_OUTCOMES; outcome++) {
				value = &counters->faults[PFSTAT_FAULT_INDEX(kind, origin,
									     outcome)];
				if (!value->count)
					continue;
				fprintf(out, "%s[\"%s\", %u, %u, %" PRIu64 ", %" PRIu64 "]", comma,
					kinds[kind], origin, outcome, (uint64_t)value->count,
					(uint64_t)value->total_ns);
				comma = ", ";
			}
		}
	}
	fprintf(out, "]");
}

static unsigned int map_entries(const char *name)
{
	char path[128], key[64], *before = NULL;
	unsigned int entries = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", PFSTAT_PIN_DIR, name);
	fd = bpf_obj_get(path);
	while (fd >= 0 && !bpf_map_get_next_key(fd, before, key)) {
		before = key;
		entries++;
	}
	if (fd >= 0)
		close(fd);
	return entries;
}

/* Number of used slots. The map in_fault is an array. */
static unsigned int places_taken(void)
{
	int fd = bpf_obj_get(PFSTAT_PIN_DIR "/in_fault");
	__u32 key = 0, taken = 0, value[32];

	while (fd >= 0 && !bpf_map_lookup_elem(fd, &key, value)) {
		taken += value[0] != 0; /* the tid */
		key++;
	}
	if (fd >= 0)
		close(fd);
	return taken;
}

/* Entries left in the maps for following threads and requests. */
static void print_left(void)
{
	static const char *const maps[] = {
		"targets", "off_since", "in_syscall", "in_fault_more", "requests",
	};
	size_t i;

	fprintf(out, ", \"left\": {");
	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		fprintf(out, "\"%s\": %u, ", maps[i], map_entries(maps[i]));
	fprintf(out, "\"in_fault\": %u}", places_taken());
}

static void print_misses_of(const char *name, const char **comma)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", PFSTAT_PIN_DIR, name);
	fd = bpf_obj_get(path);
	/* A map has another info structure, without this field. */
	if (fd >= 0 && !strncmp(name, "on_", 3) && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
	    info.recursion_misses) {
		fprintf(out, "%s\"%s\": %llu", *comma, name, info.recursion_misses);
		*comma = ", ";
	}
	if (fd >= 0)
		close(fd);
}

/* How often the kernel skipped each program. All programs are pinned. */
static void print_misses(void)
{
	DIR *dir = opendir(PFSTAT_PIN_DIR);
	const char *comma = "";
	struct dirent *entry;

	fprintf(out, ", \"misses\": {");
	while (dir && (entry = readdir(dir)))
		print_misses_of(entry->d_name, &comma);
	if (dir)
		closedir(dir);
	fprintf(out, "}");
}

static void wait_until_empty(const char *map)
{
	int tries;

	for (tries = 0; tries < EMPTY_TRIES && map_entries(map); tries++)
		usleep(READ_MS * 1000);
}

static void print_counters(struct events *events, const struct run_counters *counters, int status)
{
	size_t i;

	fprintf(out,
		"{\"type\": \"counters\", \"status\": %d, \"hooks\": %u, \"received\": %" PRIu64
		", \"skipped\": %" PRIu64 ", \"counts\": [",
		status, counters->hooks, events_received(events), counters->events_skipped);
	for (i = 0; i < PFSTAT_NR_COUNTS; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", counters->counts[i]);
	fprintf(out, "]");
	print_faults(counters);
	fprintf(out, ", \"tasks\": [%" PRIu64 ", %" PRIu64 "]", counters->task_minor,
		counters->task_major);
	fprintf(out, ", \"syscalls\": [");
	for (i = 0; i < counters->nr_syscalls; i++)
		fprintf(out, "%s[%u, %u, %" PRIu64 "]", i ? ", " : "", counters->syscalls[i].number,
			counters->syscalls[i].error, (uint64_t)counters->syscalls[i].value.count);
	fprintf(out, "]");
	print_left();
	print_misses();
	fprintf(out, "}\n");
}

/* status: the command's status, as from waitpid(2) */
static int finish(struct events *events, int status)
{
	struct run_counters counters = { 0 };
	int err;

	/* Before the programs are detached, which empties the maps. */
	wait_until_empty("targets");
	wait_until_empty("requests");
	events_stop(events);
	err = events_drain(events, print_event, NULL);
	if (!err)
		err = events_counters(events, &counters);
	if (!err)
		print_counters(events, &counters, status);
	free(counters.syscalls);
	return err;
}

static int watch(struct events *events, struct child *command, const struct plan *plan, int *status)
{
	struct pollfd ended = { .fd = pidfd_open(command->pid, 0), .events = POLLIN };
	int err;

	if (ended.fd < 0)
		return -errno;
	events_set_wrapper(events, plan->wrapper);
	err = events_watch(events, command->pid, plan->how);
	if (!err)
		err = child_go(command);
	while (!err && !poll(&ended, 1, plan->read_ms))
		err = events_drain(events, print_event, NULL);
	close(ended.fd);
	waitpid(command->pid, status, 0);
	return err;
}

static int dump(const struct plan *plan, char *const *argv)
{
	struct child command = CHILD_NONE;
	struct events *events;
	struct why why;
	int err, status = 0;

	err = events_open(&events, &plan->events, &why);
	if (err) {
		fprintf(stderr, "events_dump: %s\n", why.text);
		return err;
	}
	err = events_attach(events, &why);
	if (err) {
		fprintf(stderr, "events_dump: %s\n", why.text);
		events_close(events);
		return err;
	}
	err = child_hold(&command, argv, NULL);
	if (!err)
		err = watch(events, &command, plan, &status);
	if (!err)
		err = finish(events, status);
	if (err)
		fprintf(stderr, "events_dump: %s\n", strerror(-err));
	child_close(&command);
	events_close(events);
	return err;
}

int main(int argc, char **argv)
{
	struct plan plan = { .how = PFSTAT_TARGET_FOLLOW, .read_ms = READ_MS };
	int option, err;

	/* This program is also the helper that removes the pins: helper unpin INODE. */
	if (argc == 4 && !strcmp(argv[1], "helper"))
		return bpf_pins_keep(strtoull(argv[3], NULL, 10)) ? EXIT_FAILURE : EXIT_SUCCESS;
	while ((option = getopt(argc, argv, "+pscoW:w:r:ni:")) > 0) {
		switch (option) {
		case 'p':
			plan.events.pages = true;
			break;
		case 's':
			plan.events.stacks = true;
			break;
		case 'c':
			plan.events.records = true;
			break;
		case 'o':
			plan.how = PFSTAT_TARGET_PROCESS;
			break;
		case 'W':
			plan.wrapper = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			plan.events.without = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			plan.events.ring_bytes = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			plan.read_ms = -1;
			break;
		case 'i':
			plan.read_ms = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 2)
		return 2;
	out = fopen(argv[optind], "w");
	if (!out)
		return 1;
	err = dump(&plan, argv + optind + 1);
	return fclose(out) || err;
}
