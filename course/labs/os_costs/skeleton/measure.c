// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure OPERATION [DIRECTORY]: prints the time of one operation in ns. The operations are those
 * of pfdrive bench --list with the same names. Repeat each: the first repetition has costs of its
 * own.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	/* TODO: cpu.syscall pipe.self switch.process thread.create process.vfork_exec */
	/* TODO: fault.anon fault.cow */
	/* TODO: net.tcp_rtt net.tcp_setup */
	/* TODO: file.cached file.random, with a file in DIRECTORY */
	fprintf(stderr, "measure: %s is not done yet\n", argc > 1 ? argv[1] : "nothing");
	return 1;
}
