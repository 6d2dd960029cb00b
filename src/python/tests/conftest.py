"""What the tests share: the command line, whose output the package must give."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACES = ROOT / "tests/it/fixtures/traces"


@pytest.fixture
def cli():
    program = os.environ.get("NEURONSCOPE_CLI") or shutil.which("neuronscope")
    if not program:
        pytest.skip("NEURONSCOPE_CLI names no command line")

    def run(*args, cwd=None):
        return subprocess.run([program, *map(str, args)], check=True, capture_output=True, text=True, cwd=cwd).stdout

    run.json = lambda *args, **how: json.loads(run(*args, **how))
    return run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test has a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
