// SPDX-License-Identifier: GPL-2.0-only
/* Converts the counters' file systems to JSON and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "recording/counters_json.h"
#include "util/json_value.h"

static json_t *filesystem_json(const struct filesystem *filesystem)
{
	return value_object((const struct value_member[]){
		{ "dev", value_count(filesystem->dev) },
		{ "type", value_text(filesystem->type) },
		{ "source", value_text(filesystem->source) },
		{ "readahead_bytes", filesystem->readahead_bytes < 0 ?
					     json_null() :
					     json_integer(filesystem->readahead_bytes) },
		{ "compress", json_boolean(filesystem->compress) },
		{ 0 },
	});
}

json_t *filesystems_json(const struct run_counters *counters)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < counters->nr_filesystems; i++)
		array = value_appended(array, filesystem_json(&counters->filesystems[i]));
	return array;
}

static int filesystem_json_parse(struct filesystem *filesystem, const json_t *json)
{
	const json_t *dev = json_object_get(json, "dev");
	const json_t *readahead = json_object_get(json, "readahead_bytes");
	const char *type = json_string_value(json_object_get(json, "type"));
	const char *source = json_string_value(json_object_get(json, "source"));

	if (!json_is_integer(dev) || json_integer_value(dev) < 0 ||
	    json_integer_value(dev) > UINT32_MAX || !type || !type[0])
		return -EINVAL;
	filesystem->dev = json_integer_value(dev);
	filesystem->readahead_bytes = json_is_integer(readahead) ? json_integer_value(readahead) :
								   -1;
	filesystem->compress = json_is_true(json_object_get(json, "compress"));
	snprintf(filesystem->type, sizeof(filesystem->type), "%s", type);
	snprintf(filesystem->source, sizeof(filesystem->source), "%s", source ?: "");
	return 0;
}

int filesystems_json_parse(struct run_counters *counters, const json_t *json)
{
	const size_t nr = json_array_size(json);
	int err = 0;
	size_t i;

	if (json && !json_is_array(json))
		return -EINVAL;
	if (!nr)
		return 0;
	counters->filesystems = calloc(nr, sizeof(*counters->filesystems));
	if (!counters->filesystems)
		return -ENOMEM;
	counters->nr_filesystems = nr;
	for (i = 0; i < nr && !err; i++)
		err = filesystem_json_parse(&counters->filesystems[i], json_array_get(json, i));
	return err;
}
