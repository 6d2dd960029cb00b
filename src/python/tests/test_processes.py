"""Calls from an event loop, from processes and from other interpreters, and results that travel between them."""

import asyncio
import multiprocessing
import pickle
import subprocess
import sys

import pytest

import neuronscope

OPTIONS = dict(n_models=1, workers_per_model=[1, 2], duration=2)


def test_calls_run_beside_an_event_loop():
    expected = neuronscope.benchmark("nn", **OPTIONS)

    async def all_at_once():
        ticks = 0
        calls = asyncio.gather(*(asyncio.to_thread(neuronscope.benchmark, "nn", **OPTIONS) for _ in range(3)))
        while not calls.done():
            await asyncio.sleep(0)
            ticks += 1
        return await calls, ticks

    found, ticks = asyncio.run(all_at_once())
    assert all(reports == expected for reports in found)
    # The loop goes on while the calls work: they hold no lock of the interpreter.
    assert ticks > 1


def test_results_are_pickled(folder):
    reports = neuronscope.benchmark("nn", **OPTIONS)
    again = pickle.loads(pickle.dumps(reports))
    assert again == reports and type(again) is type(reports)
    assert again.to_html() == reports.to_html() and again[0].throughput_avg == reports[0].throughput_avg
    profile = neuronscope.profile("nn")
    opened = pickle.loads(pickle.dumps(profile))
    assert opened.to_dict() == profile.to_dict() and opened.operators() == profile.operators()
    memory = neuronscope.generate("llama-3-8b", instance="inf2.48xlarge", tp=24, output=16)
    assert pickle.loads(pickle.dumps(memory)) == memory


def test_a_process_that_is_spawned_gets_the_same():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(_throughput, [(1,), (2,)])
    assert found == [_throughput(1), _throughput(2)] and found[0] != found[1]


def _throughput(copies):
    return neuronscope.benchmark("nn", n_models=copies, workers_per_model=1, duration=2)[0].throughput_avg


def test_another_interpreter_of_the_process():
    """It works there, or the import is refused with an exception; the first interpreter goes on in any case."""
    script = """
import neuronscope
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
try:
    found = run(interpreters.create(), "import neuronscope\\nprint(len(neuronscope.models()) > 20)")
    if found is not None:
        print("ImportError" in str(found.formatted))
except Exception as error:
    print("ImportError" in str(error))
print(neuronscope.benchmark("nn", n_models=1, workers_per_model=1, duration=2)[0].n_models)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if "No module named '_xxsubinterpreters'" in done.stderr:
        pytest.skip("this Python has no module for other interpreters")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "1"], done.stdout
