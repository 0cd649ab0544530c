// SPDX-License-Identifier: GPL-2.0-only
/*
 * An emulator protects pages whose code it has translated: translated_code ROUNDS [apart]. The
 * emulated program has data on these pages. Each store ends as SIGSEGV, the handler lifts the
 * protection, and the next translation protects the page again. apart: data has separate pages.
 */
#include <signal.h>

#include "complaint.h"

#define PAGES 64

static char *code, *data;
static volatile unsigned long caught;

static void on_write(int number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)info->si_addr & ~(PAGE - 1);

	(void)number;
	(void)context;
	caught++;
	mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE);
}

static __attribute__((noinline)) void emulate(volatile char *memory, unsigned long round)
{
	int i;

	for (i = 0; i < PAGES; i++)
		memory[i * PAGE + round % PAGE]++;
}

int main(int argc, char **argv)
{
	const unsigned long rounds = number_of(argc, argv, 1, 200);
	struct sigaction action = { .sa_sigaction = on_write, .sa_flags = SA_SIGINFO };
	unsigned long round;

	sigaction(SIGSEGV, &action, NULL);
	code = map_small_pages(PAGES * PAGE);
	data = is_word(argc, argv, 2, "apart") ? map_small_pages(PAGES * PAGE) : code;
	memset(code, 0, PAGES * PAGE);
	for (round = 0; round < rounds; round++) {
		emulate(data, round);
		mprotect(code, PAGES * PAGE, PROT_READ);
	}
	printf("%lu writes to protected pages\n", caught);
	return 0;
}
