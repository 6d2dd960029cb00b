"""Has TensorBoard, with its profile plugin, open a log directory in a zip, and counts the slices of its trace viewer.

usage: tensorboard.py TENSORBOARD FILE.logdir.zip   prints {"name": [count, total_ns], ...} as JSON
"""

import gzip
import json
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
        finally:
            server.terminate()
            server.wait()
    totals = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            row = totals.setdefault(event["name"], [0, 0])
            row[0] += 1
            row[1] += int((Decimal(event["dur"]) * 1000).to_integral_value())
    json.dump(totals, sys.stdout)


main(sys.argv[1], sys.argv[2])
