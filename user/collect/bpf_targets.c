// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives libbpf the kernel type numbers it would search for. Callbacks that libbpf calls before
 * loading a program set the number of the program's target, and replace the pfstat/kernel_symbol.h
 * constants in the program's code.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/bpf_targets.h"
#include "collect/kernel_types.h"
#include "util/array.h"

/* A tracepoint is a kernel type with this name. */
#define TRACEPOINT "btf_trace_"

/* Names not in any section, starting with those in enum pfstat_kernel_symbol. */
static const struct kernel_symbol named[] = {
	[PFSTAT_KERNEL_PREEMPT_COUNT] = { .name = "__preempt_count", .kind = BTF_KIND_VAR },
	[PFSTAT_KERNEL_PCPU_HOT] = { .name = "pcpu_hot", .kind = BTF_KIND_VAR },
	[PFSTAT_KERNEL_RUNQUEUES] = { .name = "runqueues", .kind = BTF_KIND_VAR },
	[PFSTAT_KERNEL_RDONLY_CAST] = { .name = "bpf_rdonly_cast", .kind = BTF_KIND_FUNC },
	[PFSTAT_KERNEL_PREEMPT_DISABLE] = { .name = "bpf_preempt_disable", .kind = BTF_KIND_FUNC },
	[PFSTAT_KERNEL_PREEMPT_ENABLE] = { .name = "bpf_preempt_enable", .kind = BTF_KIND_FUNC },
	{ .name = "local_interrupt_disable_state", .kind = BTF_KIND_VAR },
	{ .name = "fprobe_return", .kind = BTF_KIND_FUNC },
	{ .name = "register_ftrace_direct", .kind = BTF_KIND_FUNC },
	{ .name = "register_fprobe_ips", .kind = BTF_KIND_FUNC },
	{ .name = "bpf_task_pt_regs", .kind = BTF_KIND_FUNC },
	{ .name = "vm_area_struct", .kind = BTF_KIND_STRUCT },
	{ .name = "vm_fault", .kind = BTF_KIND_STRUCT },
};

/*
 * libbpf reads the kernel's types for each program of BPF_PROG_TYPE_TRACING, so programs have
 * another type until they are loaded.
 */
static const struct {
	const char *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
} sections[] = {
	{ "tp_btf+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP },
	{ "fentry+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_FENTRY },
	{ "fexit+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_FEXIT },
	{ "kprobe.multi+", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI },
	{ "kretprobe.multi+", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI },
};

struct bpf_targets {
	struct kernel_symbol *symbols; /* `named`, and one for each program's target */
	size_t nr;
	int handlers[ARRAY_SIZE(sections)]; /* libbpf handlers, plus 1, or 0 if none */
};

const char *bpf_targets_name(const struct bpf_program *program)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');

	return slash ? slash + 1 : "";
}

static unsigned int bpf_targets_kind(const struct bpf_program *program)
{
	return strncmp(bpf_program__section_name(program), "tp_btf/", 7) ? BTF_KIND_FUNC :
									   BTF_KIND_TYPEDEF;
}

static uint32_t bpf_targets_number(const struct bpf_targets *targets, const char *name,
				   unsigned int kind)
{
	const size_t prefix = kind == BTF_KIND_TYPEDEF ? strlen(TRACEPOINT) : 0;
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->symbols[i].kind == kind &&
		    !strcmp(targets->symbols[i].name + prefix, name))
			return targets->symbols[i].number;
	return 0;
}

unsigned int bpf_targets_arguments(const struct bpf_targets *targets, const char *tracepoint)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->symbols[i].nr_arguments &&
		    !strcmp(targets->symbols[i].name + strlen(TRACEPOINT), tracepoint))
			return targets->symbols[i].nr_arguments - 1;
	return 0;
}

static uint32_t bpf_targets_of_program(const struct bpf_targets *targets,
				       const struct bpf_program *program)
{
	return bpf_targets_number(targets, bpf_targets_name(program), bpf_targets_kind(program));
}

bool bpf_targets_has(const struct bpf_targets *targets, const struct bpf_program *program)
{
	return bpf_targets_of_program(targets, program);
}

uint32_t bpf_targets_symbol(const struct bpf_targets *targets, enum pfstat_kernel_symbol index)
{
	return targets->symbols[index].number;
}

uint32_t bpf_targets_struct(const struct bpf_targets *targets, const char *name)
{
	return bpf_targets_number(targets, name, BTF_KIND_STRUCT);
}

bool bpf_targets_has_function(const struct bpf_targets *targets, const char *name)
{
	return bpf_targets_number(targets, name, BTF_KIND_FUNC);
}

bool bpf_targets_has_variable(const struct bpf_targets *targets, const char *name)
{
	return bpf_targets_number(targets, name, BTF_KIND_VAR);
}

static int bpf_targets_add(struct bpf_targets *targets, const struct bpf_program *program)
{
	const unsigned int kind = bpf_targets_kind(program);
	char *name;

	if (asprintf(&name, "%s%s", kind == BTF_KIND_TYPEDEF ? TRACEPOINT : "",
		     bpf_targets_name(program)) < 0)
		return -ENOMEM;
	targets->symbols[targets->nr++] = (struct kernel_symbol){ .name = name, .kind = kind };
	return 0;
}

int bpf_targets_find(struct bpf_targets *targets, const struct bpf_object *object,
		     const struct kernel_types *types)
{
	struct bpf_program *program;
	size_t nr = ARRAY_SIZE(named);
	int err = 0;

	bpf_object__for_each_program(program, object)
		nr++;
	targets->symbols = calloc(nr, sizeof(*targets->symbols));
	if (!targets->symbols)
		return -ENOMEM;
	memcpy(targets->symbols, named, sizeof(named));
	targets->nr = ARRAY_SIZE(named);
	bpf_object__for_each_program(program, object)
		err = err ?: bpf_targets_add(targets, program);
	if (!err)
		kernel_types_look_up(types, targets->symbols, targets->nr);
	return err;
}

/* The variable's address, or 0 if this kernel does not have it. */
static void bpf_targets_set_variable(const struct bpf_targets *targets, struct bpf_insn *insn)
{
	const uint32_t number = bpf_targets_symbol(targets, insn[0].imm);

	insn[0].src_reg = number ? BPF_PSEUDO_BTF_ID : 0;
	insn[0].imm = number;
	insn[1].imm = 0;
}

/* If the kernel does not have the function, the verifier never comes to this call. */
static void bpf_targets_set_function(const struct bpf_targets *targets, struct bpf_insn *insn)
{
	insn->imm = bpf_targets_symbol(targets, insn->imm - PFSTAT_KERNEL_FUNCTION);
	insn->src_reg = insn->imm ? BPF_PSEUDO_KFUNC_CALL : 0;
}

static bool bpf_targets_is_variable(const struct bpf_insn *insn)
{
	return !insn[0].src_reg && insn[1].imm == PFSTAT_KERNEL_VARIABLE &&
	       (__u32)insn[0].imm < PFSTAT_NR_KERNEL_SYMBOLS;
}

static bool bpf_targets_is_function(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
	       insn->imm >= PFSTAT_KERNEL_FUNCTION &&
	       insn->imm < PFSTAT_KERNEL_FUNCTION + PFSTAT_NR_KERNEL_SYMBOLS;
}

static void bpf_targets_set_symbols(const struct bpf_targets *targets, struct bpf_insn *insns,
				    size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (bpf_targets_is_function(&insns[i]))
			bpf_targets_set_function(targets, &insns[i]);
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (bpf_targets_is_variable(&insns[i]))
			bpf_targets_set_variable(targets, &insns[i]);
		i++; /* the second half */
	}
}

static int bpf_targets_change_code(const struct bpf_targets *targets, struct bpf_program *program)
{
	const size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	bpf_targets_set_symbols(targets, insns, nr);
	err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}

/* libbpf calls it right before it loads the program. */
static int bpf_targets_prepare(struct bpf_program *program, struct bpf_prog_load_opts *options,
			       long cookie)
{
	const struct bpf_targets *targets = (const void *)cookie;
	int err = bpf_targets_change_code(targets, program);

	if (err || bpf_program__type(program) == BPF_PROG_TYPE_KPROBE)
		return err;
	options->attach_btf_id = bpf_targets_of_program(targets, program);
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

static int bpf_targets_register(struct bpf_targets *targets)
{
	struct libbpf_prog_handler_opts options = {
		.sz = sizeof(options),
		.cookie = (long)targets,
		.prog_prepare_load_fn = bpf_targets_prepare,
	};
	size_t i;
	int handler;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		handler = libbpf_register_prog_handler(sections[i].section, sections[i].type,
						       sections[i].attach, &options);
		if (handler < 0)
			return handler;
		targets->handlers[i] = handler + 1;
	}
	return 0;
}

/*
 * Before version 1.3, libbpf frees the handler list when the last one is removed, and uses it
 * again. So one, for a section that no program has, is never removed.
 */
static int bpf_targets_hold_list(void)
{
	static int held;

	if (held <= 0)
		held = libbpf_register_prog_handler("pfstat.none/", BPF_PROG_TYPE_UNSPEC, 0, NULL);
	return held < 0 ? held : 0;
}

int bpf_targets_open(struct bpf_targets **targets)
{
	int err = bpf_targets_hold_list();

	*targets = NULL;
	if (err)
		return err;
	*targets = calloc(1, sizeof(**targets));
	if (!*targets)
		return -ENOMEM;
	err = bpf_targets_register(*targets);
	if (err) {
		bpf_targets_close(*targets);
		*targets = NULL;
	}
	return err;
}

void bpf_targets_close(struct bpf_targets *targets)
{
	size_t i;

	if (!targets)
		return;
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (targets->handlers[i])
			libbpf_unregister_prog_handler(targets->handlers[i] - 1);
	for (i = ARRAY_SIZE(named); i < targets->nr; i++)
		free((char *)targets->symbols[i].name);
	free(targets->symbols);
	free(targets);
}

/* NULL and errno 0: another function attaches the program, or it is only run. */
static struct bpf_link *bpf_targets_attach_program(const struct bpf_program *program)
{
	errno = 0;
	if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING)
		return bpf_program__attach_trace(program);
	if (!strncmp(bpf_program__section_name(program), "kprobe/", 7))
		return bpf_program__attach(program);
	return NULL;
}

int bpf_targets_attach(const struct bpf_object_skeleton *skeleton)
{
	const struct bpf_program *program;
	int i;

	for (i = 0; i < skeleton->prog_cnt; i++) {
		program = *skeleton->progs[i].prog;
		if (!bpf_program__autoload(program))
			continue;
		*skeleton->progs[i].link = bpf_targets_attach_program(program);
		if (!*skeleton->progs[i].link && errno)
			return -errno;
	}
	return 0;
}
