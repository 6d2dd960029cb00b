"""Runs docs/sql on an engine over Parquet files of records, and compares with `neuronscope aggregate` on the same records.

usage: sql.py duckdb|datafusion NEURONSCOPE [FOLDER_OF_JSONL]

Without a folder, records of twelve days are made up: four backends, models that come and go, several batch sizes,
failures, records that replace others, and too few repeats. Prints `N compared; M differ`, and ends with 1 when any does.
"""

import csv
import datetime
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SQL = pathlib.Path(__file__).resolve().parents[2] / "docs" / "sql"
BACKENDS = {
    "inductor": (None, "inductor"),
    "eager": (None, None),
    "openxla+dynamo": ("PJRT", "openxla"),
    "openxla+lazytensor": ("PJRT", None),
}
PRODUCT = "One of Tesla V100"
# The reports round to 8 decimals; the engines add up in another order.
NEAR = 2e-8


def made_up(folder):
    """Writes a file for each day."""
    draw = random.Random(1)
    for day in range(12):
        with open(folder / f"2023-11-{day + 1:02}.jsonl", "w") as out:
            lines = []
            for model in range(23):
                if model % 5 == day % 7:
                    continue
                for backend, (xla, dynamo) in BACKENDS.items():
                    if draw.random() < 0.1:
                        continue
                    for batch in [1, 16] if model % 3 == 0 else [None if model == 7 else 8]:
                        lines.append(record(draw, day, model, xla, dynamo, batch))
            # Some measured again: the later record counts.
            lines += [dict(line, metrics=times(draw)) for line in draw.sample(lines, 5)]
            out.writelines(json.dumps(line) + "\n" for line in lines)


def times(draw):
    seconds = draw.uniform(0.01, 2)
    return {"total_time": [seconds * draw.uniform(0.9, 1.2) for _ in range(draw.choice([3, 4, 5, 10]))]}


def record(draw, day, model, xla, dynamo, batch):
    product = PRODUCT + "-SXM2-16GB, ..." if model != 11 else "NVIDIA A100-SXM4-40GB"
    return {
        "model": {"suite_name": "torchbench", "model_name": f"model_{model}"},
        "experiment": {
            "accelerator": "cuda", "accelerator_model": product, "xla": xla, "xla_flags": None, "dynamo": dynamo,
            "torch_xla2": None, "test": "train" if model == 13 else "eval", "batch_size": batch,
        },
        "repeat": 10, "iterations_per_run": 1,
        "metrics": {"error": "SKIP"} if draw.random() < 0.05 else times(draw),
        "timestamp": 1699488000 + day * 86400 + 0.25,
    }  # fmt: skip


class DuckDb:
    def __init__(self, folder):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(f"CREATE VIEW records AS SELECT * FROM '{folder}/*.parquet'")

    def run(self, sql):
        return self.connection.execute(sql).fetchall()


class DataFusion:
    def __init__(self, folder):
        import datafusion

        self.context = datafusion.SessionContext()
        self.context.sql(f"CREATE EXTERNAL TABLE records STORED AS PARQUET LOCATION '{folder}/'").collect()

    def run(self, sql):
        batches = self.context.sql(sql).collect()
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def ours(program, folder, report):
    """What `aggregate` prints: {(column of the timestamp or model, backend): numbers}."""
    files = sorted(map(str, folder.glob("*.jsonl")))
    command = [program, "aggregate", f"--report={report}", "--backends", *BACKENDS, "--", *files]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(io.StringIO(printed)))[1:]
    width = {"speedup": 2, "histogram": 3, "latest": 3}[report]
    found = {}
    for row in rows:
        for at, backend in enumerate(BACKENDS):
            cells = row[1 + at * width : 1 + (at + 1) * width]
            if report == "latest" and cells[2]:
                found[cells[2], backend] = [float(c) for c in cells[:2]]
            elif report != "latest" and cells[0]:
                found[row[0], backend] = [float(c) for c in cells]
    return found


def theirs(engine, report):
    rows = engine.run((SQL / f"{report}.sql").read_text())
    if report == "latest":
        return {(model, backend): [speedup, std] for backend, model, speedup, std in rows}
    count = {"speedup": 2, "histogram": 3}[report]
    return {(date(row[0]), row[1]): list(row[2 : 2 + count]) for row in rows}


def date(seconds):
    return str(datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).replace(tzinfo=None))


def main(name, program, given=None):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(given or scratch)
        if given is None:
            made_up(folder)
        tables = pathlib.Path(scratch) / "tables"
        tables.mkdir()
        for file in folder.glob("*.jsonl"):
            output = tables / (file.stem + ".parquet")
            subprocess.run([program, "parquet", file, "--output", output], check=True, capture_output=True)
        engine = {"duckdb": DuckDb, "datafusion": DataFusion}[name](tables)
        engine.run(f"CREATE VIEW chosen AS SELECT 'inductor' AS baseline, 'eval' AS test, '{PRODUCT}' AS product")
        engine.run((SQL / "model_speedups.sql").read_text())
        compared, differ = 0, 0
        for report in ["speedup", "histogram", "latest"]:
            start = time.perf_counter()
            expected = ours(program, folder, report)
            between = time.perf_counter()
            found = theirs(engine, report)
            print(f"{report}: aggregate {between - start:.2f} s, {name} {time.perf_counter() - between:.2f} s")
            for key in expected.keys() | found.keys():
                compared += 1
                a, b = expected.get(key), found.get(key)
                if a is None or b is None or any(abs(x - y) > NEAR * max(1, abs(x)) for x, y in zip(a, b, strict=True)):
                    differ += 1
                    print(f"{report}, {key}: aggregate {a}, {name} {b}")
        if compared == 0:
            differ = 1
        print(f"{compared} compared; {differ} differ")
        return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
