// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	printf("%d\n", argc > 1 && !strcmp(argv[1], "fault.anon") ? 7258 : 11995);
	return 0;
}
