// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/btf.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/kernel_types.h"
#include "user/util/array.h"

/* The number of each type in kernel_btf(). The types are added in this order. */
enum {
	INT = 1,
	LIST,
	LIST_POINTER,
	ARRAY,
	TASK_UNION,
	TASK,
	PAGE,
	STATE,
	PROTO,
	FAULT,
	WORD,
	SWITCH_PROTO,
	SWITCH_POINTER,
	SWITCH,
};

/*
 * struct list { struct list *next; };
 * struct task { int pid; union { int flags; }; struct list tasks; int comm[4]; };
 */
static struct btf *kernel_btf(void)
{
	struct btf *btf = btf__new_empty();

	ck_assert_int_eq(btf__add_int(btf, "int", 4, BTF_INT_SIGNED), INT);
	ck_assert_int_eq(btf__add_struct(btf, "list", 8), LIST);
	btf__add_field(btf, "next", LIST_POINTER, 0, 0);
	ck_assert_int_eq(btf__add_ptr(btf, LIST), LIST_POINTER);
	ck_assert_int_eq(btf__add_array(btf, INT, WORD, 4), ARRAY);
	ck_assert_int_eq(btf__add_union(btf, NULL, 4), TASK_UNION);
	btf__add_field(btf, "flags", INT, 0, 0);
	ck_assert_int_eq(btf__add_struct(btf, "task", 40), TASK);
	btf__add_field(btf, "pid", INT, 0, 0);
	btf__add_field(btf, NULL, TASK_UNION, 32, 0);
	btf__add_field(btf, "tasks", LIST, 64, 0);
	btf__add_field(btf, "comm", ARRAY, 128, 0);
	ck_assert_int_eq(btf__add_struct(btf, "page", 64), PAGE);
	btf__add_field(btf, "flags", INT, 0, 0);
	ck_assert_int_eq(btf__add_enum(btf, "state", 4), STATE);
	btf__add_enum_value(btf, "RUNNING", 0);
	btf__add_enum_value(btf, "SLEEPING", 7);
	ck_assert_int_eq(btf__add_func_proto(btf, INT), PROTO);
	ck_assert_int_eq(btf__add_func(btf, "handle_fault", BTF_FUNC_GLOBAL, PROTO), FAULT);
	ck_assert_int_eq(btf__add_typedef(btf, "word", INT), WORD);
	ck_assert_int_eq(btf__add_func_proto(btf, 0), SWITCH_PROTO);
	btf__add_func_param(btf, "data", LIST_POINTER);
	btf__add_func_param(btf, "previous", LIST_POINTER);
	ck_assert_int_eq(btf__add_ptr(btf, SWITCH_PROTO), SWITCH_POINTER);
	ck_assert_int_eq(btf__add_typedef(btf, "btf_trace_switch", SWITCH_POINTER), SWITCH);
	return btf;
}

static struct kernel_types *open_types(const struct btf *btf)
{
	struct kernel_types *types;
	const void *data;
	__u32 bytes;

	data = btf__raw_data(btf, &bytes);
	ck_assert_int_eq(kernel_types_open(&types, data, bytes), 0);
	return types;
}

/* The subset for a program, as libbpf reads it. */
static struct btf *subset_for(const struct btf *program)
{
	const int fd = memfd_create("subset", 0);
	struct btf *kernel = kernel_btf(), *subset;
	struct kernel_types *types = open_types(kernel);
	char path[32];

	ck_assert_int_eq(kernel_types_write(types, program, fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	subset = btf__parse(path, NULL);
	ck_assert_ptr_nonnull(subset);
	close(fd);
	kernel_types_close(types);
	btf__free(kernel);
	return subset;
}

static const struct btf_type *find(const struct btf *btf, const char *name, __u32 kind)
{
	const __s32 number = btf__find_by_name_kind(btf, name, kind);

	return number > 0 ? btf__type_by_id(btf, number) : NULL;
}

TEST(test_a_type_is_found_by_name_and_kind)
{
	struct btf *kernel = kernel_btf();
	struct kernel_types *types = open_types(kernel);

	struct kernel_symbol symbols[] = {
		{ "task", BTF_KIND_STRUCT, 0, 0, 0 },
		{ "handle_fault", BTF_KIND_FUNC, 0, 0, 0 },
		{ "handle_fault", BTF_KIND_STRUCT, 0, 0, 0 },
		{ "task_struct", BTF_KIND_STRUCT, 0, 0, 0 },
		{ "tasks", BTF_KIND_STRUCT, 0, 0, 0 },
		{ "word", BTF_KIND_TYPEDEF, 99, 0, 0 },
		{ "w", BTF_KIND_TYPEDEF, 0, 0, 0 },
		{ "btf_trace_switch", BTF_KIND_TYPEDEF, 0, 0, 0 },
	};

	kernel_types_look_up(types, symbols, ARRAY_SIZE(symbols));
	ck_assert_uint_eq(symbols[0].number, TASK);
	ck_assert_uint_eq(symbols[1].number, FAULT);
	ck_assert_uint_eq(symbols[2].number, 0);
	ck_assert_uint_eq(symbols[3].number, 0);
	ck_assert_uint_eq(symbols[4].number, 0);
	ck_assert_uint_eq(symbols[5].number, WORD);
	ck_assert_uint_eq(symbols[5].nr_arguments, 0);
	ck_assert_uint_eq(symbols[6].number, 0);
	ck_assert_uint_eq(symbols[7].number, SWITCH);
	ck_assert_uint_eq(symbols[7].nr_arguments, 2);
	kernel_types_close(types);
	btf__free(kernel);
}

TEST(test_a_program_gets_the_types_that_it_names_and_what_they_contain)
{
	struct btf *program = btf__new_empty(), *subset;
	const struct btf_type *task;
	const struct btf_member *member;

	btf__add_struct(program, "task___old", 4);
	subset = subset_for(program);
	task = find(subset, "task", BTF_KIND_STRUCT);
	ck_assert_ptr_nonnull(task);
	ck_assert_uint_eq(task->size, 40);
	ck_assert_uint_eq(btf_vlen(task), 4);
	member = btf_members(task);
	ck_assert_str_eq(btf__name_by_offset(subset, member[0].name_off), "pid");
	ck_assert_uint_eq(member[1].offset, 32);
	ck_assert(btf_is_union(btf__type_by_id(subset, member[1].type)));
	ck_assert_str_eq(btf__name_by_offset(subset, member[2].name_off), "tasks");
	ck_assert_ptr_eq(btf__type_by_id(subset, member[2].type),
			 find(subset, "list", BTF_KIND_STRUCT));
	ck_assert_int_eq(btf__resolve_size(subset, member[3].type), 16);
	/* Neither is named nor contained. */
	ck_assert_ptr_null(find(subset, "page", BTF_KIND_STRUCT));
	ck_assert_ptr_null(find(subset, "state", BTF_KIND_ENUM));
	btf__free(subset);
	btf__free(program);
}

TEST(test_a_pointer_brings_no_other_type)
{
	struct btf *program = btf__new_empty(), *subset;
	const struct btf_type *list;

	btf__add_struct(program, "list", 8);
	subset = subset_for(program);
	list = find(subset, "list", BTF_KIND_STRUCT);
	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(btf__type_by_id(subset, btf_members(list)->type)->type, 0);
	ck_assert_uint_eq(btf__type_cnt(subset), 3); /* void, the pointer, the struct */
	btf__free(subset);
	btf__free(program);
}

TEST(test_values_of_an_enum_keep_their_names)
{
	struct btf *program = btf__new_empty(), *subset;
	const struct btf_type *state;

	btf__add_enum(program, "state", 4);
	subset = subset_for(program);
	state = find(subset, "state", BTF_KIND_ENUM);
	ck_assert_ptr_nonnull(state);
	ck_assert_int_eq(btf_enum(state)[1].val, 7);
	ck_assert_str_eq(btf__name_by_offset(subset, btf_enum(state)[1].name_off), "SLEEPING");
	btf__free(subset);
	btf__free(program);
}

/* Each cut and each changed byte in the header is refused, or read within bounds. */
TEST(test_damaged_types_are_refused)
{
	struct btf *kernel = kernel_btf();
	struct kernel_symbol symbol = { "no such name", BTF_KIND_FUNC, 0, 0, 0 };
	struct kernel_types *types;
	const void *data;
	char *copy;
	__u32 bytes, i;

	data = btf__raw_data(kernel, &bytes);
	for (i = 0; i < bytes; i++)
		ck_assert_int_eq(kernel_types_open(&types, data, i), -EPROTO);
	copy = malloc(bytes);
	for (i = 0; i < sizeof(struct btf_header); i++) {
		memcpy(copy, data, bytes);
		copy[i] ^= 0x41;
		if (!kernel_types_open(&types, copy, bytes))
			kernel_types_look_up(types, &symbol, 1);
		kernel_types_close(types);
	}
	free(copy);
	btf__free(kernel);
}
