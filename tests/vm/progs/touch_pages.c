// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches pages in a file one by one, and prints the result of each touch. The program counts only
 * faults from these touches, and survives SIGBUS, so a run with pfstat can be compared with one
 * without.
 *
 *	touch_pages [-p] [-a] FILE read|write|private STEP...
 *
 *	-p	hook the mapping, in a session of its own, with fault-around off
 *	-a	hook it, with fault-around unchanged
 *	read, write: accesses to a shared mapping; private: writes to a private one
 *	STEP	N: page N; cut=N: truncate the file to N pages; drop=N: remove page N from
 *		the page table, with MADV_DONTNEED
 *
 * Prints a line per touch: "page N value V", or "page N signal S code C at M" where M is the page
 * containing the address the signal names. Then "faults MINOR MAJOR".
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	  ((size_t)sysconf(_SC_PAGESIZE))
#define WRITTEN	  0xee
#define MAX_STEPS 4096

enum kind { STEP_TOUCH, STEP_CUT, STEP_DROP };

static struct step {
	enum kind kind;
	long page;
	int value;
	int signal, code;
	char *address;
} steps[MAX_STEPS];

static sigjmp_buf before_touch;
static siginfo_t caught;

static void die(const char *what)
{
	fprintf(stderr, "touch_pages: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	caught = *info;
	siglongjmp(before_touch, 1);
}

static void catch_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGBUS, &action, NULL))
		die("sigaction");
	/* A first call without effect, so the call's own faults occur now and are not counted. */
	if (!sigsetjmp(before_touch, 1))
		raise(SIGBUS);
}

static void touch(struct step *step, volatile unsigned char *map, bool write)
{
	if (sigsetjmp(before_touch, 1)) {
		step->signal = caught.si_signo;
		step->code = caught.si_code;
		step->address = caught.si_addr;
		return;
	}
	if (write)
		map[step->page * PAGE] = WRITTEN;
	step->value = map[step->page * PAGE];
}

static void perform(struct step *step, int fd, char *map, bool write)
{
	switch (step->kind) {
	case STEP_TOUCH:
		touch(step, (unsigned char *)map, write);
		break;
	case STEP_CUT:
		if (ftruncate(fd, step->page * PAGE))
			die("ftruncate");
		break;
	case STEP_DROP:
		if (madvise(map + step->page * PAGE, PAGE, MADV_DONTNEED))
			die("madvise");
		break;
	}
}

/* Returns the number of steps. *cuts: the file must be opened for writing. */
static int read_steps(char **words, bool *cuts)
{
	int nr;

	for (nr = 0; words[nr] && nr < MAX_STEPS; nr++) {
		const char *number = strchr(words[nr], '=');

		steps[nr].kind = !number			? STEP_TOUCH :
				 !strncmp(words[nr], "cut=", 4) ? STEP_CUT :
								  STEP_DROP;
		steps[nr].page = atol(number ? number + 1 : words[nr]);
		*cuts |= steps[nr].kind == STEP_CUT;
	}
	return nr;
}

/* The targets are removed when the file is closed, at the exit of the process. */
static void hook(int fd, bool around)
{
	int session = open("/sys/kernel/debug/pfstat/session", O_RDWR | O_CLOEXEC);
	char commands[64];

	snprintf(commands, sizeof(commands), "fault_around %s\nfile %d\n", around ? "keep" : "off",
		 fd);
	if (session < 0 || write(session, commands, strlen(commands)) < 0)
		die("session");
}

static char *map_file(int fd, bool write, bool private)
{
	struct stat st;
	char *map;

	if (fstat(fd, &st))
		die("fstat");
	map = mmap(NULL, st.st_size, PROT_READ | (write ? PROT_WRITE : 0),
		   private ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

static void print_steps(const char *map, int nr)
{
	const struct step *step;

	for (step = steps; step < steps + nr; step++) {
		if (step->kind != STEP_TOUCH)
			continue;
		printf("page %ld ", step->page);
		if (step->signal)
			printf("signal %d code %d at %ld\n", step->signal, step->code,
			       (step->address - map) / PAGE);
		else
			printf("value %d\n", step->value);
	}
}

int main(int argc, char **argv)
{
	bool hooked = false, around = false, write, private, cuts = false;
	struct rusage from, to;
	int option, fd, nr, i;
	char *map;

	while ((option = getopt(argc, argv, "pa")) != -1) {
		hooked = true;
		around = option == 'a';
	}
	argv += optind;
	if (argc - optind < 3)
		return 2;
	private = !strcmp(argv[1], "private");
	write = private || !strcmp(argv[1], "write");
	nr = read_steps(argv + 2, &cuts);
	fd = open(argv[0], cuts || (write && !private) ? O_RDWR : O_RDONLY);
	if (fd < 0)
		die(argv[0]);
	/* All of the program's memory is resident now, so it does not fault by itself. */
	if (mlockall(MCL_CURRENT))
		die("mlockall");
	map = map_file(fd, write, private);
	catch_sigbus();
	if (hooked)
		hook(fd, around);

	getrusage(RUSAGE_SELF, &to); /* without effect, as above */
	getrusage(RUSAGE_SELF, &from);
	for (i = 0; i < nr; i++)
		perform(&steps[i], fd, map, write);
	getrusage(RUSAGE_SELF, &to);

	print_steps(map, nr);
	printf("faults %ld %ld\n", to.ru_minflt - from.ru_minflt, to.ru_majflt - from.ru_majflt);
	return 0;
}
