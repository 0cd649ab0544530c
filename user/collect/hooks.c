// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hooks.h"

/* A program that is not named here is always needed. */
static const struct {
	const char *program;
	enum fact_hook hook;
} optional[] = {
	{ "on_sched_waking", HOOK_WAKEUP },
	{ "on_rq_insert", HOOK_BLOCK_INSERT },
	{ "on_rq_issue", HOOK_BLOCK },
	{ "on_rq_merge", HOOK_BLOCK },
	{ "on_rq_complete", HOOK_BLOCK },
	{ "on_fault_enter", HOOK_FAULT },
	{ "on_fault_exit", HOOK_FAULT },
	{ "on_fault_thread_exit", HOOK_FAULT },
	{ "on_fault_thread_exec", HOOK_FAULT },
	{ "on_swap_page", HOOK_SWAP },
	{ "on_wp_page", HOOK_WP },
	{ "on_page_removed", HOOK_PAGE_DELETE },
	{ "on_swap_cache_delete", HOOK_SWAP_IO },
	{ "on_swap_cache_del_folio", HOOK_SWAP_IO },
	{ "on_swap_read_page", HOOK_SWAP_IO },
	{ "on_swap_read_folio", HOOK_SWAP_IO },
};

/* The same of two kernels: the one that this kernel has is enough. */
static const struct {
	const char *program, *instead;
} alternatives[] = {
	{ "on_swap_cache_delete", "on_swap_cache_del_folio" },
	{ "on_swap_cache_del_folio", "on_swap_cache_delete" },
	{ "on_swap_read_page", "on_swap_read_folio" },
	{ "on_swap_read_folio", "on_swap_read_page" },
};

/* The first says nothing without the second. */
static const struct {
	enum fact_hook hook, needs;
} dependent[] = {
	{ HOOK_BLOCK_INSERT, HOOK_BLOCK },
	{ HOOK_SWAP, HOOK_FAULT },
	{ HOOK_WP, HOOK_FAULT },
	{ HOOK_PAGE_DELETE, HOOK_BLOCK },
};

/* What the program hangs on is in its section's name: "tp_btf/NAME", "fentry/NAME", … */
static bool kernel_has(const struct btf *btf, const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	const char *slash = strchr(section, '/');
	char name[128];

	if (!slash)
		return false;
	if (strncmp(section, "tp_btf/", 7))
		return btf__find_by_name_kind(btf, slash + 1, BTF_KIND_FUNC) > 0;
	snprintf(name, sizeof(name), "btf_trace_%s", slash + 1);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* NULL: it has none, or the kernel has not that either. */
static struct bpf_program *find_instead(const struct bpf_object *object, const struct btf *btf,
					const char *program)
{
	struct bpf_program *instead;
	size_t i;

	for (i = 0; i < sizeof(alternatives) / sizeof(alternatives[0]); i++) {
		if (strcmp(alternatives[i].program, program))
			continue;
		instead = bpf_object__find_program_by_name(object, alternatives[i].instead);
		if (instead && kernel_has(btf, instead))
			return instead;
	}
	return NULL;
}

static int find_missing(const struct bpf_object *object, const struct btf *btf, uint32_t *missing)
{
	struct bpf_program *program;
	size_t i;

	for (i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		program = bpf_object__find_program_by_name(object, optional[i].program);
		if (!program)
			return -ENOENT;
		if (kernel_has(btf, program))
			continue;
		if (find_instead(object, btf, optional[i].program))
			bpf_program__set_autoload(program, false);
		else
			*missing |= 1U << optional[i].hook;
	}
	for (i = 0; i < sizeof(dependent) / sizeof(dependent[0]); i++)
		if (*missing & 1U << dependent[i].needs)
			*missing |= 1U << dependent[i].hook;
	return 0;
}

static int leave_out(struct bpf_object *object, uint32_t missing)
{
	struct bpf_program *program;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(optional) / sizeof(optional[0]) && !err; i++) {
		if (!(missing & 1U << optional[i].hook))
			continue;
		program = bpf_object__find_program_by_name(object, optional[i].program);
		err = bpf_program__set_autoload(program, false);
	}
	return err;
}

int hooks_choose(struct bpf_object *object, uint32_t without, uint32_t *hooks)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err;

	if (!btf)
		return -errno;
	err = find_missing(object, btf, &without);
	btf__free(btf);
	if (!err)
		err = leave_out(object, without);
	*hooks = ((1U << NR_HOOKS) - 1) & ~without;
	return err;
}
