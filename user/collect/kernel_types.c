// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the kernel's types (BTF) and writes those named by the eBPF programs as BTF for libbpf,
 * which uses them to relocate the programs' accesses (CO-RE). A type keeps all members, with their
 * names, offsets and sizes. The kernel's page bpf/btf.rst describes the format.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/kernel_types.h"
#include "util/hash.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct kernel_types {
	struct btf_header *head; /* the types and the names follow */
	size_t bytes;
	const char *first; /* type */
	const char *names;
	uint32_t *places; /* for each type, from `first` */
	uint32_t nr;	  /* from 1 on */
};

/* Grows. After a failure it stays unchanged. */
struct kernel_bytes {
	char *data;
	size_t used, size;
	bool failed;
};

/* The result of kernel_types_write(). */
struct kernel_subset {
	const struct kernel_types *types;
	struct kernel_bytes kinds, names;
	uint32_t *numbers; /* for each type in the subset, 0 if it is not there */
	uint32_t nr;
};

static const struct btf_type *kernel_type(const struct kernel_types *types, uint32_t number)
{
	return (const void *)(types->first + types->places[number]);
}

static const char *kernel_type_name(const struct kernel_types *types, const struct btf_type *type)
{
	return types->names + type->name_off;
}

/* 0: this kind is not known, as a type's kind determines the size. */
static size_t kernel_type_bytes(const struct btf_type *type)
{
	const size_t nr = btf_vlen(type), head = sizeof(*type);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return head + sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return head + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return head + nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return head + nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return head + nr * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return head + nr * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return head + nr * sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return head;
	default:
		return 0;
	}
}

static int kernel_types_index(struct kernel_types *types)
{
	const struct btf_header *head = types->head;
	const struct btf_type *type;
	uint32_t place = 0;
	size_t bytes;

	types->places = malloc((head->type_len / sizeof(*type) + 1) * sizeof(*types->places));
	if (!types->places)
		return -ENOMEM;
	while (place + sizeof(*type) <= head->type_len) {
		type = (const void *)(types->first + place);
		bytes = kernel_type_bytes(type);
		if (!bytes || bytes > head->type_len - place || type->name_off >= head->str_len)
			return -EPROTO;
		types->places[++types->nr] = place;
		place += bytes;
	}
	return place == head->type_len ? 0 : -EPROTO;
}

static bool kernel_types_has(const struct kernel_types *types, uint32_t offset, uint32_t bytes)
{
	return (uint64_t)types->head->hdr_len + offset + bytes <= types->bytes;
}

static int kernel_types_check(struct kernel_types *types)
{
	const struct btf_header *head = types->head;

	if (types->bytes < sizeof(*head) || head->magic != BTF_MAGIC ||
	    head->version != BTF_VERSION || !head->str_len || head->type_off % 4 ||
	    !kernel_types_has(types, head->type_off, head->type_len) ||
	    !kernel_types_has(types, head->str_off, head->str_len))
		return -EPROTO;
	types->first = (const char *)head + head->hdr_len + head->type_off;
	types->names = (const char *)head + head->hdr_len + head->str_off;
	/* The last name ends. */
	return types->names[head->str_len - 1] ? -EPROTO : kernel_types_index(types);
}

/* `head` is the caller's no longer. */
static int kernel_types_take(struct kernel_types **opened, void *head, size_t bytes)
{
	struct kernel_types *types = calloc(1, sizeof(*types));
	int err;

	*opened = NULL;
	if (!types || !head) {
		free(types);
		free(head);
		return -ENOMEM;
	}
	types->head = head;
	types->bytes = bytes;
	err = kernel_types_check(types);
	if (err)
		kernel_types_close(types);
	else
		*opened = types;
	return err;
}

int kernel_types_open(struct kernel_types **types, const void *btf, size_t bytes)
{
	void *copy = malloc(bytes);

	if (copy)
		memcpy(copy, btf, bytes);
	return kernel_types_take(types, copy, bytes);
}

/* The kernel returns no more than a page at a time. */
static int kernel_types_fill(int fd, char *data, size_t bytes)
{
	size_t done = 0;
	ssize_t got;

	while (done < bytes) {
		got = read(fd, data + done, bytes - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPROTO;
		done += got;
	}
	return 0;
}

/* The number of bytes, or a negative errno. The caller frees *data. */
static ssize_t kernel_types_read_file(void **data)
{
	const int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct stat status = { 0 };
	int err = 0;

	if (fd < 0 || fstat(fd, &status))
		err = -errno;
	if (!err)
		*data = malloc(status.st_size);
	if (*data)
		err = kernel_types_fill(fd, *data, status.st_size);
	else if (!err)
		err = -ENOMEM;
	if (fd >= 0)
		close(fd);
	return err ? err : status.st_size;
}

/* Whether these types belong to the kernel itself, not to a module or a program. */
static bool kernel_types_are_of_kernel(int fd, uint32_t *bytes)
{
	char name[sizeof("vmlinux")] = "";
	struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) || !info.kernel_btf)
		return false;
	*bytes = info.btf_size;
	return !strcmp(name, "vmlinux");
}

/* One call copies all types with this file descriptor. */
static ssize_t kernel_types_copy(int fd, void **data)
{
	struct bpf_btf_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!kernel_types_are_of_kernel(fd, &info.btf_size))
		return -ENOENT;
	*data = malloc(info.btf_size);
	if (!*data)
		return -ENOMEM;
	info.btf = (uintptr_t)*data;
	return bpf_obj_get_info_by_fd(fd, &info, &size) ? -errno : (ssize_t)info.btf_size;
}

/* Like kernel_types_read_file(), and faster. The kernel's types have the lowest number. */
static ssize_t kernel_types_read_first(void **data)
{
	uint32_t number = 0;
	ssize_t bytes;
	int fd;

	if (bpf_btf_get_next_id(number, &number))
		return -errno;
	fd = bpf_btf_get_fd_by_id(number);
	if (fd < 0)
		return fd;
	bytes = kernel_types_copy(fd, data);
	close(fd);
	return bytes;
}

int kernel_types_read(struct kernel_types **types)
{
	void *data = NULL;
	ssize_t bytes;

	*types = NULL;
	bytes = kernel_types_read_first(&data);
	if (bytes < 0) {
		free(data);
		data = NULL;
		bytes = kernel_types_read_file(&data);
	}
	if (bytes >= 0)
		return kernel_types_take(types, data, bytes);
	free(data);
	return bytes;
}

void kernel_types_close(struct kernel_types *types)
{
	if (!types)
		return;
	free(types->places);
	free(types->head);
	free(types);
}

#define NR_NAME_BEGINS 4096

/* Most kernel names differ from all sought names in their first letters. */
struct kernel_name_filter {
	bool has[NR_NAME_BEGINS];
};

/* Covers the first three letters. A flavour has no effect, see kernel_name_bytes(). */
static unsigned int kernel_name_begin(const char *name)
{
	unsigned int begin = (unsigned char)name[0];

	if (begin && name[1] && name[1] != '_') {
		begin = begin * 67 + (unsigned char)name[1];
		if (name[2] && name[2] != '_')
			begin = begin * 67 + (unsigned char)name[2];
	}
	return begin % NR_NAME_BEGINS;
}

static const struct btf_type *kernel_type_target(const struct kernel_types *types,
						 const struct btf_type *type)
{
	return type->type && type->type <= types->nr ? kernel_type(types, type->type) : NULL;
}

/* 0: it is not a typedef for a pointer to a function. */
static uint32_t kernel_type_arguments(const struct kernel_types *types, const struct btf_type *type)
{
	if (btf_kind(type) == BTF_KIND_TYPEDEF)
		type = kernel_type_target(types, type);
	if (type && btf_kind(type) == BTF_KIND_PTR)
		type = kernel_type_target(types, type);
	return type && btf_kind(type) == BTF_KIND_FUNC_PROTO ? btf_vlen(type) : 0;
}

static void kernel_symbol_match(struct kernel_symbol *symbol, const struct kernel_types *types,
				uint32_t number)
{
	const struct btf_type *type = kernel_type(types, number);

	if (symbol->number || symbol->kind != btf_kind(type) ||
	    strcmp(symbol->name, kernel_type_name(types, type)))
		return;
	symbol->number = number;
	symbol->nr_arguments = kernel_type_arguments(types, type);
}

void kernel_types_look_up(const struct kernel_types *types, struct kernel_symbol *symbols,
			  uint32_t nr)
{
	uint32_t lists[NR_NAME_BEGINS] = { 0 }; /* symbols with this start, plus 1 */
	const struct btf_type *type;
	uint32_t *list, i, j;
	uint32_t kinds = 0;
	const char *name;

	for (i = 0; i < nr; i++) {
		list = &lists[kernel_name_begin(symbols[i].name)];
		symbols[i].number = 0;
		symbols[i].next = *list;
		*list = i + 1;
		kinds |= 1U << symbols[i].kind;
	}
	for (i = 1; i <= types->nr; i++) {
		type = kernel_type(types, i);
		if (!type->name_off || !(kinds >> btf_kind(type) & 1))
			continue;
		name = kernel_type_name(types, type);
		for (j = lists[kernel_name_begin(name)]; j; j = symbols[j - 1].next)
			kernel_symbol_match(&symbols[j - 1], types, i);
	}
}

/* Without the flavour, by which a program has several types for one of the kernel's. */
static size_t kernel_name_bytes(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

static bool kernel_kind_is_sought(unsigned int kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM ||
	       kind == BTF_KIND_ENUM64 || kind == BTF_KIND_TYPEDEF;
}

/* Keys for the names in the programs. Another name with the same key does no harm. */
struct kernel_names {
	struct hash keys;
	struct kernel_name_filter filter;
};

static int kernel_names_add(struct kernel_names *names, const char *name)
{
	const uint64_t key = hash_of(name, kernel_name_bytes(name));

	names->filter.has[kernel_name_begin(name)] = true;
	return hash_find(&names->keys, key) ? 0 : hash_add(&names->keys, key, (void *)name);
}

static bool kernel_names_has(const struct kernel_names *names, const char *name)
{
	return names->filter.has[kernel_name_begin(name)] &&
	       hash_find(&names->keys, hash_of(name, kernel_name_bytes(name)));
}

static int kernel_names_find(struct kernel_names *names, const struct btf *programs)
{
	const uint32_t nr = btf__type_cnt(programs);
	const struct btf_type *type;
	uint32_t i;
	int err = 0;

	for (i = 1; i < nr && !err; i++) {
		type = btf__type_by_id(programs, i);
		if (type->name_off && kernel_kind_is_sought(btf_kind(type)))
			err = kernel_names_add(names,
					       btf__name_by_offset(programs, type->name_off));
	}
	return err;
}

/* Returns the position of the bytes. */
static size_t kernel_bytes_add(struct kernel_bytes *bytes, const void *data, size_t nr)
{
	const size_t place = bytes->used, size = 2 * (bytes->size + nr);
	char *grown;

	if (bytes->failed)
		return 0;
	if (nr > bytes->size - bytes->used) {
		grown = realloc(bytes->data, size);
		if (!grown) {
			bytes->failed = true;
			return 0;
		}
		bytes->data = grown;
		bytes->size = size;
	}
	memcpy(bytes->data + place, data, nr);
	bytes->used += nr;
	return place;
}

static uint32_t subset_add_name(struct kernel_subset *subset, uint32_t offset)
{
	const char *name = subset->types->names + offset;

	return offset ? kernel_bytes_add(&subset->names, name, strlen(name) + 1) : 0;
}

static uint32_t subset_add(struct kernel_subset *subset, uint32_t number);

static void subset_add_members(struct kernel_subset *subset, struct btf_type *copy)
{
	struct btf_member *member = btf_members(copy);
	unsigned int i;

	for (i = 0; i < btf_vlen(copy); i++, member++) {
		member->name_off = subset_add_name(subset, member->name_off);
		member->type = subset_add(subset, member->type);
	}
}

/* btf_enum and btf_enum64 begin alike. */
static void subset_add_values(struct kernel_subset *subset, struct btf_type *copy, size_t bytes)
{
	char *value = (char *)(copy + 1);
	unsigned int i;

	for (i = 0; i < btf_vlen(copy); i++, value += bytes)
		*(uint32_t *)value = subset_add_name(subset, *(uint32_t *)value);
}

/* First everything contained in the type. */
static void subset_add_contents(struct kernel_subset *subset, struct btf_type *copy)
{
	struct btf_array *array = btf_array(copy);

	switch (btf_kind(copy)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return subset_add_members(subset, copy);
	case BTF_KIND_ENUM:
		return subset_add_values(subset, copy, sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
		return subset_add_values(subset, copy, sizeof(struct btf_enum64));
	case BTF_KIND_ARRAY:
		array->type = subset_add(subset, array->type);
		array->index_type = subset_add(subset, array->index_type);
		return;
	case BTF_KIND_PTR:
		copy->type = 0;
		return;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		copy->type = subset_add(subset, copy->type);
	}
}

/* A type contains no function and no variable. */
static bool kernel_kind_is_contained(unsigned int kind)
{
	return kernel_kind_is_sought(kind) || kind == BTF_KIND_INT || kind == BTF_KIND_FLOAT ||
	       kind == BTF_KIND_FWD || kind == BTF_KIND_ARRAY || kind == BTF_KIND_PTR ||
	       kind == BTF_KIND_VOLATILE || kind == BTF_KIND_CONST || kind == BTF_KIND_RESTRICT ||
	       kind == BTF_KIND_TYPE_TAG;
}

/* Returns the number in the subset. 0 is void, which cannot be contained in a type. */
static uint32_t subset_add(struct kernel_subset *subset, uint32_t number)
{
	const struct kernel_types *types = subset->types;
	const struct btf_type *type;
	struct btf_type *copy;
	size_t bytes;

	if (!number || number > types->nr)
		return 0;
	if (subset->numbers[number])
		return subset->numbers[number];
	type = kernel_type(types, number);
	if (!kernel_kind_is_contained(btf_kind(type)))
		return 0;
	bytes = kernel_type_bytes(type);
	copy = malloc(bytes);
	if (!copy) {
		subset->kinds.failed = true;
		return 0;
	}
	memcpy(copy, type, bytes);
	copy->name_off = subset_add_name(subset, type->name_off);
	subset_add_contents(subset, copy);
	kernel_bytes_add(&subset->kinds, copy, bytes);
	free(copy);
	subset->numbers[number] = ++subset->nr;
	return subset->nr;
}

static int subset_fill(struct kernel_subset *subset, const struct btf *programs)
{
	const struct kernel_types *types = subset->types;
	const struct btf_type *type;
	struct kernel_names sought = { 0 };
	uint32_t i;
	int err = kernel_names_find(&sought, programs);

	for (i = 1; i <= types->nr && !err; i++) {
		type = kernel_type(types, i);
		if (!type->name_off || !kernel_kind_is_sought(btf_kind(type)))
			continue;
		if (kernel_names_has(&sought, kernel_type_name(types, type)))
			subset_add(subset, i);
	}
	hash_exit(&sought.keys, NULL);
	if (subset->kinds.failed || subset->names.failed)
		err = -ENOMEM;
	return err;
}

static int kernel_types_put(int fd, const void *data, size_t bytes)
{
	ssize_t put;

	for (; bytes; data = (const char *)data + put, bytes -= put) {
		put = write(fd, data, bytes);
		if (put < 0)
			return -errno;
	}
	return 0;
}

static int subset_write(const struct kernel_subset *subset, int fd)
{
	const struct btf_header head = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(head),
		.type_len = subset->kinds.used,
		.str_off = subset->kinds.used,
		.str_len = subset->names.used,
	};

	return kernel_types_put(fd, &head, sizeof(head))			    ?:
		       kernel_types_put(fd, subset->kinds.data, subset->kinds.used) ?:
		       kernel_types_put(fd, subset->names.data, subset->names.used);
}

int kernel_types_write(const struct kernel_types *types, const struct btf *programs, int fd)
{
	struct kernel_subset subset = {
		.types = types,
		.numbers = calloc((size_t)types->nr + 1, sizeof(*subset.numbers)),
	};
	int err = subset.numbers ? 0 : -ENOMEM;

	kernel_bytes_add(&subset.names, "", 1); /* 0: no name */
	if (!err)
		err = subset_fill(&subset, programs);
	if (!err)
		err = subset_write(&subset, fd);
	free(subset.numbers);
	free(subset.kinds.data);
	free(subset.names.data);
	return err;
}
