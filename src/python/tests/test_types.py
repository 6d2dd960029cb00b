"""The types of the package: they have every option of every command, and mypy and pyright accept them (where they are installed)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

FILE = pathlib.Path(__file__).resolve().parent.parent / "python" / "neuronscope" / "_options.pyi"

# The commands that are functions and methods, and the flags that these name themselves.
COMMANDS = {
    "bench": "model inputs verbosity",
    "profile": "model inputs",
    "compare": "",
    "inspect": "model inputs",
    "numerics": "model inputs",
    "customop": "kernel",
    "nki": "rank",
    "generate": "model",
    "fit": "model",
    "validate": "",
    "operators": "",
    "idle": "",
    "critical-path": "",
    "flame": "",
    "counters": "",
}

HEAD = '''"""The options of each command. UPDATE_DOCS=1 pytest tests/test_types.py writes this file from the help of the commands."""

from os import PathLike
from typing import Any, Mapping, Optional, Protocol, Sequence, Union

from typing_extensions import TypedDict

class _Array(Protocol):
    def tolist(self) -> Any: ...

Switch = Optional[bool]
Value = Union[str, int, float, "PathLike[str]", _Array, "Sequence[Any]", Mapping[str, Any], None]
'''


def options(command):
    """The options of a command with their types."""
    told = subprocess.run([sys.executable, "-m", "neuronscope", command, "--help"], capture_output=True, text=True, check=True).stdout
    for name, value in re.findall(r"^  (?:-\w, |    )--([\w-]+)(.*)$", told, re.MULTILINE):
        if name not in {"json", "help", *COMMANDS[command].split()}:
            yield name.replace("-", "_"), "Value" if re.match(r"[ =]?[<\[]", value) else "Switch"


def test_the_types_have_every_option():
    text = HEAD
    for command in COMMANDS:
        name = "".join(word.capitalize() for word in command.split("-"))
        text += f"\nclass {name}Options(TypedDict, total=False):\n" + "".join(f"    {option}: {kind}\n" for option, kind in options(command))
    if os.environ.get("UPDATE_DOCS"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text, "run the test with UPDATE_DOCS=1"


USE = """
import numpy
import neuronscope
import neuronscope.neuronperf as npf
import neuronscope.neuronperf.torch

def use() -> None:
    reports = neuronscope.benchmark("nn", n_models=numpy.array([1, 2]), workers_per_model=[1, 2], duration=2, preprocess_fn="lambda x: x")
    best: float = max(report.throughput_avg for report in reports)
    print(reports.link(), reports[0].to_dict(), reports[:1], best)
    with neuronscope.open("trace.json") as profile:
        print(profile.operators(top=3).to_numpy(), profile.query("count()"), profile.device_window_ns)
    print(neuronscope.fit("llama-2-7b", input=128).table("rows"), neuronscope.validate("a.csv", calibrate=True))
    index = npf.torch.compile("nn", batch_sizes=[1], filename="nn.json")
    npf.print_reports(npf.torch.benchmark(index, duration=1))
    with npf.Timer() as _:
        pass
    print(neuronscope.command("devices"), neuronscope.profile("nn", workflow="trace").critical_path())
"""

WRONG = """
import neuronscope
neuronscope.benchmark("nn", n_modles=1)
neuronscope.profile("nn").operators(tpo=3)
"""


@pytest.mark.parametrize("checker, args", [("mypy", ["--strict"]), ("pyright", ["--pythonpath", sys.executable])])
def test_a_checker_accepts_the_types_and_finds_a_wrong_option(checker, args):
    program = shutil.which(checker, path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if program is None:
        pytest.skip(f"{checker} is not installed")

    def check(text):
        pathlib.Path("use.py").write_text(text, encoding="utf-8")
        return subprocess.run([program, *args, "use.py"], capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(FILE.parent.parent)})

    done = check(USE)
    assert done.returncode == 0, done.stdout + done.stderr
    done = check(WRONG)
    assert done.returncode == 1 and "n_modles" in done.stdout and "tpo" in done.stdout, done.stdout + done.stderr
