"""Scripts of the SDK under ``python -m neuronscope``."""

import pathlib
import subprocess
import sys

import pytest


def run(script, *args, status=0):
    pathlib.Path("run.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "neuronscope", *args, "run.py", "given"], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_neuronperf_has_its_real_name(cli):
    cli("compile", "--model=nn", "--batch_sizes=1", "--models_dir=models", "--filename=nn.json")
    out, said = run(
        """
import sys
import neuronperf as npf
import neuronperf.torch
assert sys.argv == ["run.py", "given"]
reports = npf.torch.benchmark("nn.json", n_models=1, workers_per_model=1, duration=2)
npf.print_reports(reports)
"""
    )
    table = cli("bench", "nn.json", "--n_models=1", "--workers_per_model=1", "--duration=2")
    assert out.splitlines() == table.splitlines()[:2]
    assert "simulated trn1.2xlarge" in said


def test_the_clock_is_the_devices():
    out, _ = run(
        """
import time
from neuronscope import clock
begin = time.perf_counter()
clock.advance_ms(250)
time.sleep(1)
print(time.perf_counter() - begin)
""",
        "--clock=simulated",
    )
    assert float(out) == pytest.approx(1.25)


WAITS = """
import asyncio, queue, threading, time

async def wait():
    await asyncio.wait_for(asyncio.sleep(0.2), 5)

def work():
    sum(range(3000000))

begin = time.perf_counter()
asyncio.run(wait())
try:
    queue.Queue().get(timeout=0.2)
except queue.Empty:
    threading.Event().wait(0.6)
waited = time.perf_counter()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(waited - begin, time.perf_counter() - waited)
"""


def test_the_default_clock_counts_work_not_waits():
    """Other programs of a busy machine do not change it; queues and event loops go on by the time of the machine."""
    waited, worked = map(float, run(WAITS)[0].split())
    assert waited < 0.4 and worked > 0.01
    waited, _ = map(float, run(WAITS, "--clock=measured")[0].split())
    assert waited > 0.9
    assert run(WAITS, "--clock=simulated")[0] == "0.0 0.0\n"


def test_what_does_not_exist_is_named_with_its_line():
    _, said = run("import neuronperf\n\nneuronperf.print_results([])\n", status=1)
    assert "run.py:3" in said and "print_results" in said and "print_reports" in said


@pytest.mark.parametrize(
    "module, told",
    [
        ("neuronperf.nothing", "neuronperf has no nothing on the simulated device; it has "),
        ("neuronperf.torch.nothing", "neuronperf.torch has no nothing on the simulated device; it has "),
    ],
)
def test_a_module_that_is_not_there_is_named_with_what_is(module, told):
    assert f"run.py:1: {told}" in run(f"import {module}\n", status=1)[1]


def test_a_missing_package_is_named():
    _, said = run("import a_package_that_is_not_there\n", status=1)
    assert "run.py:1" in said and "pip install a_package_that_is_not_there" in said


@pytest.mark.parametrize("module, told", [("neuronx_distributed", "generate"), ("transformers_neuronx", "fit"), ("vllm", "generate"), ("optimum.exporters", "export=True")])
def test_packages_that_are_not_simulated_name_the_command_that_answers(module, told):
    _, said = run(f"import {module}\n", status=1)
    assert "run.py:1" in said and told in said and "pip install" not in said


def test_a_command_in_place_of_a_script(cli):
    done = subprocess.run([sys.executable, "-m", "neuronscope", "models"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == cli("models")
    done = subprocess.run([sys.executable, "-m", "neuronscope", "bench", "--nope"], capture_output=True, text=True)
    assert done.returncode == 2 and "--nope" in done.stderr


def test_torchrun_with_one_process():
    pathlib.Path("run.py").write_text("import os, sys\nprint(os.environ['LOCAL_RANK'], os.environ['WORLD_SIZE'], sys.argv[1:])\n", encoding="utf-8")
    started = lambda *args: subprocess.run([sys.executable, "-m", "neuronscope", *args, "run.py", "--lr=1"], capture_output=True, text=True)  # noqa: E731
    assert started("torchrun", "--nproc_per_node", "1", "--standalone").stdout == "0 1 ['--lr=1']\n"
    done = started("torchrun", "--nproc-per-node=32")
    assert done.returncode == 2 and "write --nproc_per_node=1" in done.stderr
    done = started()
    assert done.returncode == 1 and "run.py:2: LOCAL_RANK is set by torchrun" in done.stderr and "Traceback" not in done.stderr


def test_a_process_that_is_spawned_has_the_modules_and_the_settings():
    out, _ = run(
        """
import multiprocessing
import neuronperf

def work(name):
    import neuronperf.torch
    from neuronscope import clock, device
    before = clock.current.device_ns
    clock.advance_ms(1)
    return neuronperf.torch.__name__, device.settings.values, device.settings.instance, clock.current.device_ns - before

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.map(work, ["a"])[0])
""",
        "--clock=simulated",
        "--values=cpu",
        "--instance=inf2.xlarge",
    )
    assert out == "neuronscope.neuronperf.torch cpu inf2.xlarge 1000000\n"


def test_errors_of_the_script_itself_are_shown_as_python_shows_them():
    _, said = run("def wrong():\n    return 1 / 0\n\nwrong()\n", status=1)
    assert said.count("File ") == 2 and 'run.py", line 2, in wrong' in said and said.endswith("ZeroDivisionError: division by zero\n")


def test_a_package_may_ask_whether_another_one_is_there():
    out, _ = run("import importlib.util\nprint(importlib.util.find_spec('vllm'), importlib.util.find_spec('neuronperf') is not None)\n")
    assert out == "None True\n"
