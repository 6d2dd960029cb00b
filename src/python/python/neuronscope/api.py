"""The functions of the package. Each is a command of the command line."""

from __future__ import annotations

import json
import os

from . import host_work
from ._core import Shell
from .calls import flags, run, run_json, text_of
from .model import inputs_text, resolve
from .result import Profile, Record, Reports, Table, rows_of

_WORK = ("preprocess_fn", "postprocess_fn", "env_setup_fn", "setup_fn")


def benchmark(model="nn", inputs=None, *, verbosity=0, **options):
    """Benchmarks a model as NeuronPerf does, on simulated NeuronCores.

    ``model`` is a name of the zoo, a model file, an index of ``neuronperf.torch.compile``, an ONNX model, a lowered JAX function, or a
    ``torch.nn.Module`` with its ``inputs``. ``options`` are the flags of ``neuronscope bench``.

    >>> reports = benchmark("nn", n_models=[1, 2], workers_per_model=1, duration=1)
    >>> [report.n_models for report in reports]
    [1, 2]
    >>> reports[0].latency_ms_p50 <= reports[0].latency_ms_p99
    True
    """
    text, files, _ = named = resolve(model, inputs)
    if "inputs" not in options and not files and inputs is not None:
        options["inputs"] = inputs_text(inputs)
    work = {name: options.pop(name) for name in _WORK if options.get(name) is not None}
    options.update(host_work.flags_of(work, inputs))
    out, written = run(
        ["bench", *model_words(text, is_index=text.endswith(".json")), *named.assumed, f"--verbosity={verbosity}", *flags(options), "--json", "--html=page.html"],
        files=files,
        wanted=["page.html"],
    )
    return Reports(json.loads(out)["reports"], written.get("page.html"))


bench = benchmark


def model_words(text, is_index=False):
    return [text] if is_index else [f"--model={text}"]


def profile(model="nn", inputs=None, **options):
    """Simulates one execution and returns its operators and timeline. ``options`` are the flags of ``neuronscope profile``.

    >>> execution = profile("nn", workflow="trace")
    >>> execution.device_window_ns > 0
    True
    >>> sorted(operator.name for operator in execution.operators())
    ['aten__addmm_dot', 'aten__relu_maximum', 'aten__tanh_tanh']
    """
    text, files, _ = named = resolve(model, inputs)
    words = [*named.assumed, *flags(options)]
    args = ["profile", f"--model={text}", *words]
    run_flags = "&".join(word[2:] for word in words)
    return _profile(args, [f"sim:{text}?{run_flags}" if run_flags else f"sim:{text}"], files)


def _profile(args, source, files=None, shell=None):
    shell = shell or Shell()
    # Several profiles in one file are several objects; the first is the one that is open.
    values, _ = json.JSONDecoder().raw_decode(run([*args, "--json"], files=files, shell=shell)[0].decode())
    return Profile(shell, args, source, files, values)


def open(*files):  # noqa: A001 (the command's name)
    """Opens a profile of any tool: one file, or files and folders that belong together. A file may also be its bytes, or an open file.

    >>> with open(b'[{"ph": "X", "name": "add", "ts": 0, "dur": 2, "pid": 1, "tid": 1}]') as opened:
    ...     [operator.name for operator in opened.operators()]
    ['add']
    """
    memory, names = {}, []
    for file in files:
        if hasattr(file, "read"):
            file = file.read()
            file = file.encode() if isinstance(file, str) else file
        if isinstance(file, (bytes, bytearray, memoryview)):
            names.append(f"file{len(memory)}")
            memory[names[-1]] = bytes(file)
        else:
            names.append(os.fspath(file))
    return _profile(["open", *names], names, memory)


def compare(a, b, **options):
    """Compares two profiles operator by operator: files, or ``sim:nn?workflow=trace``.

    >>> same = compare("sim:nn", "sim:nn")
    >>> same.took["base_ns"] == same.took["other_ns"]
    True
    """
    return Record(run_json(["compare", os.fspath(a), os.fspath(b), *flags(options)]))


def inspect(model, inputs=None, **options):
    """What a model file holds, and with ``instance`` how long one call takes.

    >>> [part["title"] for part in inspect("nn").tree if part["depth"] == 0][:3]
    ['input 0', 'Linear[layer1]', 'ReLU[nl1]']
    """
    text, files, _ = named = resolve(model, inputs)
    return Record(run_json(["inspect", text, *named.assumed, *flags(options)], files=files))


def numerics(model="nn", inputs=None, **options):
    """Computes a model as a NeuronCore would and compares it with the reference. A comparison that fails is a result as well: ``status``.

    >>> numerics("nn").status
    'PASS'
    """
    from ._core import Error

    text, files, _ = named = resolve(model, inputs)
    try:
        out = run(["numerics", f"--model={text}", *named.assumed, *flags(options), "--json"], files=files)[0]
    except Error as error:
        out = getattr(error, "partial", b"")
        if not out:
            raise
    return Record(json.loads(out))


def customop(kernel, **options):
    """Runs a custom operator's kernel on the GPSIMD processors: a C++ file, a build.py, or the name of a built-in one; a list is compared.

    >>> element, tcm = customop(["relu-element", "relu-tcm"], layers=[16, 64, 10], batch=4)
    >>> tcm.ns_per_element < element.ns_per_element
    True
    """
    kernels = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    return rows_of(run(["customop", *(f"--kernel={os.fspath(one)}" for one in kernels), *flags(options), "--json"])[0])


def nki(kernel, **options):
    """Runs an NKI kernel on a simulated NeuronCore: a Python file, ``kernel.py::function``, or the name of one of this program; a list is ranked.

    ``set`` gives constants of the file or arguments of the function other values, as a dictionary, and ranks them.

    >>> found = nki("matmul")
    >>> found.builds and found.hbm["write_bytes"] == 1024 * 1024 * 2
    True
    """
    values = options.pop("set", None) or {}
    each = [f"{name}={text_of(value)}" for name, value in values.items()] if isinstance(values, dict) else [text_of(values)]
    kernels = ["--rank", *map(os.fspath, kernel)] if isinstance(kernel, (list, tuple)) else [os.fspath(kernel)]
    return Record(run_json(["nki", *flags(options), *(f"--set={one}" for one in each), *kernels]))


def generate(model="llama-3-8b", **options):
    """How long a prompt and a token of a language model take on some cores of an instance, and what a million tokens cost.

    ``model`` is a name, a ``config.json``, or its content as a dictionary. ``options`` are the flags of ``neuronscope generate``.

    >>> generate("llama-2-7b", tp=8).tpot_p50_ms < generate("llama-2-7b", tp=2).tpot_p50_ms
    True
    """
    words, files = _decoder(model, options)
    return Record(run_json(["generate", *words, *flags(options)], files=files))


def fit(model="llama-3-8b", **options):
    """Where a language model fits: every instance and degree, with what is missing there, and the cheapest.

    >>> {row["tp"] for row in fit("llama-2-7b").rows if row["instance"] == "inf2.xlarge" and row["memory"]["fits"]} == {1, 2}
    True
    """
    words, files = _decoder(model, options)
    return Record(run_json(["fit", *words, *flags(options)], files=files))


def _decoder(model, options):
    config = options.pop("model_config", None)
    model = model if config is None else config
    if isinstance(model, dict):
        return ["--model-config=config.json"], {"config.json": json.dumps(model).encode()}
    text = os.fspath(model)
    is_file = config is not None or text.endswith(".json")
    return [f"--model-config={text}" if is_file else f"--model={text}"], None


def validate(file, **options):
    """Predicts a table of published benchmark rows and compares. With ``calibrate=True``: the fit to these rows, as ``text``."""
    if options.get("calibrate"):
        return Record({"text": run(["validate", os.fspath(file), *flags(options)])[0].decode()})
    return Record(run_json(["validate", os.fspath(file), *flags(options)]))


def models():
    """The models of the zoo, with their parameters.

    >>> "nn" in {model.name for model in models()}
    True
    """
    return Table(run(["models", "--json"])[0])
