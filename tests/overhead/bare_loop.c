// SPDX-License-Identifier: GPL-2.0-only
/* The simplest loop over a file's bytes, for comparison with pfdrive's: `bare_loop FILE N`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	const long n = argc == 3 ? atol(argv[2]) : 0;
	const int fd = n > 0 ? open(argv[1], O_RDONLY) : -1;
	const volatile unsigned char *bytes;
	unsigned long sum = 0;
	long i;

	bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		fprintf(stderr, "usage: bare_loop FILE N, of which the file has as many bytes\n");
		return 2;
	}
	for (i = 0; i < n; i++)
		sum += bytes[i];
	printf("%lu\n", sum);
	return 0;
}
