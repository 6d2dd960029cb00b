"""neuronscope.neuronperf, as NeuronPerf's benchmark guide calls it."""

import contextlib
import json
import os
import sys
import time
import types

import pytest

import neuronscope.neuronperf as npf
import neuronscope.neuronperf.torch


class Doubling:
    """A model that the processor runs."""

    def __call__(self, x):
        return x * 2


@pytest.fixture
def index(cli, folder):
    cli("compile", "--model", "nn", "--batch_sizes", "[1, 4]", "--models_dir", "models", "--filename", "nn.json", cwd=folder)
    return "nn.json"


def test_an_index_of_the_command_line(cli, index):
    reports = npf.torch.benchmark(index, n_models=1, workers_per_model=[1, 2], duration=2, verbosity=0)
    told = cli.json("bench", index, "--n_models=1", "--workers_per_model=[1, 2]", "--duration=2", "--json", "--json_format=neuronperf")
    assert reports == told and len(reports) == 4


def test_compile_gives_the_index_of_the_command_line(cli):
    name = npf.torch.compile("nn", batch_sizes=[1, 4], models_dir="models", filename="mine", verbosity=0)
    cli("compile", "--model=nn", "--batch_sizes=[1, 4]", "--models_dir=models", "--filename=theirs.json")
    assert name == "mine.json" and npf.model_index.load(name) == npf.model_index.load("theirs.json")


def test_inputs_are_shapes(cli):
    numpy = pytest.importorskip("numpy")
    inputs = [tuple(numpy.zeros((n, 8), numpy.int64) for _ in range(3)) for n in (1, 2)]
    reports = npf.torch.benchmark("bert-base-uncased", inputs, n_models=1, workers_per_model=1, duration=2, verbosity=0)
    assert [report["batch_size"] for report in reports] == [1, 2]


def test_functions_are_measured_or_priced(index):
    numpy = pytest.importorskip("numpy")
    x = numpy.ones((1, 16), numpy.float32)
    (slow,) = npf.torch.benchmark(index, x, batch_sizes=[1], n_models=1, workers_per_model=1, duration=1, verbosity=0, preprocess_fn=lambda x: (x * 5).sum())
    assert 0 < slow["preprocess_avg_ms"] < 5

    def postprocess_fn(x):
        return x.argmax()

    (priced,) = npf.torch.benchmark(index, batch_sizes=[1], n_models=1, workers_per_model=1, duration=1, verbosity=0, postprocess_fn=postprocess_fn)
    (text,) = npf.torch.benchmark(index, batch_sizes=[1], n_models=1, workers_per_model=1, duration=1, verbosity=0, postprocess_fn="x.argmax()")
    assert priced == text
    # Several on one line.
    (beside,) = npf.torch.benchmark(index, batch_sizes=[1], n_models=1, workers_per_model=1, duration=1, verbosity=0, preprocess_fn=lambda x: x * 1, postprocess_fn=lambda x: x.argmax())
    (texts,) = npf.torch.benchmark(index, batch_sizes=[1], n_models=1, workers_per_model=1, duration=1, verbosity=0, preprocess_fn="lambda x: x * 1", postprocess_fn="x.argmax()")
    assert beside == texts


def test_reports_are_printed_and_written(index, capsys):
    reports = npf.torch.benchmark(index, n_models=1, duration=2, verbosity=0)
    npf.print_reports(reports, sort_by="throughput_avg", reverse=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == npf.PRINT_COLS and len(lines) == 1 + len(reports)
    npf.write_csv(reports, "out.csv")
    with open("out.csv", encoding="utf-8") as file:
        assert file.readline().strip().split(",") == npf.CSV_COLS
    npf.write_json(reports, "out.json")
    with open("out.json", encoding="utf-8") as file:
        assert json.load(file) == reports
    assert npf.get_report_by_tag(reports, reports[0]["model_name"]) == reports[0]


def test_timers_make_the_same_reports(index):
    # Shorter runs have the rates of their workers, and timers are counted as NeuronPerf counts them.
    results = npf.torch.benchmark(index, batch_sizes=1, n_models=1, workers_per_model=2, duration=5, return_timers=True, verbosity=0)
    (report,) = npf.get_reports(results)
    (direct,) = npf.torch.benchmark(index, batch_sizes=1, n_models=1, workers_per_model=2, duration=5, verbosity=0)
    config, result = results[0]
    assert config["workers_per_model"] == 2 and len(result["timers"]["e2e"]) == 2
    assert result["timers"]["e2e"][0].avg("ms") > 0
    for key in ("throughput_avg", "latency_ms_p50", "total_infs"):
        assert report[key] == direct[key]


def test_indexes_are_appended_filtered_copied_and_deleted(index):
    both = npf.model_index.append(index, npf.model_index.create("models/other.pt", model_name="other"))
    assert len(both["model_configs"]) == 3
    (one,) = npf.model_index.filter(index, batch_size=[4])["model_configs"]
    assert one["batch_size"] == 4
    npf.model_index.copy(index, "copy.json", "copied")
    npf.model_index.delete("copy.json")
    assert not os.path.exists("copy.json") and os.path.exists(index)


def test_a_class_is_measured_on_this_machine():
    numpy = pytest.importorskip("numpy")
    reports = npf.cpu.benchmark(Doubling, numpy.ones((4, 4)), duration=3.5, n_models=1, workers_per_model=1, multiprocess=False)
    assert reports[0]["device_type"] == "cpu" and reports[0]["source"] == "measured" and reports[0]["throughput_avg"] > 0
    with pytest.raises(TypeError, match="give the class itself"):
        npf.cpu.benchmark(Doubling(), numpy.ones(1))


class Pretended:
    """A tensor or a model on a device that stands in for a GPU."""

    def __init__(self, device="cpu"):
        self.device = device

    def to(self, device):
        return Pretended(device)

    def __call__(self, x):
        assert self.device == x.device == "cuda"
        return x


def test_a_class_is_measured_on_a_gpu_where_torch_finds_one(monkeypatch):
    waits, found = [], [False]
    cuda = types.SimpleNamespace(is_available=lambda: found[0], synchronize=lambda: (waits.append(1), time.sleep(0.02)))
    torch = types.SimpleNamespace(cuda=cuda, no_grad=contextlib.nullcontext, set_num_threads=lambda n: None)
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(ValueError, match="torch finds no GPU here; .* use cpu"):
        npf.torch.benchmark(Pretended, Pretended(), device_type="gpu")
    found[0] = True
    (report,) = npf.torch.benchmark(Pretended, Pretended(), device_type="gpu", duration=3.5, n_models=1, workers_per_model=1, multiprocess=False)
    # A call lasts until the device has the result.
    assert report["device_type"] == "cuda" and report["source"] == "measured" and report["latency_ms_p50"] >= 20 and len(waits) > 50
    with pytest.raises(TypeError, match="a GPU runs a model class"):
        npf.torch.benchmark("nn", device_type="cuda")


def test_records_of_a_gpu_are_measured_where_torch_finds_one(monkeypatch, tmp_path):
    from neuronscope.gpu_experiments import measure

    class Model:
        batch_size, compiled = 8, False

        def __init__(self, test, device, batch_size):
            assert (test, device, batch_size) == ("eval", "cuda", None)

        def get_module(self):
            return self, ()

        def set_module(self, module):
            assert module == "inductor"

        def invoke(self):
            time.sleep(0.01)

    found = [False]
    cuda = types.SimpleNamespace(is_available=lambda: found[0], synchronize=lambda: None, get_device_name=lambda n: "a GPU")
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda, compile=lambda module, backend: backend))
    for name in ("torchbenchmark", "torchbenchmark.models", "torchbenchmark.models.alexnet"):
        module = types.ModuleType(name)
        module.Model, module.__path__ = Model, []
        monkeypatch.setitem(sys.modules, name, module)
    record = {"model": {"model_name": "alexnet"}, "repeat": 3, "iterations_per_run": 2, "metrics": {"error": "SKIP"}}
    of = lambda **keys: {**record, "experiment": {"accelerator": "cuda", "xla": None, "dynamo": "inductor", "test": "eval", "batch_size": None, **keys}}  # noqa: E731
    file = tmp_path / "results.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (of(), of(xla="PJRT", dynamo="openxla"), {**of(), "model": {"model_name": "none"}})))
    before = file.read_text()
    measure(["--output-dirname", str(tmp_path)])
    assert file.read_text() == before
    found[0] = True
    measure([f"--output_dirname={tmp_path}"])
    first, *others = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(first["metrics"]["total_time"]) == 3 and min(first["metrics"]["total_time"]) >= 0.02
    assert (first["experiment"]["batch_size"], first["experiment"]["accelerator_model"]) == (8, "a GPU")
    assert [other["metrics"] for other in others] == [{"error": "SKIP"}] * 2


class Records:
    """Records of inputs and a target."""

    def __len__(self):
        return 8

    def __getitem__(self, n):
        return [n / 8] * 16, n % 4


def test_answers_are_evaluated(cli):
    pytest.importorskip("numpy")
    npf.register_metric_from_existing("topk", "best_3", k=3)
    (report,) = npf.torch.evaluate("nn", Records(), ["Accuracy", "best_3"], verbosity=0)
    lines = [",".join([*(f"x{n}" for n in range(16)), "target"]), *(",".join(map(str, [n / 8] * 16 + [n % 4])) for n in range(8))]
    with open("records.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    words = "bench --model=nn --dataset=records.csv --eval_metrics=Accuracy,topk_3 --duration=0 --n_models=1 --workers_per_model=2 --json"
    told = cli.json(*words.split())["eval_metrics"]
    assert (report["Accuracy"], report["best_3"]) == (told["Accuracy"], told["topk_3"])


def test_what_does_not_exist_says_so():
    with pytest.raises(ValueError, match="submodule"):
        npf.benchmark("nn.json")
    with pytest.raises(ValueError, match="GPU"):
        npf.torch.benchmark(Doubling, device_type="gpu")
    with pytest.raises(AttributeError, match="print_reports"):
        npf.print_results


def test_timers():
    timer = npf.Timer()
    timer.insert((1.0, 1.5))
    timer.insert((2.0, 2.1))
    assert timer.durations("ms") == pytest.approx([500, 100]) and timer.avg("s") == pytest.approx(0.3)
    assert npf.timestamp_convert(1.5, "s", "us") == pytest.approx(1.5e6)
