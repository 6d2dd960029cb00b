"""Reports: made of timers, printed, written."""

from __future__ import annotations

import json

from ..calls import run

_FILE = "reports.json"


class Reports(list):
    """Dictionaries, with the page of the benchmark where it is known."""

    page = None


def _report(reports, *args):
    """What ``neuronscope report`` prints for reports."""
    return run(["report", _FILE, *args], files={_FILE: json.dumps(list(reports)).encode()})[0].decode()


def columns(name):
    """NeuronPerf's columns, which the command line knows."""
    row = [{"model_name": "", "throughput_avg": 1.0, "status": "finished", "batch_size": 1, "n_models": 1, "workers_per_model": 1}]
    if name == "CSV_COLS":
        return _report(row, "--csv").splitlines()[0].split(",")
    return _report(row).splitlines()[0].split()


def _choices(cols, sort_by, reverse):
    args = [f"--cols={','.join(cols)}"] if cols else []
    args += [f"--sort-by={sort_by}"] if sort_by else []
    return args + (["--reverse"] if reverse else [])


def print_reports(reports, cols=None, sort_by=None, reverse=False):
    """Prints a table of reports."""
    if not reports:
        print("There are no reports.")
        return
    # Sentences about the rows follow the table.
    table = _report(reports, *_choices(cols, sort_by, reverse)).split("\n\n")[0]
    print(table.rstrip("\n"))


def _name(reports, filename, ending):
    if filename is not None:
        return filename
    import time

    label = (reports[0].get("model_name") if reports else None) or "Model"
    label = "".join(c if c not in '/\\:' else "_" for c in label)
    return f"{label}.results-{time.strftime('%Y%m%d-%H%M%S')}.{ending}"


def write_csv(reports, filename=None, cols=None):
    """Writes NeuronPerf's columns, or ``cols``. Returns the file's name."""
    filename = _name(reports, filename, "csv")
    with open(filename, "w", encoding="utf-8", newline="") as file:
        file.write(_report(reports, "--csv", *_choices(cols, None, False)))
    return filename


def write_json(reports, filename=None):
    """Writes everything. Returns the file's name."""
    filename = _name(reports, filename, "json")
    with open(filename, "w", encoding="utf-8") as file:
        json.dump(list(reports), file, indent=2)
    return filename


def get_reports(results, cost_per_hour=None):
    """The reports of what ``benchmark(..., return_timers=True)`` returned."""
    from .timer import Timer

    plain = lambda value: value.pairs() if isinstance(value, Timer) else vars(value)  # noqa: E731
    timers = json.dumps(results, default=plain).encode()
    args = ["report", "timers.json", "--json", "--json-format=neuronperf"]
    args += [f"--cost-per-hour={cost_per_hour}"] if cost_per_hour is not None else []
    return Reports(json.loads(run(args, files={"timers.json": timers})[0]))


def get_report_by_tag(reports, tag):
    """The report whose ``model_name`` is the tag."""
    found = [report for report in reports if report.get("model_name") == tag]
    if not found:
        names = ", ".join(sorted({str(report.get("model_name")) for report in reports}))
        raise KeyError(f"no report has the name {tag!r}; there are {names}")
    return found[0]
