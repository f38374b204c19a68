"""Results as a table and as JSON, each figure beside its base and its target."""

import json
import os
import statistics
import time

from scenarios import BIGGER_IS_BETTER, SCENARIOS, TARGETS

COLUMNS = ("floor", "bare", "rmcp", "rmcp-pool", "ours")
OWN = {"list": ("wall_ms", "own_ms"), "explorer": ("seconds",), "core": ("inputs_per_s",),
       "discovery": ("cpu_ms",), "watching": ("cpu_ms",),
       **{f"servers-{language}": ("cpu_ms",) for language in ("own", "shared", "toml", "yaml")}}


def median(runs, metric):
    values = [run[metric] for run in runs if metric in run]
    return statistics.median(values) if values else None


def ratio(runs, base, metric):
    """The median over rounds of one column to another; rates inverted: above 1 is worse."""
    pairs = [(a[metric], b[metric]) for a, b in zip(runs, base) if a.get(metric) and b.get(metric)]
    if not pairs:
        a, b = median(runs, metric), median(base, metric)
        if not a or not b:
            return None
        pairs = [(a, b)]
    return statistics.median(b / a if metric in BIGGER_IS_BETTER else a / b for a, b in pairs)


def show(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def verdicts(rows, scenario, metric):
    """The targets of a figure: each with what was reached, and whether that meets it."""
    targets = TARGETS.get((scenario, metric), ())
    targets = (targets,) if isinstance(targets, dict) else targets
    return [verdict(rows, metric, target) for target in targets] if "ours" in rows else []


def verdict(rows, metric, target):
    base = target.get("of")
    reached = ratio(rows["ours"], rows.get(base, []), metric) if base else median(rows["ours"], metric)
    if "at_least" in target:
        bound, met = f"≥ {show(target['at_least'])}", reached is not None and reached >= target["at_least"]
    else:
        of = f" × {base}" if base else ""
        bound, met = f"≤ {show(target['at_most'])}{of}", reached is not None and reached <= target["at_most"]
    return {"target": bound, "reached": reached, "met": met}


def rows_of(results):
    for scenario, rows in results.items():
        metrics = SCENARIOS[scenario].metrics if scenario in SCENARIOS else OWN[scenario]
        for metric in metrics:
            yield scenario, rows, metric


def cell(rows, column, metric):
    runs = rows.get(column, [])
    value = median(runs, metric)
    if value is None:
        return "failed" if any("error" in run for run in runs) else ""
    base = "floor" if median(rows.get("floor", []), metric) else "bare"
    against = ratio(runs, rows.get(base, []), metric) if column != base else None
    return show(value) + (f" ({show(against)}×)" if against else "")


def markdown(results):
    lines = ["| scenario | metric | " + " | ".join(COLUMNS) + " | target | reached | met |",
             "|---|---|" + "---:|" * (len(COLUMNS) + 2) + "---|"]
    for scenario, rows, metric in rows_of(results):
        cells = [cell(rows, column, metric) for column in COLUMNS]
        if not any(cells):
            continue
        goals = [(goal["target"], show(goal["reached"]), "yes" if goal["met"] else "**no**")
                 for goal in verdicts(rows, scenario, metric)]
        goal = [", ".join(column) for column in zip(*goals)] or ("", "", "")
        lines.append(f"| {scenario} | {metric} | " + " | ".join([*cells, *goal]) + " |")
    return "\n".join(lines)


def save(path, results):
    targets = [{"scenario": scenario, "metric": metric, **goal}
               for scenario, rows, metric in rows_of(results) for goal in verdicts(rows, scenario, metric)]
    path.write_text(json.dumps({"version": 1, "date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(),
                                "targets": targets, "results": results}, indent=1) + "\n")
    return targets
