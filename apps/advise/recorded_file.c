// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a recording twice. The first pass finds the file with the longest fault time. The second
 * reads this file's faults, mappings and advice in order, to make a replay.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "advise/replay.h"
#include "analyze/analysis.h"
#include "recording/counters_json.h"
#include "recording/reader.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

static void recorded_file_take_losses(struct recorded_file *file, const json_t *tail)
{
	struct run_counters counters;

	file->lost = COUNT_NA;
	file->events_lost = COUNT_NA;
	if (counters_json_parse(&counters, tail))
		return;
	file->lost = counters.lost;
	file->events_lost = count_sum(run_counters_events_lost(&counters),
				      counters.counts[PFSTAT_COUNT_SYSCALL_LOST]);
	file->have_advice = counters.have_bpf && counters.have_advice;
	file->hooks = counters.have_bpf ? counters.hooks : 0;
	run_counters_exit(&counters);
}

/* Feeds all recorded items to the analysis. Damage in the recording is reported once. */
static int recorded_file_read_items(const char *recording, struct analysis *analysis,
				    struct recorded_file *file, item_sink sink, void *context,
				    bool first)
{
	struct recording_reader *reader;
	struct why why;
	int err;

	err = recording_open(&reader, recording, &why);
	if (err && !signals_caught)
		return message(STATUS_FAILED, "%s", why.text);
	if (err)
		return 128 + signals_caught;
	if (recording_require_pages(reader, &why)) {
		recording_close(reader);
		return message(STATUS_FAILED, "%s", why.text);
	}
	analysis_expect_spans(analysis, recording_has_spans(reader));
	err = recording_feed(reader, sink, context, &signals_caught);
	if (!err)
		err = analysis_finish(analysis);
	if (first && recording_damage(reader))
		message(STATUS_OK, "%s", recording_damage(reader));
	recorded_file_take_losses(file, recording_tail(reader));
	recording_close(reader);
	if (signals_caught)
		return 128 + signals_caught;
	return err ? message(STATUS_FAILED, "cannot read %s: %s", recording, strerror(-err)) :
		     STATUS_OK;
}

static bool recorded_file_is_wanted(const struct group *group, const char *path)
{
	if (!group->inode || group->name[0] != '/')
		return false;
	return !path || !strcmp(group->name, path);
}

static int recorded_file_take_name(struct recorded_file *file, const struct group *group)
{
	file->dev = group->dev;
	file->inode = group->inode;
	if (snprintf(file->path, sizeof(file->path), "%s", group->name) < (int)sizeof(file->path))
		return STATUS_OK;
	return message(STATUS_FAILED,
		       "the recorded file's path is too long to be opened: %zu "
		       "bytes",
		       strlen(group->name));
}

static int recorded_file_report_none(const char *path, bool all_kept)
{
	if (!path)
		return message(STATUS_FAILED, "no file fault was recorded");
	if (all_kept)
		return message(STATUS_FAILED,
			       "no fault on %s was recorded; see 'pfdrive report --by file'", path);
	return message(STATUS_FAILED,
		       "cannot select %s: a report distinguishes only %d files, not this one; "
		       "see 'pfdrive report --by file'",
		       path, GROUPS_MAX);
}

static int recorded_file_choose(struct recorded_file *file, const struct analysis *analysis,
				const char *path)
{
	bool all_kept = true;
	struct group *groups;
	size_t nr, i, nr_wanted = 0;
	int status = STATUS_OK;

	if (analysis_groups(analysis, GROUP_BY_FILE, &groups, &nr))
		return message(STATUS_FAILED, "out of memory");
	for (i = 0; i < nr && !status; i++) {
		all_kept &= !group_is_others(&groups[i]);
		if (!recorded_file_is_wanted(&groups[i], path) || nr_wanted++)
			continue;
		status = recorded_file_take_name(file, &groups[i]);
	}
	free(groups);
	if (status)
		return status;
	if (!nr_wanted)
		return recorded_file_report_none(path, all_kept);
	if (path && nr_wanted > 1)
		message(STATUS_OK,
			"%zu files had the name %s; the one whose faults took longest "
			"is replayed",
			nr_wanted, path);
	return STATUS_OK;
}

static int recorded_file_take_fault(void *context, const struct explained *fault)
{
	struct recorded_file *file = context;

	if (fault->inode != file->inode || fault->dev != file->dev)
		return 0;
	file->classes[fault->class].count++;
	file->classes[fault->class].total_ns += fault->end_ns - fault->start_ns;
	if (!file->replay.count || fault->start_ns < file->first_ns)
		file->first_ns = fault->start_ns;
	if (fault->end_ns > file->last_ns)
		file->last_ns = fault->end_ns;
	return replay_add(&file->replay, fault->pgoff, fault->start_ns, fault->end_ns);
}

/* Mappings and records may have different devices for the same file (btrfs). */
static bool recorded_file_is_the_file(const struct recorded_file *file, uint64_t inode,
				      const char *path)
{
	return inode == file->inode && !strcmp(path, file->path);
}

static int recorded_file_take_advice(void *context, const struct file_advice *advice)
{
	struct recorded_file *file = context;

	if (!recorded_file_is_the_file(file, advice->inode, advice->path))
		return 0;
	return replay_advise(&file->replay, &(struct replay_advice){
						    .page = advice->page,
						    .pages = advice->pages,
						    .start_ns = advice->start_ns,
						    .end_ns = advice->end_ns,
						    .advice = advice->advice,
					    });
}

/* Advice given about a mapping before the recording began. */
static int recorded_file_take_map(struct recorded_file *file, const struct item_map *map)
{
	if (map->ns || !recorded_file_is_the_file(file, map->inode, map->path))
		return 0;
	file->no_advice += map->flags & ITEM_MAP_NO_ADVICE ? 1 : 0;
	if (!(map->flags & (ITEM_MAP_RANDOM | ITEM_MAP_SEQUENTIAL)))
		return 0;
	return replay_advise(&file->replay,
			     &(struct replay_advice){
				     .page = map->pgoff,
				     .pages = page_size_count(map->bytes),
				     .advice = map->flags & ITEM_MAP_RANDOM ? MADV_RANDOM :
									      MADV_SEQUENTIAL,
			     });
}

struct collecting {
	struct recorded_file *file;
	struct analysis *analysis;
};

static int recorded_file_take_item(void *context, const struct item *item)
{
	const struct collecting *collecting = context;
	int err = analysis_add(collecting->analysis, item);

	return err || item->type != ITEM_MAP ? err :
					       recorded_file_take_map(collecting->file, item->map);
}

static int recorded_file_collect(struct recorded_file *file, const char *recording)
{
	struct analysis *analysis = analysis_new(true, page_size(), 0);
	struct collecting collecting = { file, analysis };
	int status;

	if (!analysis)
		return message(STATUS_FAILED, "out of memory");
	analysis_listen(analysis, recorded_file_take_fault, file);
	analysis_listen_advice(analysis, recorded_file_take_advice, file);
	status = recorded_file_read_items(recording, analysis, file, recorded_file_take_item,
					  &collecting, false);
	analysis_free(analysis);
	/* The recording was read twice: this name may refer to another file the second time. */
	if (!status && !file->replay.count)
		status = message(STATUS_FAILED,
				 "%s has no fault on %s any more: another process changed it",
				 recording, file->path);
	replay_order(&file->replay);
	return status;
}

int recorded_file_read(struct recorded_file *file, const char *recording, const char *path)
{
	struct analysis *analysis = analysis_new(true, page_size(), 1U << GROUP_BY_FILE);
	int status;

	*file = (struct recorded_file){ 0 };
	if (!analysis)
		return message(STATUS_FAILED, "out of memory");
	status = recorded_file_read_items(recording, analysis, file, analysis_add, analysis, true);
	if (!status)
		status = recorded_file_choose(file, analysis, path);
	analysis_free(analysis);
	return status ? status : recorded_file_collect(file, recording);
}

void recorded_file_exit(struct recorded_file *file)
{
	replay_exit(&file->replay);
}
