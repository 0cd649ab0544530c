// SPDX-License-Identifier: GPL-2.0-only
#include <hwloc.h>
#include <stdio.h>

#include "bench/machine.h"

static void read_levels(struct bench_machine *machine, hwloc_topology_t topology)
{
	static const hwloc_obj_type_t levels[] = {
		HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE
	};
	hwloc_obj_t cpu = hwloc_get_pu_obj_by_os_index(topology, machine->cpu), cache;
	size_t i;

	for (i = 0; cpu && i < sizeof(levels) / sizeof(*levels); i++) {
		cache = hwloc_get_ancestor_obj_by_type(topology, levels[i], cpu);
		if (!cache)
			continue;
		machine->cache_bytes[i] = cache->attr->cache.size;
		if (!machine->line_bytes)
			machine->line_bytes = cache->attr->cache.linesize;
	}
}

void machine_read_caches(struct bench_machine *machine, struct machine_state *state)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology)) {
		snprintf(state->caches_missing, sizeof(state->caches_missing), "hwloc: no memory");
		return;
	}
	if (hwloc_topology_load(topology))
		snprintf(state->caches_missing, sizeof(state->caches_missing),
			 "hwloc cannot read the topology");
	else
		read_levels(machine, topology);
	hwloc_topology_destroy(topology);
	if (!state->caches_missing[0] && !machine->cache_bytes[0])
		snprintf(state->caches_missing, sizeof(state->caches_missing),
			 "hwloc knows of no caches here");
}
