// SPDX-License-Identifier: GPL-2.0-only
/*
 * launch CGROUP UID RESULT COMMAND…: runs COMMAND as user UID in a cgroup, and writes its status,
 * as wait(2) has it, and its duration in ns into RESULT. The duration begins before the fork.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILE_BYTES (512UL << 20)

static void enter_cgroup(const char *cgroup)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(125, "cannot enter %s", cgroup);
	close(fd);
}

static void become(uid_t user)
{
	const struct rlimit file = { MOST_FILE_BYTES, MOST_FILE_BYTES }, core = { 0, 0 };

	if (setsid() < 0 || setrlimit(RLIMIT_FSIZE, &file) || setrlimit(RLIMIT_CORE, &core) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(user, user, user) || setresuid(user, user, user))
		err(125, "cannot become user %u", user);
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 5)
		errx(125, "usage: launch CGROUP UID RESULT COMMAND...");
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = fork();
	if (pid < 0)
		err(125, "cannot fork");
	if (!pid) {
		enter_cgroup(argv[1]);
		become(atoi(argv[2]));
		execvp(argv[4], argv + 4);
		err(127, "cannot run %s", argv[4]);
	}
	waitpid(pid, &status, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	out = fopen(argv[3], "w");
	if (!out ||
	    fprintf(out, "%d %lld\n", status,
		    (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec) < 0 ||
	    fclose(out))
		err(125, "cannot write %s", argv[3]);
	return 0;
}
