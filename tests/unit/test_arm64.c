// SPDX-License-Identifier: GPL-2.0-only
/* Names of arm64 machines, and reports on this machine for measurements from another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner.h"
#include "text_file.h"
#include "user/print/text/table.h"
#include "user/report/report.h"
#include "user/report/view.h"
#include "user/system/machine.h"

#define CORE(implementer, part)                                              \
	"processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: " implementer \
	"\nCPU architecture: 8\nCPU part\t: " part "\n\n"

static char root[32];

static void write_below_root(const char *path, const char *text)
{
	char whole[256], *slash;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (slash = whole + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	text_file_write(whole, text);
}

static void make_root(void)
{
	strcpy(root, "/tmp/pfstat-arm64-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static void check_model(const char *expected)
{
	char model[128] = "";

	arm64_identity_model(root, model, sizeof(model));
	ck_assert_str_eq(model, expected);
}

TEST(test_model_has_each_kind_of_core_once_and_the_machine)
{
	check_model("");
	write_below_root("/proc/cpuinfo", CORE("0x41", "0xd0c") CORE("0x41", "0xd0c"));
	check_model("Neoverse-N1");
	write_below_root("/proc/cpuinfo", CORE("0x41", "0xd05") CORE("0x41", "0xd0b"));
	check_model("Cortex-A55 + Cortex-A76");
	write_below_root("/sys/class/dmi/id/product_name", "Server\n");
	check_model("Cortex-A55 + Cortex-A76 (Server)");
	write_below_root("/sys/firmware/devicetree/base/model", "Board");
	check_model("Cortex-A55 + Cortex-A76 (Board)");
}

TEST(test_unknown_core_has_its_numbers)
{
	/* The part number is Arm's own only with Arm's implementer. */
	write_below_root("/proc/cpuinfo", CORE("0x61", "0xd0c"));
	check_model("implementer 0x61, part 0xd0c");
	write_below_root("/proc/cpuinfo", CORE("0x41", "0xfff"));
	check_model("implementer 0x41, part 0xfff");
}

static void check_virtualization(const char *expected)
{
	char name[32] = "";

	arm64_identity_virtualization(root, name, sizeof(name));
	ck_assert_str_eq(name, expected);
}

TEST(test_hypervisor_is_the_one_that_firmware_describes)
{
	check_virtualization("");
	write_below_root("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	check_virtualization("qemu");
	write_below_root("/sys/class/dmi/id/sys_vendor", "Maker\n");
	check_virtualization("");
	write_below_root("/sys/firmware/devicetree/base/model", "linux,dummy-virt");
	check_virtualization("qemu");
	write_below_root("/sys/firmware/devicetree/base/hypervisor/compatible", "xen,xen-4.17");
	check_virtualization("xen");
}

static void check_call(const char *architecture, const char *name, int number)
{
	static struct report run;
	char *found;

	report_init(&run);
	strcpy(run.environment.architecture, architecture);
	found = view_syscall_name(&run, number);
	ck_assert_str_eq(found, name);
	free(found);
	ck_assert_int_eq(view_syscall_number(&run, name), number);
}

TEST(test_system_call_has_the_name_of_the_measured_machine)
{
	check_call("x86_64", "madvise", 28);
	check_call("aarch64", "madvise", 233);
	check_call("x86_64", "set_robust_list", 273);
	check_call("aarch64", "set_robust_list", 99);
}

static void check_compat_call(const char *architecture, const char *name, uint32_t number)
{
	static struct report run;
	char *found;

	report_init(&run);
	strcpy(run.environment.architecture, architecture);
	found = view_syscall_name(&run, PFSTAT_SYSCALL_COMPAT | number);
	ck_assert_str_eq(found, name);
	free(found);
	ck_assert_uint_eq(view_syscall_index(PFSTAT_SYSCALL_COMPAT | number), number);
}

TEST(test_32_bit_call_has_the_name_of_its_own_table)
{
	check_compat_call("x86_64", "getpid (32-bit)", 20);
	check_compat_call("x86_64", "call 99999 (32-bit)", 99999);
	check_compat_call("aarch64", "madvise (32-bit)", 220);
	ck_assert_uint_eq(view_syscall_index(UINT32_MAX), UINT32_MAX); /* no call */
}

static const char *environment_text(const char *clocksource, uint64_t counter_hz)
{
	static struct report run;
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	report_init(&run);
	strcpy(run.environment.kind, "record");
	strcpy(run.environment.kernel, "6.12.1");
	strcpy(run.environment.clocksource, clocksource);
	run.environment.counter_hz = counter_hz;
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(table_environment(out, &run), 0);
	fclose(out);
	return text;
}

TEST(test_report_states_the_tick_of_a_slow_counter)
{
	const char *text = environment_text("arch_sys_counter", 24000000);

	ck_assert_msg(strstr(text, "clock source: arch_sys_counter, 24 MHz: a tick is 41.7 ns"),
		      "%s", text);
	ck_assert_ptr_null(strstr(environment_text("tsc", 0), "tick"));
	/* Another clock does not tick as the counter does. */
	ck_assert_ptr_null(strstr(environment_text("jiffies", 24000000), "tick"));
}

FIXTURE(make_root, remove_root);
