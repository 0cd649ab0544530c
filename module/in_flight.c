// SPDX-License-Identifier: GPL-2.0-only
/* Counts the calls inside the module's code, see in_flight.h. */
#include <linux/cpumask.h>

#include "in_flight.h"

DEFINE_PER_CPU(atomic_long_t, pfstat_in_flight);

long pfstat_in_flight_sum(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += atomic_long_read(per_cpu_ptr(&pfstat_in_flight, cpu));
	return sum;
}
