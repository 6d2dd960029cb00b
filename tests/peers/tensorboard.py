"""Has TensorBoard, with its profile plugin, open a log directory in a zip, counts the slices of its trace viewer, and compares its tables of
operators and its op profile with the plane that they are made of.

usage: tensorboard.py TENSORBOARD FILE.logdir.zip   prints {"name": [count, total_ns], ...} as JSON
"""

import gzip
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from decimal import Decimal

SECONDS = 120
TABLES = ("framework_op_stats", "hlo_stats", "op_profile")


def get(port, path, **query):
    url = f"http://127.0.0.1:{port}/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        data = answer.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, parse_float=Decimal)


def wait_for(port, server):
    for _ in range(10 * SECONDS):
        if server.poll() is not None:
            sys.exit("TensorBoard ended")
        try:
            return get(port, "data/plugins_listing")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit(f"TensorBoard does not answer within {SECONDS} s")


def check_tables(trace, cores, tables):
    """The operators of the cores' planes have a row in each table, whose self times add up to the time in which they run."""
    threads = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e.get("name") == "thread_name" and e["args"]["name"] == "XLA Ops"}
    ops = [e for e in trace["traceEvents"] if e.get("ph") == "X" and e["pid"] in cores and (e["pid"], e["tid"]) in threads]
    busy_us, end = Decimal(0), {}
    for op in sorted(ops, key=lambda e: e["ts"]):
        first = max(op["ts"], end.get(op["pid"], op["ts"]))
        end[op["pid"]] = max(op["ts"] + op["dur"], first)
        busy_us += end[op["pid"]] - first
    hlo, framework = tables["hlo_stats"], tables["framework_op_stats"][0]
    columns = {name: [c["id"] for c in table["cols"]].index("total_self_time") for name, table in (("hlo", hlo), ("framework", framework))}
    cells = lambda table: [[cell["v"] for cell in row["c"]] for row in table["rows"]]
    rows = {"hlo": cells(hlo), "framework": [row for row in cells(framework) if "IDLE" not in row]}
    for name, table in rows.items():
        total = sum(Decimal(str(row[columns[name]])) for row in table)
        if bool(ops) != bool(table) or abs(total - busy_us) > Decimal("0.001") + busy_us / 1000:
            sys.exit(f"{name}: {len(table)} rows of {total} us, and the operators run for {busy_us} us")
    if bool(ops) != bool(tables["op_profile"]["byProgramExcludeIdle"].get("children")):
        sys.exit("the op profile does not have the operators of the planes")


def main(tensorboard, archive):
    with tempfile.TemporaryDirectory() as logs, socket.socket() as free:
        zipfile.ZipFile(archive).extractall(logs)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [tensorboard, "--load_fast=false", "--logdir", logs, "--host", "127.0.0.1", "--port", str(port)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not wait_for(port, server)["profile"]["enabled"]:
                sys.exit("the profile plugin finds no run")
            plugin = "data/plugin/profile"
            (run,) = get(port, f"{plugin}/runs")
            (host,) = get(port, f"{plugin}/hosts", run=run, tag="trace_viewer")
            trace = get(port, f"{plugin}/data", run=run, tag="trace_viewer", host=host["hostname"])
            tables = {tag: get(port, f"{plugin}/data", run=run, tag=tag, host=host["hostname"]) for tag in TABLES}
        finally:
            server.terminate()
            server.wait()
    # The planes of cores, from which the tables are made, tell again what the timeline tells.
    named = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "process_name"}
    cores = {pid for pid, name in named.items() if re.fullmatch("/device:TPU:[0-9]+", name)}
    check_tables(trace, cores, tables)
    totals = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "X" and event["pid"] not in cores:
            row = totals.setdefault(event["name"], [0, 0])
            row[0] += 1
            row[1] += int((Decimal(event["dur"]) * 1000).to_integral_value())
    json.dump(totals, sys.stdout)


main(sys.argv[1], sys.argv[2])
