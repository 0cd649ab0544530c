# SPDX-License-Identifier: GPL-2.0-only
"""The metrics and labels named in Prometheus expressions, rules and dashboards.

A metric family is known by labels: {"pfstat_faults_total": {"cgroup", "class"}, …}.
"""
import re

# Prometheus adds them to each sample.
SCRAPED = {"instance", "job"}
# Metrics from other exporters used in the rules, with their labels.
FOREIGN = {"node_textfile_mtime_seconds": {"file"}}
WORDS = {"and", "or", "unless", "bool", "offset", "group_left", "group_right"}
GROUPING = re.compile(r"\b(by|without|on|ignoring)\s*\(([^)]*)\)")
SELECTOR = re.compile(r"(?<![\w$.])([A-Za-z_:][\w:]*)\s*(?:\{([^}]*)\})?(?![\w:]*\s*\()")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')


def plain(expression):
    """Without time ranges and groupings."""
    return GROUPING.sub(" ", re.sub(r"\[[^\]]*\]", " ", expression))


def selectors(expression):
    """(metric, [(label, operator, value)]) for each selector."""
    return [(match[1], MATCHER.findall(match[2] or ""))
            for match in SELECTOR.finditer(plain(expression)) if match[1] not in WORDS]


def groupings(expression):
    """(word, labels) for each grouping."""
    return [(word, {label.strip() for label in labels.split(",") if label.strip()})
            for word, labels in GROUPING.findall(expression)]


def result_labels(expression, families):
    """The result's labels, if it has one grouping, or none."""
    labels = set().union(*(families.get(name, set()) for name, _ in selectors(expression)))
    for word, grouped in groupings(expression):
        labels = labels & grouped if word == "by" else labels - grouped
    return labels


def errors(expression, families, values):
    """Sentences about missing names. values: {label: the label's values}, where all are known."""
    known = families | FOREIGN
    found, labels = [], set(SCRAPED)
    if not selectors(expression):
        found.append(f"no metric in {expression}")
    for name, matchers in selectors(expression):
        if name not in known:
            found.append(f"no metric {name}")
            continue
        labels |= known[name]
        for label, operator, value in matchers:
            if label not in known[name] | SCRAPED:
                found.append(f"{name} has no label {label}")
            elif label in values and operator in ("=", "!=") and value not in values[label]:
                found.append(f"label {label} has no value {value}")
    for _, grouped in groupings(expression):
        found += [f"no metric of the expression has a label {label}" for label in grouped - labels]
    return found


def text_errors(text, labels):
    """The same for an annotation or a legend: {{ $labels.cgroup }}, {{cgroup}}."""
    named = re.findall(r"\$labels\.(\w+)", text) + re.findall(r"\{\{\s*(\w+)\s*\}\}", text)
    return [f"no label {label} for {text}" for label in named if label not in labels | SCRAPED]


def rule_errors(groups, families, values):
    """Errors in a rule file's groups. Recorded metrics are known to later rules."""
    known, found = dict(families), []
    for rule in (rule for group in groups for rule in group["rules"]):
        found += errors(rule["expr"], known, values)
        labels = result_labels(rule["expr"], known | FOREIGN)
        for text in rule.get("annotations", {}).values():
            found += text_errors(text, labels)
        if "record" in rule:
            known[rule["record"]] = labels
    return found


def dashboard_errors(dashboard, families, values):
    """Errors in a Grafana dashboard's panels and variables."""
    found = []
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            found += errors(target["expr"], families, values)
            found += text_errors(target["legendFormat"], result_labels(target["expr"], families))
    variables = {entry["name"]: entry for entry in dashboard["templating"]["list"]}
    for name, variable in variables.items():
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)",
                                         variable["query"]["query"]).groups()
            found += errors(metric, families, values)
            found += text_errors("{{%s}}" % label, result_labels(metric, families))
            found += [f"variable {name} has the query {variable['definition']}"
                      for _ in range(variable["definition"] != variable["query"]["query"])]
    used = set(re.findall(r"\$\{?(\w+)", str(dashboard))) - {"__rate_interval", "__all"}
    return found + [f"no variable {name}" for name in used - variables.keys()]
