// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the --predict file and evaluates the formulas for all rows, after everything is measured.
 * Names in a formula are result rows or machine properties. A formula without a value is n/a, with
 * the reason.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/bench_plan.h"
#include "bench/suite/predict.h"
#include "util/array.h"
#include "util/text.h"

#define HARDWARE ".hardware"

struct predict_scope {
	const struct bench_results *results;
	const struct bench_row *row; /* the row to predict */
};

/* When the file is read, nothing is measured yet: check only the names. */
static int predict_lookup_any(void *context, const char *name, double *value)
{
	static const char *const others[] = { "cycle",	 "point",   "memory_available", "cache_1",
					      "cache_2", "cache_3", "cache_line" };
	size_t i;

	(void)context;
	*value = 1;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i]))
			return 0;
	return bench_plan_knows(name) ? 0 : -ENOENT;
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static int predictions_set_name(struct prediction *prediction, const char *name, struct why *why)
{
	const size_t length = strlen(name), ending = strlen(HARDWARE);
	size_t kept = length;

	if (length > ending && !strcmp(name + length - ending, HARDWARE)) {
		prediction->hardware = true;
		kept -= ending;
	}
	snprintf(prediction->name, sizeof(prediction->name), "%.*s", (int)kept, name);
	if (kept < sizeof(prediction->name) && bench_plan_knows(prediction->name))
		return 0;
	why_set(why, "unknown operation %.*s", (int)kept, name);
	return -ENOENT;
}

/* An empty line leaves the formula empty. */
static int predictions_parse_line(char *line, struct prediction *prediction, struct why *why)
{
	const struct formula_names names = { .lookup = predict_lookup_any, .cycle_ns = 1 };
	char *formula, *name;
	double value;
	int err;

	*prediction = (struct prediction){ 0 };
	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (!*name)
		return 0;
	formula = strchr(name, '=');
	if (!formula) {
		why_set(why, "expected NAME = FORMULA");
		return -EINVAL;
	}
	*formula++ = '\0';
	formula = trim(formula);
	err = predictions_set_name(prediction, trim(name), why);
	if (!err && strlen(formula) >= sizeof(prediction->formula)) {
		why_set(why, "the formula is too long");
		err = -EINVAL;
	}
	if (!err)
		err = formula_evaluate(formula, &names, &value, why);
	if (err == -ENODATA) /* the placeholder values caused a division by 0 */
		err = 0;
	if (!err)
		strcpy(prediction->formula, formula);
	return err;
}

static int predictions_add(struct predictions *predictions, const struct prediction *prediction)
{
	struct prediction *grown =
		reallocarray(predictions->all, predictions->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	predictions->all = grown;
	grown[predictions->nr++] = *prediction;
	return 0;
}

int predict_read(struct predictions *predictions, FILE *in, struct why *why)
{
	struct prediction prediction;
	unsigned int number = 0;
	struct why what;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*predictions = (struct predictions){ 0 };
	while (!err && getline(&line, &room, in) >= 0) {
		number++;
		err = predictions_parse_line(line, &prediction, &what);
		if (err)
			why_set(why, "line %u: %s", number, what.text);
		else if (prediction.formula[0])
			err = predictions_add(predictions, &prediction);
	}
	if (!err && ferror(in)) {
		err = -EIO;
		why_set(why, "cannot read the file");
	}
	free(line);
	if (err)
		predict_free(predictions);
	return err;
}

void predict_free(struct predictions *predictions)
{
	free(predictions->all);
	*predictions = (struct predictions){ 0 };
}

static bool predict_is_measured(const struct bench_results *results, const char *name,
				size_t length)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (!strncmp(results->rows[i].operation->name, name, length) &&
		    !results->rows[i].operation->name[length])
			return true;
	return false;
}

const struct prediction *predict_unmatched(const struct predictions *predictions,
					   const struct bench_results *results, size_t *next)
{
	const struct prediction *prediction;
	size_t length;

	while (*next < predictions->nr) {
		prediction = &predictions->all[(*next)++];
		length = strcspn(prediction->name, ":");
		if (prediction->name[length] && !bench_results_find(results, prediction->name) &&
		    predict_is_measured(results, prediction->name, length))
			return prediction;
	}
	return NULL;
}

/* Parses "3" to 3 and "32K:64" to 32768. */
static double predict_point(const struct bench_row *row)
{
	char text[sizeof(row->point_name)];
	uint64_t value;

	strcpy(text, row->point_name);
	text[strcspn(text, ":")] = '\0';
	return size_parse(text, &value) ? NAN : value;
}

static int predict_value(double number, double *value)
{
	*value = number;
	return isnan(number) || number <= 0 ? -ENODATA : 0;
}

static int predict_lookup(void *context, const char *name, double *value)
{
	const struct predict_scope *scope = context;
	const struct bench_machine *machine = &scope->results->machine;
	const struct bench_row *row;

	if (!strcmp(name, "cycle"))
		return predict_value(machine->cycle_ns, value);
	if (!strcmp(name, "memory_available"))
		return predict_value(machine->available_bytes, value);
	if (!strcmp(name, "point")) {
		*value = predict_point(scope->row);
		return isnan(*value) ? -ENODATA : 0;
	}
	if (!strncmp(name, "cache_", 6) && strchr("123", name[6]) && name[6] && !name[7])
		return predict_value(machine->cache_bytes[name[6] - '1'], value);
	if (!strcmp(name, "cache_line"))
		return predict_value(machine->line_bytes, value);
	row = bench_results_find(scope->results, name);
	if (!row)
		return bench_plan_knows(name) ? -ENODATA : -ENOENT;
	return bench_row_measured(row) ? predict_value(row->figures.mean, value) : -ENODATA;
}

static void predict_figure(struct bench_results *results, struct bench_row *row,
			   struct bench_figure *figure, const char *formula, bool given)
{
	struct predict_scope scope = { results, row };
	const struct formula_names names = {
		.lookup = predict_lookup,
		.context = &scope,
		.cycle_ns = results->machine.cycle_ns,
	};

	*figure = (struct bench_figure){ .value = NAN, .given = given };
	if (!formula)
		return;
	snprintf(figure->formula, sizeof(figure->formula), "%s", formula);
	formula_evaluate(formula, &names, &figure->value, &figure->why);
}

/* The user's formula for the row, or else for the row's operation. The last formula wins. */
static const char *predictions_find(const struct predictions *predictions,
				    const struct bench_row *row, bool hardware)
{
	const struct prediction *prediction;
	const char *found = NULL;
	bool exact = false, is_row;
	size_t i;

	for (i = 0; i < predictions->nr; i++) {
		prediction = &predictions->all[i];
		is_row = !strcmp(prediction->name, row->name);
		if (prediction->hardware != hardware ||
		    (!is_row && (exact || strcmp(prediction->name, row->operation->name))))
			continue;
		found = prediction->formula;
		exact = is_row;
	}
	return found;
}

void predict_rows(struct bench_results *results, const struct predictions *predictions)
{
	struct bench_row *row;
	const char *given;
	size_t i;

	for (i = 0; i < results->nr; i++) {
		row = &results->rows[i];
		given = predictions_find(predictions, row, true);
		predict_figure(results, row, &row->hardware, given ?: row->operation->hardware,
			       given);
		given = predictions_find(predictions, row, false);
		predict_figure(results, row, &row->predicted, given ?: row->operation->prediction,
			       given);
	}
}
