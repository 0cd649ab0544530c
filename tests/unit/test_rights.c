// SPDX-License-Identifier: GPL-2.0-only
/* Privileges: capability names, the lockdown level, and the user for whom pfdrive works. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/privilege/output.h"
#include "user/privilege/privilege.h"
#include "user/privilege/invoker.h"

#define ALL_CAPABILITIES ((1ULL << (CAP_LAST_CAP + 1)) - 1)

static const char *names_of(uint64_t set)
{
	static char names[CAPABILITY_NAMES_SIZE];

	capabilities_name(set, names, sizeof(names));
	return names;
}

TEST(test_capabilities_are_listed_by_name)
{
	ck_assert_str_eq(names_of(0), "");
	ck_assert_str_eq(names_of(CAPABILITY(CAP_BPF)), "CAP_BPF");
	ck_assert_str_eq(names_of(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON)),
			 "CAP_PERFMON and CAP_BPF");
	ck_assert_str_eq(names_of(CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SETUID) |
				  CAPABILITY(CAP_BPF)),
			 "CAP_KILL, CAP_SETUID and CAP_BPF");
	ck_assert_str_eq(names_of(CAPABILITY(CAP_MKNOD)), "CAP_MKNOD");
}

TEST(test_overlong_lists_of_names_are_cut)
{
	char small[12], none[1];

	capabilities_name(ALL_CAPABILITIES, small, sizeof(small));
	ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
	capabilities_name(ALL_CAPABILITIES, none, sizeof(none));
	ck_assert_str_eq(none, "");
}

/* Capabilities belong to a process, so each test runs in a child that Check forks. */
TEST(test_dropped_capabilities_are_lacking)
{
	char names[CAPABILITY_NAMES_SIZE];

	ck_assert_int_eq(capabilities_keep(0), 0);
	ck_assert_uint_eq(capabilities_lack(ALL_CAPABILITIES, names, sizeof(names)),
			  CAP_LAST_CAP + 1);
	ck_assert_uint_eq(capabilities_lack(CAPABILITY(CAP_BPF), names, sizeof(names)), 1);
	ck_assert_str_eq(names, "CAP_BPF");
	ck_assert_uint_eq(capabilities_lack(0, names, sizeof(names)), 0);
	ck_assert_str_eq(names, "");
}

TEST(test_a_child_drops_its_own_capabilities)
{
	char names[CAPABILITY_NAMES_SIZE];
	const unsigned int lacking = capabilities_lack(ALL_CAPABILITIES, names, sizeof(names));
	int status;
	pid_t pid;

	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(capabilities_keep(0) || capabilities_lack(ALL_CAPABILITIES, names,
								sizeof(names)) != CAP_LAST_CAP + 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(capabilities_lack(ALL_CAPABILITIES, names, sizeof(names)), lacking);
}

TEST(test_cap_sys_admin_includes_cap_bpf_and_cap_perfmon)
{
	char names[CAPABILITY_NAMES_SIZE];

	if (capabilities_lack(CAPABILITY(CAP_SYS_ADMIN), names, sizeof(names)))
		return; /* only root can drop it */
	ck_assert_int_eq(capabilities_keep(CAPABILITY(CAP_SYS_ADMIN)), 0);
	ck_assert_uint_eq(capabilities_lack(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) |
						    CAPABILITY(CAP_KILL),
					    names, sizeof(names)),
			  1);
	ck_assert_str_eq(names, "CAP_KILL");
}

TEST(test_lockdown_level_is_the_one_in_brackets)
{
	char word[32];

	ck_assert_str_eq(lockdown_parse("[none] integrity confidentiality\n", word, 32), "none");
	ck_assert_str_eq(lockdown_parse("none [integrity] confidentiality\n", word, 32),
			 "integrity");
	ck_assert_str_eq(lockdown_parse("none integrity [confidentiality]", word, 32),
			 "confidentiality");
	ck_assert_ptr_null(lockdown_parse("none integrity\n", word, 32));
	ck_assert_ptr_null(lockdown_parse("", word, 32));
	ck_assert_ptr_null(lockdown_parse("[]", word, 32));
	ck_assert_ptr_null(lockdown_parse("none [integrity", word, 32));
	ck_assert_ptr_null(lockdown_parse("]none[", word, 32));
	ck_assert_ptr_null(lockdown_parse("[integrity]", word, 9));
}

TEST(test_malformed_ids_of_sudo_are_refused)
{
	static const char *const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "root", "4294967295", "99999999999999999999",
	};
	size_t i;

	if (geteuid())
		return; /* pfdrive ignores SUDO_UID then */
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(invoker_init(wrong[i], "1"), -EINVAL);
		ck_assert_int_eq(invoker_init("12345", wrong[i]), -EINVAL);
		ck_assert(!invoker_is_other());
	}
	/* For a user without an entry, the group is unknown. */
	ck_assert_int_eq(invoker_init("54321", NULL), -EINVAL);
}

TEST(test_only_root_acts_for_the_caller_of_sudo)
{
	ck_assert_int_eq(invoker_init("12345", "54321"), 0);
	ck_assert_int_eq(invoker_is_other(), !geteuid());
	if (!geteuid())
		ck_assert_str_eq(invoker_name(), "12345");
	ck_assert_int_eq(invoker_init(NULL, NULL), 0);
	ck_assert(!invoker_is_other());
	ck_assert_int_eq(invoker_init("0", "0"), 0);
	ck_assert(!invoker_is_other());
}

TEST(test_a_user_is_chosen_by_name_or_number)
{
	ck_assert_int_eq(invoker_choose("no such user"), -ENOENT);
	ck_assert_int_eq(invoker_choose("4294967294"), -ENOENT);
	if (geteuid()) {
		ck_assert_int_eq(invoker_choose("root"), -EPERM);
		return;
	}
	ck_assert_int_eq(invoker_choose("daemon"), 0);
	ck_assert(invoker_is_other());
	ck_assert_str_eq(invoker_name(), "daemon");
	ck_assert_str_eq(invoker_chosen(), "daemon");
	ck_assert_int_eq(invoker_choose("1"), 0);
	ck_assert_str_eq(invoker_name(), "daemon");
	ck_assert_int_eq(invoker_choose("root"), 0);
	ck_assert(!invoker_is_other());
}

TEST(test_a_child_becomes_the_user_permanently)
{
	gid_t groups[8];
	int status;

	if (geteuid())
		return;
	ck_assert_int_eq(invoker_init("12345", "54321"), 0);
	if (!fork()) {
		if (invoker_become() || getuid() != 12345 || geteuid() != 12345 ||
		    getgid() != 54321 || getegid() != 54321)
			_exit(1);
		if (getgroups(8, groups) != 1 || groups[0] != 54321)
			_exit(2);
		if (!seteuid(0) || !setuid(0) || !setgid(0))
			_exit(3);
		_exit(getenv("SUDO_UID") || strcmp(getenv("USER"), "12345") ||
				      strcmp(getenv("HOME"), "/") ?
			      4 :
			      0);
	}
	wait(&status);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_uint_eq(getuid(), 0);
}

static void write_output(const char *path)
{
	struct output *output;

	ck_assert_int_eq(output_open(&output, path), 0);
	fputs("text\n", output_stream(output));
	ck_assert_int_eq(output_commit(output), 0);
}

TEST(test_output_belongs_to_the_invoking_user_with_mode_0600)
{
	char folder[] = "/tmp/pfstat-rights.XXXXXX", path[64];
	struct stat status;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out", folder);
	if (!geteuid()) {
		ck_assert_int_eq(invoker_init("12345", "54321"), 0);
		ck_assert_int_eq(chown(folder, 12345, 54321), 0);
	}
	write_output(path);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_uint_eq(status.st_uid, geteuid() ? geteuid() : 12345);

	/* A mode set by the user is kept. */
	ck_assert_int_eq(chmod(path, 0644), 0);
	write_output(path);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0644);
	unlink(path);
	rmdir(folder);
}

TEST(test_output_respects_the_permissions_of_the_user)
{
	char folder[] = "/tmp/pfstat-rights.XXXXXX", path[64];
	struct output *output;

	if (geteuid())
		return;
	ck_assert_ptr_nonnull(mkdtemp(folder)); /* owned by root, mode 0700 */
	snprintf(path, sizeof(path), "%s/out", folder);
	ck_assert_int_eq(invoker_init("12345", "54321"), 0);
	ck_assert_int_eq(output_open(&output, path), -EACCES);
	ck_assert_str_eq(invoker_strerror(-EACCES), "Permission denied, as user 12345");
	/* Root's privileges are restored. */
	ck_assert_int_eq(access(folder, W_OK), 0);
	ck_assert_int_eq(invoker_init(NULL, NULL), 0);
	write_output(path);
	unlink(path);
	rmdir(folder);
}
