"""What the Python package costs beside the command line: `./x python bench`. Every figure is measured on this machine."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

EVENTS = 1_000_000
LANES = 8


def median_s(work, times=5):
    def once():
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return statistics.median(once() for _ in range(times))


def run(*args):
    subprocess.run([str(arg) for arg in args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def show(name, value):
    print(f"{name:<64} {value}")


def imports():
    """The time of `import neuronscope`, beyond the interpreter's own."""
    with_it = median_s(lambda: run(sys.executable, "-c", "import neuronscope"))
    show("import neuronscope", f"{1e3 * (with_it - median_s(lambda: run(sys.executable, '-c', 'pass'))):.0f} ms")


def calls():
    import neuronscope

    neuronscope.models()
    show("a call: the table of models", f"{1e3 * median_s(neuronscope.models, 50):.1f} ms")


def trace_of(events):
    """A Chrome trace: slices on some rows, with names that repeat."""
    slices = ({"ph": "X", "pid": 1, "tid": n % LANES, "ts": 10 * (n // LANES), "dur": 8, "name": f"op_{n % 97}", "args": {"n": n}} for n in range(events))
    return '{"traceEvents":[' + ",\n".join(map(json.dumps, slices)) + "]}"


def traces(command_line):
    import neuronscope

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "trace.json")
        file.write_text(trace_of(EVENTS), encoding="utf-8")
        ours = median_s(lambda: neuronscope.open(file).close(), 7)
        theirs = median_s(lambda: run(command_line, "open", file, "--json"), 7)
    show(f"open a trace of {EVENTS:,} events, in Python", f"{ours:.2f} s")
    show("the same with the command line, its start included", f"{theirs:.2f} s, ratio {ours / theirs:.2f}")


def tables():
    """A table as columns, and as records."""
    import neuronscope
    from neuronscope.result import Table

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "trace.json")
        file.write_text(trace_of(EVENTS), encoding="utf-8")
        profile = neuronscope.open(file)
        printed = profile.query(f"select name, start, dur limit {EVENTS}")._text
    show(f"columns of a table of {EVENTS:,} rows, {len(printed) / 1e6:.0f} MB of JSON", f"{median_s(lambda: Table(printed).columns):.2f} s")
    show("the same table as records", f"{median_s(lambda: len(Table(printed))):.2f} s")


def modules():
    try:
        import torch
    except ImportError:
        show("a module of torch", "not measured: torch is not installed")
        return
    import neuronscope
    from neuronscope.model import exported

    model, inputs = resnet50(torch).eval(), (torch.rand(1, 3, 224, 224),)
    # The first export loads the exporter.
    exported(torch.nn.Linear(2, 2), (torch.rand(1, 2),))
    export = median_s(lambda: exported(model, inputs), 3)
    report = median_s(lambda: neuronscope.benchmark(model, inputs, n_models=[1, 2], workers_per_model=[1, 2], duration=5), 3)
    show("ResNet-50 of torch: torch.export", f"{export:.1f} s")
    show("ResNet-50 of torch, from the module to four reports", f"{report:.1f} s, {report - export:.1f} s beside the export")
    training()


# A layer of 64 steps in both directions: some 5,000 operators, with its gradients and the optimiser.
TRAINING = """
import time, torch
import torch_xla.core.xla_model as xm
from neuronscope import clock
layer = torch.nn.GRU(64, 64, batch_first=True, bidirectional=True).to(xm.xla_device())
optimizer = torch.optim.Adam(layer.parameters())
for _ in range(3):
    begin = clock.measured()
    optimizer.zero_grad()
    layer(torch.randn(8, 64, 64).to("xla"))[0].sum().backward()
    optimizer.step()
    xm.mark_step()
    print(clock.measured() - begin)
"""


def training():
    """A step of training, recorded on the device: the first two are other programs, since the optimiser begins with one."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "run.py")
        file.write_text(TRAINING, encoding="utf-8")
        done = subprocess.run([sys.executable, "-m", "neuronscope", str(file)], check=True, capture_output=True, text=True)
    first, _, last = map(float, done.stdout.split())
    show("a GRU of 64 steps, one step of training, the first", f"{first:.1f} s")
    show("the same step again", f"{last:.1f} s")


def resnet50(torch):
    """The published layers, so that torchvision is not needed."""
    nn = torch.nn

    def convolution(inputs, outputs, size, stride=1):
        return [nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs)]

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            outputs = 4 * width
            layers = [*convolution(inputs, width, 1), nn.ReLU(), *convolution(width, width, 3, stride), nn.ReLU(), *convolution(width, outputs, 1)]
            self.body = nn.Sequential(*layers)
            self.shortcut = nn.Identity() if inputs == outputs else nn.Sequential(*convolution(inputs, outputs, 1, stride))

        def forward(self, x):
            return torch.relu(self.body(x) + self.shortcut(x))

    blocks, inputs = [], 64
    for width, count, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for n in range(count):
            blocks.append(Bottleneck(inputs, width, first_stride if n == 0 else 1))
            inputs = 4 * width
    stem = [*convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


if __name__ == "__main__":
    imports()
    calls()
    traces(sys.argv[1])
    tables()
    modules()
