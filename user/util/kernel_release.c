// SPDX-License-Identifier: GPL-2.0-only
/* Reads the first two numbers in a release, as uname(2) has it. */
#include <stdio.h>
#include <sys/utsname.h>

#include "util/kernel_release.h"

unsigned int kernel_release_number(const char *release)
{
	unsigned int version = 0, level = 0;

	if (sscanf(release, "%u.%u", &version, &level) != 2)
		return 0;
	return version * 1000 + level;
}

bool kernel_release_is_before(const char *release)
{
	struct utsname name;

	return !uname(&name) &&
	       kernel_release_number(name.release) < kernel_release_number(release);
}
