// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the facts about a machine and the check lines. A bug report has versions, kernel and
 * hardware, but no host name and no user name.
 */
#include <stdlib.h>

#include "doctor/doctor_answer.h"
#include "doctor/doctor_checks.h"
#include "doctor/doctor_print.h"
#include "model/environment.h"
#include "system/machine.h"
#include "util/version.h"

unsigned int doctor_print_lines(FILE *out, const struct doctor_facts *facts)
{
	static const char *const words[NR_DOCTOR_STATES] = { "ok", "limited", "missing" };
	unsigned int nr[NR_DOCTOR_STATES] = { 0 };
	char answer[DOCTOR_ANSWER_SIZE];
	struct doctor_line line;
	size_t i;

	doctor_answer(facts, answer, sizeof(answer));
	fprintf(out, "%s\n", answer);
	for (i = 0; i < nr_doctor_checks; i++) {
		doctor_check_run(&doctor_checks[i], facts, &line);
		if (!line.text[0])
			continue;
		nr[line.state]++;
		fprintf(out, "%-8s %-13s %s%s%s\n", words[line.state], doctor_checks[i].name,
			line.text, line.fix[0] ? "; run: " : "", line.fix);
	}
	fprintf(out, "%u ok, %u limited, %u missing\n", nr[DOCTOR_OK], nr[DOCTOR_LIMITED],
		nr[DOCTOR_MISSING]);
	return nr[DOCTOR_MISSING];
}

static void doctor_print_fact(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%-14s %s\n", name, value[0] ? value : "n/a");
}

static void doctor_print_options(FILE *out, const struct doctor_facts *facts)
{
	static const char *const words[] = { "n/a", "n", "y" };
	size_t i;

	for (i = 0; i < NR_KERNEL_OPTIONS; i++)
		fprintf(out, "%s=%s\n", kernel_option_names[i], words[facts->options[i]]);
}

void doctor_print_machine(FILE *out, const struct doctor_facts *facts)
{
	struct environment *environment = calloc(1, sizeof(*environment));

	doctor_print_fact(out, "pfdrive", PFDRIVE_VERSION);
	doctor_print_fact(out, "module", facts->loaded ? facts->loaded_version : "not loaded");
	doctor_print_fact(out, "distribution", facts->distribution);
	doctor_print_fact(out, "kernel", facts->release);
	doctor_print_fact(out, "architecture", facts->architecture);
	if (environment) {
		machine_state_read(environment);
		doctor_print_fact(out, "processor", environment->machine);
		fprintf(out, "%-14s %u\n", "CPUs", environment->cpus);
		fprintf(out, "%-14s %llu MiB\n", "memory",
			(unsigned long long)environment->memory_bytes >> 20);
		doctor_print_fact(out, "virtual", environment->virtualization);
	}
	free(environment);
	doctor_print_fact(out, "clock source", facts->clocksource);
	doctor_print_options(out, facts);
	putc('\n', out);
}
