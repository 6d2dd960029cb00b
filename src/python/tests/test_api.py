"""The functions of the package give what the commands of the same names give."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading

import pytest

import neuronscope
from conftest import TRACES

CHROME = TRACES / "tracelens_bert_small_mi300.json.gz"


def test_reports_are_the_command_lines(cli):
    reports = neuronscope.benchmark("nn", n_models=[1, 2], workers_per_model=[1, 2], duration=2)
    told = cli.json("bench", "--model", "nn", "--n_models", "[1, 2]", "--workers_per_model", "[1, 2]", "--duration", 2, "--json")
    assert reports.to_dicts() == told["reports"]
    assert reports[0].throughput_avg == told["reports"][0]["throughput_avg"]
    with pytest.raises(AttributeError, match="it has model_filename"):
        reports[0].throughput


def test_reports_are_a_page(cli):
    reports = neuronscope.benchmark("nn", n_models=1, workers_per_model=1, duration=1)
    cli("bench", "--model=nn", "--n-models=1", "--workers-per-model=1", "--duration=1", "--html=page.html")
    reports.save_html("ours.html")
    with open("page.html", encoding="utf-8") as page, open("ours.html", encoding="utf-8") as ours:
        assert page.read() == ours.read()
    assert reports.link("https://example.org/") .startswith("https://example.org/#/benchmark")
    shown = reports._repr_html_()
    assert shown.startswith("<iframe sandbox") and "&lt;html" in shown and "<html" not in shown
    assert str(reports).splitlines()[0].split()[0] == "throughput_avg"
    assert pickle.loads(pickle.dumps(reports)) == reports


def test_a_profile_answers_questions_without_a_second_reading(cli):
    profile = neuronscope.open(CHROME)
    assert profile.to_dict() == cli.json("open", CHROME, "--json")
    # The file has remarks, which stand beside the rows.
    answer, printed = profile.operators(), cli.json("operators", CHROME, "--json")
    assert [row.to_dict() for row in answer] == printed["rows"]
    assert [remark["code"] for remark in answer.remarks] == [remark["code"] for remark in printed["remarks"]] != []
    os.makedirs("out")
    profile.save("out/run.pftrace", format="perfetto")
    assert os.path.getsize("out/run.pftrace") > 1000
    assert "<html" in profile.to_html()
    profile.close()
    with pytest.raises(neuronscope.Error, match="closed"):
        profile.operators()


def test_a_simulated_execution(cli):
    profile = neuronscope.profile("nn", workflow="trace")
    assert profile.to_dict() == cli.json("profile", "--model=nn", "--workflow=trace", "--json")
    assert profile.summary().to_dict() == cli.json("profile", "--model=nn", "--workflow=trace", "--summary", "--json")
    assert profile.link().startswith("http://127.0.0.1:8080/#/profile")
    assert len(profile.operators()) == len(cli.json("operators", "sim:nn?workflow=trace", "--json"))
    assert pickle.loads(pickle.dumps(profile)).to_dict() == profile.to_dict()


def test_other_commands(cli):
    same = lambda found, *args: found.to_dict() == cli.json(*args, "--json")  # noqa: E731
    assert same(neuronscope.compare("sim:nn", "sim:nn?workflow=trace"), "compare", "sim:nn", "sim:nn?workflow=trace")
    assert same(neuronscope.numerics("nn"), "numerics", "--model=nn")
    assert same(neuronscope.generate("llama-2-7b", tp=8, output=256), "generate", "--model=llama-2-7b", "--tp=8", "--output=256")
    config = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
    sizes = {"tp": 2, "input": 16, "output": 16}
    assert neuronscope.generate(model_config=config, **sizes).to_dict() == neuronscope.generate(config, **sizes).to_dict()
    assert same(neuronscope.fit("llama-2-7b", batch=4), "fit", "--model=llama-2-7b", "--batch=4")
    assert same(neuronscope.customop("relu-tcm", layers=[16, 64, 10], batch=4), "customop", "--kernel=relu-tcm", "--layers=16,64,10", "--batch=4")
    assert same(neuronscope.nki("silu", set={"WIDTH": [256, 512]}), "nki", "silu", "--set=WIDTH=256,512")
    assert "nn" in {model.name for model in neuronscope.models()}
    assert neuronscope.command("evaluate") == neuronscope.command(["evaluate"]) == cli("evaluate")


def test_errors_are_sentences():
    with pytest.raises(neuronscope.UsageError, match="--n_modles|--n-modles"):
        neuronscope.benchmark("nn", n_modles=1)
    with pytest.raises(neuronscope.Error, match="nope.json"):
        neuronscope.open("nope.json")
    with pytest.raises(TypeError, match="is not a model"):
        neuronscope.benchmark(3)


def test_a_panic_is_a_runtime_error_and_the_next_call_works(capfd):
    from neuronscope import _core

    shell = _core.Shell()
    before = shell.call(["models", "--json"])
    try:
        shell.call(["panic-of-a-test"])
    except neuronscope.UsageError:
        pytest.skip("the library is built without debug assertions: nothing asks it for a panic")
    except RuntimeError as error:
        assert type(error) is RuntimeError
        said = str(error)
    assert re.fullmatch(
        r"neuronscope [\d.]+ has a defect at \S*worker\.rs:\d+:\d+: a test asked for it; report it with this line and the call that caused it", said
    )
    assert shell.call(["models", "--json"]) == before
    assert capfd.readouterr().err == ""


def test_a_file_in_memory_is_read():
    text = "digest,target\n1,1\n0,0\n"
    assert "Accuracy" in neuronscope.command("evaluate", "answers.csv", files={"answers.csv": text.encode()})


def test_threads_have_sessions_of_their_own():
    found = []
    threads = [threading.Thread(target=lambda: found.append(neuronscope.profile("nn").to_dict())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(one == found[0] for one in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_says_what_to_do():
    profile = neuronscope.profile("nn")
    code = os.fork()
    if code == 0:
        try:
            profile.operators()
        except neuronscope.Error as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(code, 0)[1]) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this system differ")
def test_ctrl_c_ends_a_long_call():
    # A run in a shell's background ignores the signal, and so do its children.
    signals = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script = signals + "import neuronscope\nprint('ready', flush=True)\nneuronscope.benchmark('bert-base-uncased', instance='inf2.48xlarge', duration=36000, n_models='1-12')"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(1)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert said.rstrip().splitlines()[-1].startswith("KeyboardInterrupt"), said


def test_the_import_loads_no_other_package():
    code = "import sys, neuronscope, json; print(json.dumps([n for n in ('numpy', 'torch', 'pandas') if n in sys.modules]))"
    assert json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) == []


def test_files_in_memory_and_tables_in_notebooks():
    import io

    import numpy

    text = b'[{"ph": "X", "name": "a<b", "ts": 0, "dur": 2, "pid": 1, "tid": 1}]'
    for file in (text, io.BytesIO(text), io.StringIO(text.decode())):
        with neuronscope.open(file) as profile:
            operators = profile.operators()
            assert [operator.name for operator in operators] == ["a<b"] and "<td>a&lt;b</td>" in operators._repr_html_()
        with pytest.raises(neuronscope.Error, match="closed"):
            profile.operators()
    reports = neuronscope.benchmark("nn", n_models=numpy.array([1, 2]), workers_per_model=1, duration=1)
    assert [report.n_models for report in reports] == [1, 2]
