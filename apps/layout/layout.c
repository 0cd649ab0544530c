// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording has one first touch for each page, so of a page it knows only which function was used
 * first. The others on the page may be used later without a fault. So all functions that overlap a
 * touched page are ordered: first the touched one, then the others by address. No used function is
 * left behind, and the untouched pages no longer lie between the touched ones.
 *
 *	touched pages, in time	 3	     1		 7
 *	.text, relinked		|c a b e|d   |f g  |k|... all the rest
 *
 * The prediction passes the recorded accesses to the relinked file through the model, twice: only
 * the touched bytes are used, or all other bytes of the touched pages are used later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "util/array.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"

#define THREADS_LEAST  (128U << 10) /* as in what-if */
#define DEFAULT_AROUND (64U << 10)

/* What is needed while the order is made. */
struct layout_work {
	struct layout *layout;
	struct hash by_name;	/* 1 + the index of the first function with the name */
	size_t *next_namesake;	/* 1 + the index of the next one, 0: none */
	struct hash pages_seen; /* of .text */
	uint64_t *longest;	/* the last end among the functions up to this one */
	uint64_t end;		/* of the ordered functions in the relinked file */
	size_t room;
};

static uint64_t function_end(const struct elf_function *function)
{
	return function->offset + function->bytes;
}

static int index_functions(struct layout_work *work)
{
	const struct elf_functions *elf = &work->layout->elf;
	uint64_t key;
	size_t i;

	work->next_namesake = calloc(elf->nr, sizeof(*work->next_namesake));
	work->longest = calloc(elf->nr, sizeof(*work->longest));
	if (!work->next_namesake || !work->longest)
		return -ENOMEM;
	for (i = 0; i < elf->nr; i++) {
		work->longest[i] = function_end(&elf->functions[i]);
		if (i && work->longest[i - 1] > work->longest[i])
			work->longest[i] = work->longest[i - 1];
	}
	for (i = elf->nr; i--;) {
		key = hash_of(elf->functions[i].name, strlen(elf->functions[i].name));
		work->next_namesake[i] = (uintptr_t)hash_take(&work->by_name, key);
		if (hash_add(&work->by_name, key, (void *)(uintptr_t)(i + 1)))
			return -ENOMEM;
	}
	return 0;
}

/* Index of the first function that ends behind the offset. */
static size_t first_function(const struct layout_work *work, uint64_t offset)
{
	size_t from = 0, to = work->layout->elf.nr, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (work->longest[middle] <= offset)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Returns NULL if no function has the byte. */
static const struct elf_function *function_at(const struct layout_work *work, uint64_t offset)
{
	const struct elf_functions *elf = &work->layout->elf;
	size_t i;

	for (i = first_function(work, offset); i < elf->nr && elf->functions[i].offset <= offset;
	     i++)
		if (offset < function_end(&elf->functions[i]))
			return &elf->functions[i];
	return NULL;
}

static void place_function(struct layout_work *work, struct elf_function *function)
{
	const struct elf_functions *elf = &work->layout->elf;
	const struct elf_function *before = function - 1;
	uint64_t alignment = function->offset & -function->offset;

	if (function->place != UINT64_MAX)
		return;
	work->layout->nr_ordered++;
	/* Another name for code that is placed. */
	if (function > elf->functions && before->place != UINT64_MAX &&
	    function_end(before) >= function_end(function)) {
		function->place = before->place + (function->offset - before->offset);
		return;
	}
	if (alignment > elf->alignment)
		alignment = elf->alignment;
	function->place = (work->end + alignment - 1) & -alignment;
	work->end = function->place + function->bytes;
}

/* A linker places all functions with the name there. */
static int order_function(struct layout_work *work, const struct elf_function *function)
{
	struct layout *layout = work->layout;
	struct elf_function *functions = layout->elf.functions;
	size_t number;

	if (function->place != UINT64_MAX)
		return 0;
	if (array_reserve((void **)&layout->names, layout->nr_names, &work->room,
			  sizeof(*layout->names)))
		return -ENOMEM;
	layout->names[layout->nr_names++] = function->name;
	number = (uintptr_t)hash_find(&work->by_name,
				      hash_of(function->name, strlen(function->name)));
	for (; number; number = work->next_namesake[number - 1])
		place_function(work, &functions[number - 1]);
	return 0;
}

static bool is_code(const struct layout *layout, const struct touch *touch)
{
	const struct touched_mapping *mapping = &layout->touches.mappings[touch->access.mapping];

	return &layout->touches.files[mapping->file] == layout->file && mapping->mapping.code &&
	       touch->offset - layout->elf.text < layout->elf.text_bytes;
}

static int order_page(struct layout_work *work, const struct touch *touch)
{
	const uint64_t page = touch->access.page * page_size(), end = page + page_size();
	const struct elf_functions *elf = &work->layout->elf;
	const struct elf_function *first = function_at(work, touch->offset);
	size_t i;
	int err;

	if (hash_find(&work->pages_seen, touch->access.page))
		return 0;
	err = hash_add(&work->pages_seen, touch->access.page, work);
	work->layout->code_pages++;
	if (first)
		err = err ?: order_function(work, first);
	else
		work->layout->unnamed_pages++;
	for (i = first_function(work, page); i < elf->nr && elf->functions[i].offset < end && !err;
	     i++)
		if (function_end(&elf->functions[i]) > page)
			err = order_function(work, &elf->functions[i]);
	return err;
}

static int order_touches(struct layout_work *work)
{
	const struct recorded_touches *touches = &work->layout->touches;
	int err = index_functions(work);
	size_t i;

	work->end = work->layout->elf.text;
	for (i = 0; i < touches->nr_touches && !err; i++)
		if (is_code(work->layout, &touches->touches[i]))
			err = order_page(work, &touches->touches[i]);
	work->layout->ordered_bytes = work->end - work->layout->elf.text;
	return err;
}

/* The relinked file's accesses. */

struct access_array {
	struct access *accesses;
	size_t nr, room;
};

static int add_relinked_page(struct access_array *array, const struct access *access, uint64_t page)
{
	if (array_reserve((void **)&array->accesses, array->nr, &array->room,
			  sizeof(*array->accesses)))
		return -ENOMEM;
	array->accesses[array->nr] = *access;
	array->accesses[array->nr++].page = page;
	return 0;
}

/* The pages of the function's bytes that were on the touched page. */
static int add_relinked_function(struct access_array *array, const struct access *access,
				 const struct elf_function *function)
{
	const uint64_t page = access->page * page_size(), end = page + page_size();
	const uint64_t from = function->offset > page ? function->offset : page;
	const uint64_t to = function_end(function) < end ? function_end(function) : end;
	const uint64_t last = (function->place + (to - 1 - function->offset)) / page_size();
	uint64_t at = (function->place + (from - function->offset)) / page_size();
	int err = 0;

	for (; at <= last && !err; at++)
		err = add_relinked_page(array, access, at);
	return err;
}

/* The page with the touched byte. */
static int add_touched(const struct layout_work *work, struct access_array *array,
		       const struct touch *touch)
{
	const struct elf_function *first =
		is_code(work->layout, touch) ? function_at(work, touch->offset) : NULL;

	return add_relinked_page(array, &touch->access,
				 first ? (first->place + (touch->offset - first->offset)) /
						 page_size() :
					 touch->access.page);
}

/* The pages with all bytes of the touched page. */
static int add_rest(const struct layout_work *work, struct access_array *array,
		    const struct touch *touch)
{
	const uint64_t page = touch->access.page * page_size();
	const struct elf_functions *elf = &work->layout->elf;
	size_t i;
	int err = 0;

	if (!is_code(work->layout, touch))
		return 0;
	for (i = first_function(work, page);
	     i < elf->nr && elf->functions[i].offset < page + page_size() && !err; i++)
		if (function_end(&elf->functions[i]) > page)
			err = add_relinked_function(array, &touch->access, &elf->functions[i]);
	return err;
}

static int relinked_accesses(const struct layout_work *work, struct access_array *array,
			     int (*add)(const struct layout_work *work, struct access_array *array,
					const struct touch *touch))
{
	const struct recorded_touches *touches = &work->layout->touches;
	const struct touch *touch;
	int err = 0;
	size_t i;

	for (i = 0; i < touches->nr_touches && !err; i++) {
		touch = &touches->touches[i];
		if (!touches->files[touches->mappings[touch->access.mapping].file].left_out)
			err = add(work, array, touch);
	}
	return err;
}

static const char *reason_of_prediction(const struct layout *layout)
{
	const struct touched_file *file = layout->file;
	const bool recorded = layout->options.readahead == UINT64_MAX;
	const uint64_t bytes = recorded ? (uint64_t)file->readahead_bytes :
					  layout->options.readahead;

	if (recorded_touches_unpredictable(&layout->touches))
		return recorded_touches_unpredictable(&layout->touches);
	if (!touched_file_is_validated(file))
		return "the rule was compared with the kernel on ext4 only";
	if (recorded && file->readahead_bytes < 0)
		return "the recording does not have the read-ahead setting; give --read-ahead";
	if (file->by_threads && bytes < THREADS_LEAST)
		return "threads touched one mapping, and their order decides with less read-ahead "
		       "than 128K";
	if (file->read_again > 2 && 100 * file->read_again > file->major)
		return "pages were evicted and read again, and the model evicts none";
	return file->shaped;
}

static int predict_layouts(const struct layout_work *work, const struct touch_list *made)
{
	struct layout *layout = work->layout;
	const struct prediction_settings settings = {
		.window = layout->options.readahead == UINT64_MAX ?
				  PREDICTION_RECORDED :
				  layout->options.readahead / page_size(),
		.around = (layout->touches.environment.fault_around_bytes ?: DEFAULT_AROUND) /
			  page_size(),
		.advice = MAPPING_MIXED,
	};
	struct access_array array = { 0 };
	struct access_list relinked = made->list;
	int err = fault_prediction_make(&layout->present, &made->list, &settings) ?:
			  relinked_accesses(work, &array, add_touched);

	relinked.accesses = array.accesses;
	relinked.nr_accesses = array.nr;
	err = err								   ?:
		      fault_prediction_make(&layout->fewest, &relinked, &settings) ?:
		      relinked_accesses(work, &array, add_rest);
	relinked.accesses = array.accesses;
	relinked.nr_accesses = array.nr;
	err = err ?: fault_prediction_make(&layout->most, &relinked, &settings);
	free(array.accesses);
	return err;
}

static int layout_predict(const struct layout_work *work)
{
	struct layout *layout = work->layout;
	struct touch_list made;
	size_t i;
	int err;

	layout->cannot = reason_of_prediction(layout);
	if (layout->cannot)
		return 0;
	for (i = 0; i < layout->touches.nr_files; i++)
		if (&layout->touches.files[i] != layout->file)
			layout->touches.files[i].left_out = "it is another file";
	err = touch_list_make(&made, &layout->touches);
	err = err ?: predict_layouts(work, &made);
	touch_list_free(&made);
	return err;
}

/* The file. */

static bool is_chosen_file(const struct layout *layout, const char *path)
{
	const char *command = layout->touches.environment.command;
	const size_t word = strcspn(command, " ");
	const char *slash = memrchr(command, '/', word), *base = strrchr(path, '/') + 1;
	const char *name = slash ? slash + 1 : command;
	const size_t length = command + word - name;

	if (layout->options.file)
		return !strcmp(path, layout->options.file);
	return length && !strncmp(base, name, length) && !base[length];
}

static int choose_file(struct layout *layout)
{
	struct touched_file *file;
	size_t i;

	for (i = 0; i < layout->touches.nr_files && !layout->file; i++) {
		file = &layout->touches.files[i];
		if (file->executed && file->faults && is_chosen_file(layout, file->path))
			layout->file = file;
	}
	if (layout->file)
		return STATUS_OK;
	if (layout->options.file)
		return message(STATUS_FAILED,
			       "no first touch of code in %s was recorded; see "
			       "'pfdrive report --by file'",
			       layout->options.file);
	return message(STATUS_FAILED, "cannot find the file of the program; give --file PATH");
}

static bool has_each_touch(const struct recorded_touches *touches)
{
	const struct environment *e = &touches->environment;

	return touches->exact || (e->fault_around && e->fault_around_bytes == page_size());
}

static int layout_work_run(struct layout_work *work)
{
	int err = order_touches(work);

	if (!err)
		err = layout_predict(work);
	hash_exit(&work->by_name, NULL);
	hash_exit(&work->pages_seen, NULL);
	free(work->next_namesake);
	free(work->longest);
	return err ? message(STATUS_FAILED, "out of memory") : STATUS_OK;
}

int layout_make(struct layout *layout)
{
	struct layout_work work = { .layout = layout };
	struct why why = { 0 };
	int status;

	if (recorded_touches_read(&layout->touches, layout->options.recording, &why))
		return signals_caught ? 128 + signals_caught :
					message(STATUS_FAILED, "%s", why.text);
	if (!has_each_touch(&layout->touches))
		return message(STATUS_FAILED,
			       "%s lacks the touches that fault-around hid; record with --exact",
			       layout->options.recording);
	status = choose_file(layout);
	if (status)
		return status;
	if (elf_functions_read(&layout->elf, layout->file->path, layout->file->inode, &why))
		return message(STATUS_FAILED, "cannot use %s: %s", layout->file->path, why.text);
	status = layout_work_run(&work);
	if (!status && !layout->nr_names)
		status = message(STATUS_FAILED, "no touched page of %s has a function",
				 layout->file->path);
	return status;
}

void layout_exit(struct layout *layout)
{
	free(layout->names);
	elf_functions_exit(&layout->elf);
	recorded_touches_exit(&layout->touches);
}
