// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the kernel's functions from /proc/kallsyms, for stacks from perf. The kernel shows the
 * addresses to a user who may sample the kernel (kernel.perf_event_paranoid 1 or less), unless
 * kernel.kptr_restrict hides them; hidden ones are 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/kernel_symbols.h"
#include "util/array.h"

static int kallsyms_compare(const void *a, const void *b)
{
	const struct kallsyms_function *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int kallsyms_add_name(struct kallsyms *kallsyms, const char *name, size_t length)
{
	size_t room = kallsyms->names_room ?: 1U << 20;
	char *grown;

	while (room < kallsyms->names_bytes + length + 1)
		room *= 2;
	if (room != kallsyms->names_room) {
		grown = realloc(kallsyms->names, room);
		if (!grown)
			return -ENOMEM;
		kallsyms->names = grown;
		kallsyms->names_room = room;
	}
	memcpy(kallsyms->names + kallsyms->names_bytes, name, length);
	kallsyms->names_bytes += length;
	kallsyms->names[kallsyms->names_bytes++] = '\0';
	return 0;
}

/*
 * A line: "ffffffff81000000 T name", "... t name\t[module]". Data is left out, and so are the
 * paddings before functions, which no stack contains.
 */
static int kallsyms_add_line(struct kallsyms *kallsyms, const char *line)
{
	const char *type = strchr(line, ' '), *name;
	uint64_t address;
	int err;

	if (!type || !type[1] || !strchr("tTwW", type[1]) || type[2] != ' ')
		return 0;
	name = type + 3;
	if (!strncmp(name, "__pfx_", 6))
		return 0;
	address = strtoull(line, NULL, 16);
	if (!address)
		return 0;
	err = array_reserve((void **)&kallsyms->functions, kallsyms->nr, &kallsyms->room,
			    sizeof(*kallsyms->functions));
	if (err)
		return err;
	kallsyms->functions[kallsyms->nr++] =
		(struct kallsyms_function){ address, kallsyms->names_bytes };
	return kallsyms_add_name(kallsyms, name, strcspn(name, "\t\n"));
}

int kallsyms_read(struct kallsyms *kallsyms, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	int err = 0;

	*kallsyms = (struct kallsyms){ 0 };
	if (!file)
		return -errno;
	while (!err && fgets(line, sizeof(line), file))
		err = kallsyms_add_line(kallsyms, line);
	fclose(file);
	if (!err && !kallsyms->nr)
		err = -EACCES;
	if (err) {
		kallsyms_exit(kallsyms);
		return err;
	}
	qsort(kallsyms->functions, kallsyms->nr, sizeof(*kallsyms->functions), kallsyms_compare);
	return 0;
}

void kallsyms_exit(struct kallsyms *kallsyms)
{
	free(kallsyms->functions);
	free(kallsyms->names);
	*kallsyms = (struct kallsyms){ 0 };
}

bool kallsyms_lookup(void *context, struct pfstat_symbol_query *query)
{
	const struct kallsyms *kallsyms = context;
	size_t from = 0, to = kallsyms->nr, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (kallsyms->functions[middle].address <= query->address)
			from = middle + 1;
		else
			to = middle;
	}
	snprintf(query->name, sizeof(query->name), "%s",
		 from ? kallsyms->names + kallsyms->functions[from - 1].name : "0x");
	return true;
}

bool kallsyms_range(const struct kallsyms *kallsyms, const char *name, uint64_t *from, uint64_t *to)
{
	size_t i, next;

	for (i = 0; i < kallsyms->nr; i++)
		if (!strcmp(kallsyms->names + kallsyms->functions[i].name, name))
			break;
	/* Aliases have the same address. */
	for (next = i; next < kallsyms->nr; next++)
		if (kallsyms->functions[next].address > kallsyms->functions[i].address)
			break;
	if (next >= kallsyms->nr)
		return false;
	*from = kallsyms->functions[i].address;
	*to = kallsyms->functions[next].address;
	return true;
}
