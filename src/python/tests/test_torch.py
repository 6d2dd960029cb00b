"""torch_neuronx and torch_xla, and modules as models. Skipped without torch."""

import io
import itertools
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import neuronscope
import neuronscope.neuronperf as npf
import neuronscope.neuronperf.torch

# The network of the profiling tutorial.
NETWORK = """
import torch
class NN(torch.nn.Module):
   def __init__(self):
      super().__init__()
      self.layer1 = torch.nn.Linear(4,4)
      self.nl1 = torch.nn.ReLU()
      self.layer2 = torch.nn.Linear(4,2)
      self.nl2 = torch.nn.Tanh()

   def forward(self, x):
      x = self.nl1(self.layer1(x))
      return self.nl2(self.layer2(x))
"""


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 4)

    def forward(self, x, y):
        return torch.relu(self.layer(x + y))


def file_of(module, inputs, name):
    file = io.BytesIO()
    torch.export.save(torch.export.export(module.eval(), inputs), file)
    pathlib.Path(name).write_bytes(file.getvalue())


def test_a_module_is_benchmarked_as_its_exported_file(cli):
    torch.manual_seed(0)
    module, inputs = Network(), (torch.ones(2, 8), torch.ones(2, 8))
    file_of(module, inputs, "Network.pt2")
    with torch.no_grad():
        reports = neuronscope.benchmark(module, inputs, n_models=1, workers_per_model=1, duration=2)
    told = cli.json("bench", "--model=Network.pt2", "--n_models=1", "--workers_per_model=1", "--duration=2", "--json")["reports"]
    keys = ("throughput_avg", "latency_ms_p50", "latency_ms_p99", "batch_size", "load_avg_ms")
    assert [[row[key] for key in keys] for row in reports] == [[row[key] for key in keys] for row in told]


def test_an_index_of_a_module():
    inputs = [(torch.ones(2, 8), torch.ones(2, 8))]
    index = npf.torch.compile(Network(), inputs, batch_sizes=[2], filename="network.json", verbosity=0)
    (report,) = npf.torch.benchmark(index, inputs, n_models=1, workers_per_model=1, duration=2, verbosity=0, postprocess_fn=None)
    assert report["batch_size"] == 2 and report["throughput_avg"] > 0


def test_what_cannot_be_exported_says_why():
    class Branch(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(neuronscope.ModelError, match="Branch cannot be exported"):
        neuronscope.benchmark(Branch(), (torch.ones(3),))
    with pytest.raises(neuronscope.ModelError, match="give them as inputs"):
        neuronscope.benchmark(Network())


def run(script, *args):
    pathlib.Path("run.py").write_text(script, encoding="utf-8")
    return subprocess.run([sys.executable, "-m", "neuronscope", *args, "run.py"], capture_output=True, text=True)


def test_the_lazy_script_of_the_profiling_tutorial():
    done = run(
        NETWORK
        + """
import os
import torch_neuronx
from torch_neuronx.experimental import profiler
import torch_xla.core.xla_model as xm

os.environ["NEURON_CC_FLAGS"] = "--cache_dir=./compiler_cache"
device = xm.xla_device()
with torch.no_grad():
   model = NN()
   inp = torch.rand(4,4)
   output = model(inp)
   with torch_neuronx.experimental.profiler.profile(port=9012, profile_type='operator', ms_duration=10000):
      neuron_model = model.to(device)
      neuron_inp = inp.to(device)
      output_neuron = neuron_model(neuron_inp)
      xm.mark_step()
print("==CPU OUTPUT==")
print(output)
print("==TRN1 OUTPUT==")
print(output_neuron)
assert (output - output_neuron.cpu()).abs().max() < 0.02
"""
    )
    assert done.returncode == 0, done.stderr
    assert "device='xla:1'" in done.stdout and done.stdout.count("tensor(") == 2
    for line in ("Analyzing dependencies of Block1", "Dependency reduction of sg0000", "torch_neuron: XLA decode - Read filename"):
        assert line in done.stderr
    (folder,) = pathlib.Path("logs/plugins/neuron").iterdir()
    assert (folder / "neuron_op_timeline.json").exists()
    assert neuronscope.open("logs").events > 0


def test_a_traced_module_is_saved_loaded_and_timed(cli):
    file_script = (
        NETWORK
        + """
import time
import torch_neuronx
torch.manual_seed(0)
model = NN().eval()
x = torch.rand(4, 4)
begin = time.perf_counter()
trace = torch_neuronx.trace(model, (x), compiler_workdir='./compiler_dir', compiler_args="--auto-cast=none")
compiled = time.perf_counter()
assert trace.to("xla") is trace and isinstance(trace, torch.jit.ScriptModule) and torch.jit.freeze(trace.eval()) is trace and not isinstance(model, torch.jit.ScriptModule)
torch.jit.save(trace, 'model.pt')
neuron_model = torch.jit.load('model.pt')
neuron_model(x)
begin_step = time.perf_counter()
for i in range(10):
    out = neuron_model(x)
end_step = time.perf_counter()
print(compiled - begin, (end_step - begin_step) / 10, float((out - model(x)).abs().max()), time.perf_counter() - end_step)
torch.export.save(torch.export.export(model, (x,)), 'nn.pt2')
"""
    )
    done = run(file_script, "--clock=simulated")
    assert done.returncode == 0, done.stderr
    compile_s, step_s, difference, wait_s = map(float, done.stdout.split())
    told = cli.json("profile", "--model=nn.pt2", "--workflow=trace", "--auto-cast=none", "--json")
    assert compile_s == pytest.approx(told["modelled_compile_s"], rel=1e-6)
    # The host runs ahead of the device until somebody looks.
    assert step_s * 1e3 == pytest.approx(told["step"]["ahead_ms"], rel=1e-5)
    assert wait_s * 1e3 == pytest.approx(told["step"]["waited_ms"] - told["step"]["ahead_ms"], rel=1e-4)
    assert difference < 1e-6
    assert not os.path.exists("compiler_dir")


def test_values_of_torch_are_those_of_the_time_of_the_trace():
    done = run(
        """
import torch, torch_neuronx
def load(*_):
    raise AssertionError("what was exported is read again")
torch.export.load = load
layer, x = torch.nn.Linear(4, 2), torch.ones(1, 4)
expected = layer(x).detach()
traced = torch_neuronx.trace(layer, x)
torch.jit.save(traced, "layer.pt")
loaded = torch.jit.load("layer.pt")
layer.weight.data.fill_(3)
assert torch.equal(traced(x), expected) and torch.equal(loaded(x), expected)
""",
        "--values=cpu",
    )
    assert done.returncode == 0, done.stderr


def test_other_shapes_and_flags_are_refused():
    done = run(NETWORK + "import torch_neuronx\ntorch_neuronx.trace(NN(), torch.ones(4, 4))(torch.ones(2, 4))\n")
    assert done.returncode == 1 and "trace it again for these inputs" in done.stderr
    done = run(NETWORK + "import torch_neuronx\ntorch_neuronx.trace(NN(), torch.ones(4, 4), compiler_args='--auto-cast=some')\n")
    assert done.returncode == 1 and "some" in done.stderr
    done = run("import torch_neuronx\ntorch_neuronx.distribute(1)\n")
    assert done.returncode == 1 and "run.py:2" in done.stderr and "it has DataParallel" in done.stderr


TRAINING = """
import sys, time, torch
{device}
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_fn = torch.nn.CrossEntropyLoss()
for step in range(4):
    x, y = torch.rand(8, 16).to(device), torch.randint(0, 4, (8,)).to(device)
    begin = time.perf_counter()
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    {step}
    print(loss.item(), time.perf_counter() - begin)
"""


def test_a_lazy_training_loop():
    ours = run(TRAINING.format(device="import torch_xla.core.xla_model as xm; device = xm.xla_device()", step="xm.optimizer_step(optimizer, barrier=True)"), "--clock=simulated")
    assert ours.returncode == 0, ours.stderr
    plain = subprocess.run([sys.executable, "-c", TRAINING.format(device="device = 'cpu'", step="optimizer.step()")], capture_output=True, text=True)
    steps = [tuple(map(float, line.split())) for line in ours.stdout.splitlines()]
    assert [loss for loss, _ in steps] == [float(line.split()[0]) for line in plain.stdout.splitlines()]
    # The first step has no momentum to add; all others are one program.
    assert steps[0][1] > 0 and steps[2][1] == pytest.approx(steps[3][1], rel=1e-6)


# The calls of NeuronPerf's benchmark guide, on short runs.
GUIDE = """
import torch
import torch_neuronx
import neuronperf as npf
import neuronperf.torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 10)

    def forward(self, x, y, z):
        return self.layer(x + y + z)

class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, n):
        return torch.full((3, 16), float(n)), n % 10

def preprocess_fn(x, y, z):
    return x / 255, y / 255, z / 255

def postprocess_fn(x):
    return x.argmax()

if __name__ == "__main__":
    short = dict(duration=1, verbosity=0)
    inputs = tuple(torch.ones(1, 16) for _ in range(3))
    torch.jit.save(torch_neuronx.trace(Model(), inputs), "model_neuron_b1.pt")
    npf.torch.compile(Model(), [inputs], batch_sizes=[1], filename="cast.json", compiler_args=["--auto-cast", "none"], verbosity=0)
    filename = npf.torch.compile(Model(), [inputs], batch_sizes=[1], pipeline_sizes=[1, 2], filename="model_index.json", verbosity=0)

    assert len(npf.torch.benchmark("model_neuron_b1.pt", inputs, **short)) == 4
    assert len(npf.torch.benchmark("model_neuron_b1.pt", inputs, workers_per_model=1, **short)) == 2
    assert len(npf.torch.benchmark("model_neuron_b1.pt", inputs, workers_per_model=[1, 2], n_models=list(range(1, 3)), **short)) == 4
    reports = npf.torch.benchmark(filename, inputs, n_models=1, workers_per_model=1, preprocess_fn=preprocess_fn, postprocess_fn=postprocess_fn, **short)
    assert [r["pipeline_size"] for r in reports] == [1, 2] and reports[0]["preprocess_avg_ms"] > 0
    (report,) = npf.torch.benchmark("model_index.json", inputs, pipeline_sizes=[2], n_models=1, workers_per_model=1, **short)
    (report,) = npf.torch.benchmark("model_index.json", Images(), pipeline_sizes=1, n_models=1, workers_per_model=1, preprocess_fn=lambda x: x[0], loop_dataset=False, duration=0, verbosity=0)
    assert report["total_infs"] >= 12
    results = npf.torch.benchmark("model_index.json", inputs, n_models=1, workers_per_model=2, pipeline_sizes=1, return_timers=True, **short)
    assert npf.get_reports(results)[0]["n_models"] == 1
    reports = npf.torch.benchmark("model_index.json", inputs, n_models=1, workers_per_model=2, pipeline_sizes=1, duration=5, verbosity=2)
    npf.print_reports(reports)
    npf.torch.benchmark("model_index.json", inputs, n_models=1, multiprocess=False, **short)
    npf.torch.benchmark("model_index.json", inputs, n_models=1, multiinterpreter=True, **short)
    (measured,) = npf.cpu.benchmark(Model, inputs, n_models=1, workers_per_model=1, duration=3.5)
    assert measured["source"] == "measured" and measured["device_type"] == "cpu"
    try:
        npf.torch.benchmark(Model, inputs, device_type="gpu")
    except ValueError as error:
        print(error)
"""


def test_the_calls_of_the_benchmark_guide():
    done = run(GUIDE)
    assert done.returncode == 0, done.stderr
    assert "DEBUG:neuronperf.benchmarking - Benchmarker 0, Worker 1 started." in done.stderr
    assert done.stdout.startswith("throughput_avg latency_ms_p50") and "no GPU" in done.stdout


# The custom operator tutorial: its build.py, my_ops.py, model.py and the loop of its inference.py, with a dataset that needs no download.
CUSTOM_BUILD = """
import os
import torch_neuronx
from torch_neuronx.xla_impl import custom_op

custom_op.load(
    name='relu',
    compute_srcs=['relu.cpp'],
    shape_srcs=['shape.cpp'],
    build_directory=os.getcwd(),
    multicore={multicore},
    verbose=True
)
"""
CUSTOM_SHAPE = """
#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor relu_fwd_shape(torch::Tensor t_in) {
    torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
    return t_out;
}

NEURON_LIBRARY(my_ops, m) {
  m.def("relu_forward", &relu_fwd_shape, "relu_forward");
}
"""
# The same with the gradient, a kernel of two tensors.
TRAINING_SHAPE = """
#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor relu_fwd_shape(torch::Tensor t_in) {
    torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
    return t_out;
}

torch::Tensor relu_bwd_shape(torch::Tensor t_grad, torch::Tensor t_in) {
    torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
    return t_out;
}

NEURON_LIBRARY(my_ops, m) {
  m.def("relu_forward", &relu_fwd_shape, "relu_forward");
  m.def("relu_backward", &relu_bwd_shape, "relu_backward");
}
"""
CUSTOM_OPS = """
import torch
import torch_neuronx
from torch_neuronx.xla_impl import custom_op

custom_op.load_library('librelu.so')

class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.ops.my_ops.relu_forward(input)

    @staticmethod
    def backward(ctx, grad):
        input, = ctx.saved_tensors
        return torch.ops.my_ops.relu_backward(grad, input), None
"""
CUSTOM_MODEL = """
import torch
import torch.nn as nn
import my_ops

class MLP(nn.Module):
  def __init__(self, input_size = 28 * 28, output_size = 10, layers = [4096, 2048]):
    super(MLP, self).__init__()
    self.fc1 = nn.Linear(input_size, layers[0])
    self.fc2 = nn.Linear(layers[0], layers[1])
    self.fc3 = nn.Linear(layers[1], output_size)

  def forward(self, x):
    f1 = self.fc1(x)
    r1 = my_ops.Relu.apply(f1)
    f2 = self.fc2(r1)
    r2 = my_ops.Relu.apply(f2)
    f3 = self.fc3(r2)
    return torch.log_softmax(f3, dim=1)
"""
CUSTOM_INFERENCE = """
import time
import torch
from model import MLP
from torch.utils.data import DataLoader, TensorDataset
import torch_xla.core.xla_model as xm

EPOCHS = 2
WARMUP_STEPS = 2
BATCH_SIZE = 32
torch.manual_seed(0)
inf_dataset = TensorDataset(torch.rand(12 * 32, 1, 28, 28), torch.zeros(12 * 32))

def main():
    inf_loader = DataLoader(inf_dataset, batch_size=BATCH_SIZE)
    device = 'xla'
    model = MLP()
    plain = [parameter.detach().clone() for parameter in model.parameters()]
    model = model.to(device)
    model.eval()
    for _ in range(EPOCHS):
        start = time.time()
        for idx, (inf_x, _) in enumerate(inf_loader):
            inf_x = inf_x.view(inf_x.size(0), -1)
            inf_x = inf_x.to(device)
            output = model(inf_x)
            xm.mark_step()
            if idx < WARMUP_STEPS:
                start = time.time()
    print((idx + 1 - WARMUP_STEPS) / (time.time() - start))
    w1, b1, w2, b2, w3, b3 = plain
    x = inf_x.cpu()
    expected = torch.log_softmax(torch.relu(torch.relu(x @ w1.T + b1) @ w2.T + b2) @ w3.T + b3, dim=1)
    print(float((output.cpu() - expected).abs().max()))

if __name__ == '__main__':
    main()
"""


@pytest.mark.parametrize("kernel, multicore", [("relu_element", False), ("relu_tcm", False), ("relu_multicore", True)])
def test_the_scripts_of_the_custom_operator_tutorial(cli, kernel, multicore):
    source = pathlib.Path(__file__).resolve().parents[2] / "kernel/operator/kernels" / f"{kernel}.cpp"
    texts = {"relu.cpp": source.read_text(encoding="utf-8"), "shape.cpp": CUSTOM_SHAPE, "build.py": CUSTOM_BUILD.format(multicore=multicore), "my_ops.py": CUSTOM_OPS, "model.py": CUSTOM_MODEL, "inference.py": CUSTOM_INFERENCE}
    for name, text in texts.items():
        pathlib.Path(name).write_text(text, encoding="utf-8")
    build = subprocess.run([sys.executable, "-m", "neuronscope", "build.py"], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    assert "largest difference from the reference: 0" in build.stdout and pathlib.Path("librelu.so").exists()
    done = subprocess.run([sys.executable, "-m", "neuronscope", "--clock=simulated", "inference.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rate, difference = map(float, done.stdout.split())
    told = cli.json("customop", "--kernel=build.py", "--json")
    # A script has no time of its own on this clock; a step that the device bounds has the device's.
    if told["bound_by"] == "device":
        assert rate == pytest.approx(told["iterations_per_s"], rel=1e-4)
    else:
        assert rate == pytest.approx(1e9 / told["steps"][0]["ahead_ns"], rel=1e-4)
    assert difference < 0.02


# The tutorial's training, with a dataset that needs no download.
CUSTOM_TRAINING = """
import os
import time
import torch
from torch.utils.data import DataLoader, TensorDataset
{device}
from model import MLP

torch.manual_seed(0)
train_dataset = TensorDataset(torch.rand(5 * 32, 1, 28, 28), torch.randint(0, 10, (5 * 32,)))

def main():
    train_loader = DataLoader(train_dataset, batch_size=32)
    torch.manual_seed(0)
    model = MLP(layers=[480, 336]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_fn = torch.nn.NLLLoss()
    model.train()
    for idx, (train_x, train_label) in enumerate(train_loader):
        start = time.time()
        optimizer.zero_grad()
        train_x = train_x.view(train_x.size(0), -1)
        train_x = train_x.to(device)
        train_label = train_label.to(device)
        output = model(train_x)
        loss = loss_fn(output, train_label)
        loss.backward()
        optimizer.step()
        {step}
        print(loss.detach().to("cpu").item(), time.time() - start)
    os.makedirs("checkpoints", exist_ok=True)
    {save}({{"state_dict": model.state_dict()}}, "checkpoints/{name}.pt")

if __name__ == "__main__":
    main()
"""
PLAIN_OPS = """
import torch

class Relu:
    apply = staticmethod(torch.relu)
"""


def kernel_source(name):
    return (pathlib.Path(__file__).resolve().parents[2] / "kernel/operator/kernels" / f"{name}.cpp").read_text(encoding="utf-8")


def write(**texts):
    for name, text in texts.items():
        pathlib.Path(name.replace("_dot_", ".")).write_text(text, encoding="utf-8")


def test_the_custom_operator_tutorial_trains_with_its_own_gradient():
    write(plain_dot_py=CUSTOM_TRAINING.format(device="device = 'cpu'", step="", save="torch.save", name="plain"), my_ops_dot_py=PLAIN_OPS, model_dot_py=CUSTOM_MODEL)
    plain = subprocess.run([sys.executable, "plain.py"], capture_output=True, text=True)
    expected = [float(line.split()[0]) for line in plain.stdout.splitlines()]
    assert len(expected) == 5, plain.stderr
    seconds = {}
    lazy = CUSTOM_TRAINING.format(device="import torch_xla.core.xla_model as xm; device = 'xla'", step="xm.mark_step()", save="xm.save", name="ours")
    write(my_ops_dot_py=CUSTOM_OPS, shape_dot_cpp=TRAINING_SHAPE, train_dot_py=lazy)
    for kernel, multicore in [("relu_element", False), ("relu_tcm", False), ("relu_multicore_fixed", True)]:
        write(relu_dot_cpp=kernel_source(kernel), build_dot_py=CUSTOM_BUILD.format(multicore=multicore))
        build = subprocess.run([sys.executable, "-m", "neuronscope", "build.py"], capture_output=True, text=True)
        assert build.returncode == 0, build.stderr
        done = subprocess.run([sys.executable, "-m", "neuronscope", "--clock=simulated", "train.py"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        steps = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
        assert [loss for loss, _ in steps] == expected, kernel
        # Seconds since 1970 have a resolution of a quarter of a microsecond.
        assert steps[1][1] == pytest.approx(steps[4][1], abs=1e-6)
        seconds[kernel] = steps[1][1]
    # Four times the tutorial's widths, so that the device takes longer than the host where its kernels are slow.
    assert seconds["relu_element"] > 2 * seconds["relu_tcm"] > 0
    ours, plain = (torch.load(f"checkpoints/{name}.pt", weights_only=True)["state_dict"] for name in ("ours", "plain"))
    assert list(ours) == list(plain) and all(torch.equal(ours[name], plain[name]) for name in plain)


# An operator whose values torch does not know: no ReLU, and a gradient with another name than its function.
LEAK = """
torch::Tensor leak_forward(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto in = t_in.read_stream_accessor<float>();
  auto out = t_out.write_stream_accessor<float>();
  for (size_t i = 0; i < t_in.numel(); i++) { float x = in.read(); out.write(x > 0 ? x : x * 0.25f); }
  return t_out;
}

torch::Tensor leak_backward(const torch::Tensor& t_grad, const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto grad = t_grad.read_stream_accessor<float>();
  auto in = t_in.read_stream_accessor<float>();
  auto out = t_out.write_stream_accessor<float>();
  for (size_t i = 0; i < t_in.numel(); i++) { float g = grad.read(); out.write(in.read() > 0 ? g : g * 0.25f); }
  return t_out;
}

torch::Tensor mix(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& c) {
  torch::Tensor t_out = torch::zeros(a.sizes(), torch::kFloat);
  auto x = a.read_stream_accessor<float>();
  auto y = b.read_stream_accessor<float>();
  auto z = c.read_stream_accessor<float>();
  auto out = t_out.write_stream_accessor<float>();
  for (size_t i = 0; i < a.numel(); i++) { float p = x.read(); float q = y.read(); out.write(p * q + z.read()); }
  return t_out;
}
"""
LEAK_SHAPE = """
torch::Tensor one(torch::Tensor a) { return torch::zeros(a.sizes(), torch::kFloat); }
torch::Tensor two(torch::Tensor a, torch::Tensor b) { return torch::zeros(a.sizes(), torch::kFloat); }
torch::Tensor three(torch::Tensor a, torch::Tensor b, torch::Tensor c) { return torch::zeros(a.sizes(), torch::kFloat); }

NEURON_LIBRARY(leak_ops, m) {
  m.def("leak", &one, "leak_forward");
  m.def("leak_gradient", &two, "leak_backward");
  m.def("mix", &three, "mix");
}
"""
LEAK_TRAINING = """
import torch
import torch_xla.core.xla_model as xm
from torch_neuronx.xla_impl import custom_op

library = custom_op.load(name="leak", compute_srcs=["leak.cpp"], shape_srcs=["shape.cpp"])
assert library.operators == ["leak_ops::leak", "leak_ops::leak_gradient", "leak_ops::mix"]

class Leak(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.ops.leak_ops.leak(x)

    @staticmethod
    def backward(ctx, grad):
        return torch.ops.leak_ops.leak_gradient(grad, *ctx.saved_tensors)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 16)

    def forward(self, x):
        return Leak.apply(self.layer(x)).sum()

torch.manual_seed(0)
net, x = Net(), torch.randn(4, 8)
expected = torch.nn.functional.leaky_relu(net.layer(x), 0.25).sum()
gradient = torch.autograd.grad(expected, net.layer.weight)[0]
loss = net.to("xla")(x.to("xla"))
loss.backward()
xm.mark_step()
assert torch.equal(loss, expected) and torch.equal(net.layer.weight.grad, gradient)

class Mixed(torch.nn.Module):
    def forward(self, a, b, c):
        return torch.ops.leak_ops.mix(a, b, c)

a, b, c = torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 8)
mixed = Mixed().eval().to("xla")(*(t.to("xla") for t in (a, b, c)))
xm.mark_step()
assert torch.equal(mixed.cpu(), a * b + c)
"""


def test_the_values_of_a_step_are_the_kernels():
    write(leak_dot_cpp=LEAK, shape_dot_cpp=LEAK_SHAPE)
    done = run(LEAK_TRAINING)
    assert done.returncode == 0, done.stderr


def test_what_no_kernel_can_do_is_refused():
    write(leak_dot_cpp=LEAK, shape_dot_cpp=LEAK_SHAPE.replace("leak_ops", "refused_ops"))
    from neuronscope import kernels
    from neuronscope.torch_neuronx.xla_impl import custom_op

    library = custom_op.load(name="leak", compute_srcs=["leak.cpp"], shape_srcs=["shape.cpp"])
    with pytest.raises(neuronscope.Error, match=r"takes f32\[3\] and gives f32\[2\]; pass tensors of the shape that it gives"):
        kernels.values("refused_ops::leak_gradient", (torch.ones(2), torch.ones(3)))
    with pytest.raises(TypeError, match="convert the tensor with .float"):
        kernels.values("refused_ops::leak", (torch.ones(2, dtype=torch.int32),))
    with pytest.raises(neuronscope.Error, match="is a kernel of the device"):
        library.leak_gradient(torch.ones(2), torch.ones(2))
    # The gradient is checked as well.
    write(relu_dot_cpp=kernel_source("relu_tcm").replace("> 0.0 ? grads[i]", "< 0.0 ? grads[i]"), shape_dot_cpp=TRAINING_SHAPE)
    with pytest.raises(neuronscope.Error, match="the values are wrong: off by"):
        custom_op.load(name="relu", compute_srcs=["relu.cpp"], shape_srcs=["shape.cpp"])
    write(leak_dot_cpp=LEAK.replace("mix(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& c)", "mix(const torch::Tensor& a, const torch::Tensor& b, float c)").replace("auto z = c.read_stream_accessor<float>();", "").replace("z.read()", "c"))
    write(shape_dot_cpp=LEAK_SHAPE.replace("leak_ops", "other_refused_ops"))
    with pytest.raises(ValueError, match="leak.cpp: mix takes float c; a kernel of an operator takes tensors only"):
        custom_op.load(name="leak", compute_srcs=["leak.cpp"], shape_srcs=["shape.cpp"])


def test_a_kernel_outside_of_the_device_says_where_it_runs():
    pathlib.Path("relu.cpp").write_text((pathlib.Path(__file__).resolve().parents[2] / "kernel/operator/kernels/relu_tcm.cpp").read_text(encoding="utf-8"), encoding="utf-8")
    pathlib.Path("shape.cpp").write_text(CUSTOM_SHAPE.replace("my_ops", "other_ops"), encoding="utf-8")
    from neuronscope.torch_neuronx.xla_impl import custom_op

    library = custom_op.load(name="relu", compute_srcs=["relu.cpp"], shape_srcs=["shape.cpp"])
    assert library.operators == ["other_ops::relu_forward"] and library.report.max_abs_error == 0
    with pytest.raises(neuronscope.Error, match="other_ops::relu_forward is a kernel of the device"):
        library.relu_forward(torch.ones(2))
    pathlib.Path("other.so").write_text("no library", encoding="utf-8")
    with pytest.raises(ValueError, match="run its build.py"):
        custom_op.load_library("other.so")


def test_a_custom_operator_keeps_its_kernel_wherever_its_module_goes(cli):
    source = pathlib.Path(__file__).resolve().parents[2] / "kernel/operator/kernels/relu_element.cpp"
    for name, text in {"relu.cpp": source.read_text(encoding="utf-8"), "shape.cpp": CUSTOM_SHAPE.replace("my_ops", "kept_ops")}.items():
        pathlib.Path(name).write_text(text, encoding="utf-8")
    from neuronscope import neuronperf as npf
    from neuronscope import torch_neuronx
    from neuronscope.torch_neuronx.xla_impl import custom_op

    custom_op.load(name="relu", compute_srcs=["relu.cpp"], shape_srcs=["shape.cpp"])

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(16, 4096)

        def forward(self, x):
            return torch.ops.kept_ops.relu_forward(self.layer(x))

    x = torch.rand(4, 16)
    module = Net().eval()
    traced = torch_neuronx.trace(module, x)
    pathlib.Path("Net.pt2").write_bytes(traced.program.data)
    words = ["--assume=kept_ops::relu_forward=relu.cpp", "--n_models=1", "--workers_per_model=1", "--duration=1"]
    told = cli.json("bench", "--model=Net.pt2", *words, "--json")["reports"][0]
    one = dict(n_models=1, workers_per_model=1, duration=1)
    torch.jit.save(traced, "saved.pt")
    for model in (traced, "saved.pt", module):
        report = neuronscope.benchmark(model, inputs=(x,), **one)[0]
        assert report.latency_ms_p50 == told["latency_ms_p50"], model
        assert npf.torch.benchmark(model, inputs=x, **one)[0]["latency_ms_p50"] == pytest.approx(told["latency_ms_p50"], rel=1e-3)
    # As elementwise work of the vector engine it would be far faster.
    free = cli.json("bench", "--model=Net.pt2", "--assume=kept_ops::relu_forward=elementwise", *words[1:], "--json")["reports"][0]
    assert told["latency_ms_p50"] > 1.5 * free["latency_ms_p50"]
    assert neuronscope.profile(traced).device_window_ns == neuronscope.profile(module, inputs=(x,)).device_window_ns
    assert neuronscope.numerics(traced).status == "PASS"
    index = npf.torch.compile(module, inputs=x, batch_sizes=[4], filename="net.json", model_name="net")
    # An artifact of another name has other jitter.
    assert npf.torch.benchmark(index, inputs=x, **one)[0]["latency_ms_p50"] == pytest.approx(told["latency_ms_p50"], rel=1e-2)


def test_each_call_has_the_values_of_its_own_inputs():
    from neuronscope import torch_neuronx

    traced = torch_neuronx.trace(torch.nn.ReLU(), torch.ones(4))
    # Each input is gone after its call, so the next one may take its place in memory.
    results = [traced(torch.full((4,), float(n))) for n in range(50)]
    assert [float(result.cpu()[0]) for result in results] == list(range(50))


def test_modules_of_the_sdk_are_executed_once():
    done = run("import sys, torch_xla.core.xla_model as xm\nprint(xm is sys.modules['neuronscope.torch_xla.core.xla_model'])")
    assert done.stdout.strip() == "True", done.stderr


# What a script does before the device: it prints the device's milliseconds of a call, which are never 0.
TIMED = """
import torch
import torch_neuronx
import torch_xla, torch_xla.core.xla_model as xm, torch_xla.runtime as xr
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
from neuronscope import clock, device

def timed(call):
    before = clock.current.device_ns
    result = call()
    xm.mark_step(wait=True)
    print("ms", (clock.current.device_ns - before) / 1e6)
    return result

torch.manual_seed(0)
dev = xm.xla_device()
"""


def times(script, *args):
    done = run(TIMED + script, *args)
    assert done.returncode == 0, done.stderr
    return [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("ms ")], done


def test_calls_cost_the_same_however_they_name_their_inputs():
    (positional, keyword, mixed, nested), _ = times(
        """
class Out(dict):
    pass

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(256, 256)

    def forward(self, x, scale=None, more=None):
        return {"y": self.layer(x if more is None else more["x"]), "none": None}

net = Net().eval().to(dev)
x = torch.randn(8, 256).to(dev)
expected = torch.nn.functional.linear(x.cpu(), net.layer.weight.detach().cpu(), net.layer.bias.detach().cpu())
with torch.no_grad():
    for call in (lambda: net(x), lambda: net(x=x), lambda: net(x, scale=None), lambda: net(None, more={"x": x})):
        result = timed(call)
        assert result["none"] is None and (result["y"].cpu() - expected).abs().max() < 0.05
"""
    )
    assert positional > 0 and keyword == mixed == pytest.approx(positional, rel=0.05) and nested == pytest.approx(positional, rel=0.05)


def test_operators_between_calls_are_part_of_the_step():
    (alone, more, eager, in_place, training), done = times(
        """
net = torch.nn.Linear(64, 8).eval().to(dev)
x, y = torch.randn(4, 64).to(dev), torch.randint(0, 8, (4,)).to(dev)
with torch.no_grad():
    out = timed(lambda: net(x))
    right = timed(lambda: (net(x / 255).argmax(-1) == y).sum())
    z = timed(lambda: x * 2 + 1)
    timed(lambda: z.add_(1))
assert int(right) == int((torch.nn.functional.linear(x.cpu() / 255, net.weight.detach().cpu(), net.bias.detach().cpu()).argmax(-1) == y.cpu()).sum())
assert torch.allclose(z.cpu(), x.cpu() * 2 + 2)
weight = torch.nn.Parameter(torch.ones(8, 1, device=dev))
timed(lambda: (out.cpu() @ weight).sum().backward())
assert weight.grad.shape == (8, 1)
"""
    )
    assert more > alone > 0 and eager > 0 and in_place > 0 and training > 0


OPTIMIZERS = ["Adadelta", "Adafactor", "LBFGS", "Muon", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD", "Lion", "LAMB"]


def test_every_optimiser_trains_with_its_own_numbers():
    script = """
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            m = self.state[p].setdefault("m", torch.zeros_like(p))
            p.add_(m.lerp(p.grad, 0.1).sign_(), alpha=-self.param_groups[0]["lr"])
            m.lerp_(p.grad, 0.01)

class LAMB(Lion):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            m, v = (self.state[p].setdefault(name, torch.zeros_like(p)) for name in "mv")
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
            update = m / (v.sqrt() + 1e-6) + 0.01 * p
            trust = torch.where(update.norm() > 0, p.norm() / update.norm(), 1.0)
            p.add_(update * trust, alpha=-self.param_groups[0]["lr"])

def train(name, dev):
    torch.manual_seed(0)
    net = torch.nn.Linear(8, 4, bias=False).to(dev)
    optimizer = (globals().get(name) or getattr(torch.optim, name))(net.parameters(), lr=0.01)
    for _ in range(3):
        x, y = torch.randn(2, 8).to(dev), torch.randint(0, 4, (2,)).to(dev)
        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            return loss

        closure()
        optimizer.step(*[closure] * (name == "LBFGS"))
        xm.mark_step()
    return net.weight.detach().cpu()

for name in NAMES:
    found = timed(lambda: train(name, dev))
    assert torch.equal(found, train(name, "cpu")), name
"""
    found, _ = times(script.replace("NAMES", repr(OPTIMIZERS)))
    assert len(found) == len(OPTIMIZERS) and all(ms > 0 for ms in found)


def test_training_as_people_write_it():
    """Embedding and dropout, casts, accumulation, clipping, a scheduler, loaders and steps, and evaluation with the weights of then."""
    found, done = times(
        """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.drop = torch.nn.Embedding(50, 16), torch.nn.Dropout(0.1)
        self.norm, self.head = torch.nn.LayerNorm(16), torch.nn.Linear(16, 4)

    def forward(self, ids, labels=None):
        scores = self.head(self.norm(torch.utils.checkpoint.checkpoint(self.drop, self.words(ids), use_reentrant=False)).mean(1))
        return {"scores": scores, "loss": None if labels is None else torch.nn.functional.cross_entropy(scores, labels)}

def train(rank):
    assert (rank, xr.world_size(), xm.get_ordinal(), xm.is_master_ordinal()) == (0, 1, 0, True) and xm.rendezvous("end") == [b""]
    net = Net().to(dev)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1))
    data = torch.utils.data.TensorDataset(torch.randint(0, 50, (32, 8)), torch.randint(0, 4, (32,)))
    closures = []
    for n, (ids, labels) in enumerate(pl.MpDeviceLoader(torch.utils.data.DataLoader(data, batch_size=4), dev)):
        before = clock.current.device_ns
        with torch.autocast("xla", dtype=torch.bfloat16):
            out = net(ids=ids, labels=labels)
            assert out["scores"].dtype == torch.bfloat16
        (out["loss"] / 2).backward()
        if n % 2:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            xm.optimizer_step(optimizer)
            scheduler.step()
            optimizer.zero_grad()
        xm.add_step_closure(lambda loss: closures.append(float(loss)), (out["loss"].detach(),))
        if n >= 4:
            timed(lambda: None)
    assert len(closures) == 8
    net.eval()
    with torch.no_grad():
        first = net(ids=ids)["scores"].cpu()
        torch_xla.sync()
        net.head.bias.add_(1)
        assert ((net(ids=ids)["scores"].cpu() - first) - 1).abs().max() < 0.05
    assert xm._maybe_convert_to_cpu({"n": net.head.bias})["n"].device.type == "cpu"
    xm.save(net.state_dict(), "net.pt")
    Net().load_state_dict(torch.load("net.pt"))

xmp.spawn(train, nprocs=1)
try:
    xmp.spawn(train, nprocs=2)
except ValueError as error:
    print(error)
"""
    )
    # A step that accumulates has no update.
    assert found[0] == found[2] < found[1] == found[3]
    assert "nprocs=1" in done.stdout


def test_a_tensor_says_where_it_is_and_layers_of_a_step_have_a_cost():
    """`tensor.device` names the device to the script, a tensor that torch moves to another's place ends no step, and a recurrent layer is in operators."""
    done = run(
        """
import torch
import torch_xla.core.xla_model as xm
torch.manual_seed(0)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layers, self.scores = torch.nn.Embedding(20, 8), torch.nn.LSTM(8, 8, batch_first=True), torch.nn.Linear(8, 20)
    def forward(self, x):
        return self.scores(self.layers(self.words(x))[0])
net = Net().to(xm.xla_device()).train()
device = next(net.parameters()).device
x = torch.randint(0, 20, (2, 5)).to(device)
print(device, x.device == device, x.cpu().device, torch.zeros(2, device=x.device).device, torch.zeros(2).device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    loss = torch.nn.functional.cross_entropy(net(x).flatten(0, 1), x.flatten())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    xm.mark_step()
    print(loss.item())
import torch_xla.debug.metrics as metrics
print(metrics.metric_data("ExecuteTime")[0])
"""
    )
    assert done.returncode == 0, done.stderr
    # One line says how the script runs: no remark says that a step takes no time, or that a cost is not known.
    assert "note:" not in done.stderr, done.stderr
    where, first, second, executions = done.stdout.splitlines()
    assert where == "xla:1 True cpu xla:1 cpu" and float(second) < float(first) and executions == "2"


def test_gradients_in_operators_of_the_device_are_those_of_torch():
    from neuronscope import fused

    aten = torch.ops.aten
    for dims, groups, stride, padding, dilation, transposed in itertools.product((1, 2), (1, 2), (1, 2), (0, 1), (1, 2), (False, True)):
        x, weight = torch.randn(2, 4, *(9, 8)[:dims]), torch.randn(4, (8 if transposed else 4) // groups, *(3, 2)[:dims])
        how = ([stride] * dims, [padding] * dims, [dilation] * dims, transposed, [int(transposed and stride == 2)] * dims, groups)
        result = aten.convolution(x, weight, None, *how)
        given = (torch.randn_like(result), x, weight, [result.shape[1]], *how, [True] * 3)
        for ours, theirs in zip(fused._convolution_backward(*given), aten.convolution_backward(*given)):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    for size, how in itertools.product(((8, 6), (9, 7)), (([2, 2], [], [0, 0], [1, 1], False), ([3, 3], [2, 2], [1, 1], [1, 1], False), ([3, 2], [1, 2], [1, 0], [2, 1], False), ([2], [2], [0], [1], True))):
        x = torch.randn(2, 3, *size)
        result, indices = aten.max_pool2d_with_indices(x, *how)
        given = (torch.randn_like(result), x, *how, indices)
        torch.testing.assert_close(fused._max_pool_backward(*given), aten.max_pool2d_with_indices_backward(*given))
    for heads, is_causal, mask in ((6, False, None), (6, True, None), (6, False, torch.randn(2, 1, 5, 5)), (2, True, None)):
        q, k, v, grad = (torch.randn(2, count, 5, 8) for count in (6, heads, heads, 6))
        given = (grad, q, k, v, *aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal, attn_mask=mask), 0.0, is_causal)
        for ours, theirs in zip(fused._attention_backward(*given, attn_mask=mask), aten._scaled_dot_product_flash_attention_for_cpu_backward(*given, attn_mask=mask)):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    for kind, how in (("nearest", ()), ("bilinear", (False,)), ("bilinear", (True,)), ("bicubic", (False,))):
        for sizes, scales in (((10, 12), (2.0, 2.0)), ((3, 4), (None, None)), ((7, 9), (1.5, 1.6))):
            given = (torch.randn(2, 3, *sizes), sizes, (2, 3, 5, 6), *how, *scales)
            backward = getattr(aten, f"upsample_{kind}2d_backward").default
            torch.testing.assert_close(fused.rules()[backward](*given), backward(*given), atol=1e-4, rtol=1e-4)
    for shape, dim in (((4, 3), 0), ((4, 3, 2), 0), ((3, 4), 1)):
        v, g = torch.randn(shape), torch.randn([n if d == dim else 1 for d, n in enumerate(shape)])
        weight, norms = aten._weight_norm_interface(v, g, dim)
        given = (torch.randn_like(weight), v, g, norms, dim)
        for ours, theirs in zip(fused._weight_norm_backward(*given), aten._weight_norm_interface_backward(*given)):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    whole, part = torch.zeros(4, 6), torch.randn(2, 3)
    assert torch.equal(fused._as_strided_scatter(whole, part, [2, 3], [3, 1], 5), aten.as_strided_scatter(whole, part, [2, 3], [3, 1], 5))
    for mode, weights in ((0, None), (1, None), (0, torch.randn(5))):
        table, indices, offsets, grad = torch.randn(6, 3), torch.tensor([1, 2, 2, 5, 0]), torch.tensor([0, 2, 2]), torch.randn(3, 3)
        _, *more = aten._embedding_bag(table, indices, offsets, False, mode, False, weights, False, 5)
        given = (grad, indices, offsets, *more, 6, False, mode, False, weights, 5)
        torch.testing.assert_close(fused._embedding_bag_backward(*given), aten._embedding_bag_backward(*given))
    for offsets, has_end in ((torch.tensor([0, 2, 2]), False), (torch.tensor([0, 2, 3, 5]), True)):
        given = (table, indices, offsets, False, 2, False, None, has_end, 5)
        ours, theirs = fused._embedding_bag(*given), aten._embedding_bag(*given)
        torch.testing.assert_close(ours[0], theirs[0])
        given = (grad, indices, offsets, *theirs[1:], 6, False, 2, False, None, 5)
        torch.testing.assert_close(fused._embedding_bag_backward(grad, indices, offsets, *ours[1:], 6, False, 2, False, None, 5), aten._embedding_bag_backward(*given))
    weights = torch.tensor([[0.1, 0.0, 0.9], [0.5, 0.5, 0.0]])
    drawn = torch.bincount(fused._multinomial(weights, 1000, True)[0], minlength=3)
    assert 50 < drawn[0] < 200 and drawn[1] == 0 and fused._multinomial(weights, 2).sort().values[1].tolist() == [0, 1]


@pytest.mark.parametrize(
    "function",
    [
        lambda f, x: f.avg_pool2d(x, 3, 2, 1),
        lambda f, x: f.avg_pool2d(x, (2, 3), 2, 1, ceil_mode=True, count_include_pad=False),
        lambda f, x: f.avg_pool2d(x, 3, 2, ceil_mode=True),
        lambda f, x: f.avg_pool2d(x, 2, divisor_override=3),
        lambda f, x: f.avg_pool3d(x, 2),
        lambda f, x: f.adaptive_avg_pool2d(x, (3, 4)),
        lambda f, x: f.adaptive_avg_pool3d(x, 2),
        lambda f, x: f.adaptive_max_pool2d(x, 3),
        lambda f, x: f.max_pool3d(x, 2),
        lambda f, x: f.pad(x, (1, 2, 3, 0), mode="replicate"),
        lambda f, x: f.interpolate(x[0], scale_factor=2),
        lambda f, x: f.interpolate(x[0], scale_factor=2.0, mode="linear"),
        lambda f, x: f.interpolate(x, size=(10, 4), mode="nearest-exact"),
        lambda f, x: f.interpolate(x[None], scale_factor=2, mode="trilinear"),
        lambda f, x: f.interpolate(x, size=(4, 12), mode="bilinear", antialias=True),
        lambda f, x: f.interpolate(x, size=(4, 12), mode="bicubic", antialias=True, align_corners=True),
        lambda f, x: f.softshrink(x),
        lambda f, x: f.hardshrink(x),
        lambda f, x: torch.cdist(x, torch.cat([x, x.flip(-2)], -2).detach(), compute_mode="donot_use_mm_for_euclid_dist"),
    ],
)
def test_gradients_without_an_operator_of_the_device_are_those_of_torch(function):
    from neuronscope import fused
    from torch.utils._python_dispatch import TorchDispatchMode

    rules, seen = fused.rules(), []

    class Compare(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if "backward" in function._schema.name:
                torch.testing.assert_close(rules[function](*args), result, atol=1e-5, rtol=1e-4)
                seen.append(function)
            return result

    x = torch.randn(2, 3, 7, 9, requires_grad=True)
    y = function(torch.nn.functional, x)
    with Compare():
        y.backward(torch.randn_like(y))
    assert seen


def test_a_step_of_a_convolutional_network_has_a_cost():
    done = run(
        """
import torch
import torch_xla.core.xla_model as xm
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1), torch.nn.AvgPool2d(3, 1, 1), torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16, 2)).to(xm.xla_device()).train()
loss = net(torch.randn(2, 3, 8, 8).to("xla")).sum()
loss.backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
xm.mark_step()
"""
    )
    assert done.returncode == 0 and "note:" not in done.stderr, done.stderr


def test_a_step_is_the_program_that_torch_exports():
    """A step is traced once, not by torch.export, which does it where torch has other names than that takes; the time is the same, and writes go to
    views and to what shares memory too."""
    found, done = times(
        """
import sys, neuronscope
from neuronscope import flat

def train():
    torch.manual_seed(0)
    recorder_programs.clear()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.1), torch.nn.Linear(144, 6)).to(dev).train()
    attention = torch.nn.GRU(2, 2, batch_first=True, bidirectional=True).to(dev).train()
    optimizer = torch.optim.AdamW([*net.parameters(), *attention.parameters()])
    for _ in range(2):
        loss = attention(net(torch.randn(2, 3, 8, 8).to(dev)).view(2, 3, 2))[0].square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        timed(lambda: None)
    with torch.no_grad():
        x = torch.ones(3, 4).to(dev)
        part = x[1:]
        part.add_(1)
        total = x * 2 + part.sum()
        timed(lambda: None)
    print(loss.item(), total.tolist())

from neuronscope.recorder import _programs as recorder_programs
train()
flat.make_fx = None
train()
sys.modules["neuronscope.flat"] = None
del neuronscope.flat
train()
"""
    )
    assert found[:3] == found[3:6] == found[6:] and all(found)
    (line,) = {line for line in done.stdout.splitlines() if not line.startswith("ms ")}
    assert line and "note:" not in done.stderr, done.stderr


def test_inputs_of_a_step_keep_their_order():
    done = run(
        """
import torch
import torch_xla.core.xla_model as xm
a, b = torch.full((3,), 5.0).to("xla"), torch.full((3,), 2.0).to("xla")
with torch.no_grad():
    c = torch.nn.Identity().eval().to("xla")(a) * 1 - b
print(c.tolist())
"""
    )
    assert done.stdout == "[3.0, 3.0, 3.0]\n" and "note:" not in done.stderr, done.stderr


def test_casts_of_autocast_are_operators_of_an_evaluation():
    found, done = times(
        """
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 2)).eval()
x = torch.randn(4, 3, 8, 8)
expected = net(x)
net.to(dev)
with torch.inference_mode():
    for is_cast in (False, True, False):
        with torch.autocast("xla", dtype=torch.bfloat16, enabled=is_cast):
            y = timed(lambda: net(x.to(dev)))
        assert y.dtype == (torch.bfloat16 if is_cast else torch.float32) and (y.cpu().float() - expected).abs().max() < 0.05
"""
    )
    assert all(found) and "note:" not in done.stderr, done.stderr


def test_what_has_no_operator_of_its_own_has_a_cost():
    """Draws, causal attention in training, and views that only torch's own order in memory allows; lengths of a batch stay on the host."""
    found, done = times(
        """
weights = torch.nn.Identity().eval().to(dev)(torch.rand(2, 5).to(dev))
with torch.no_grad():
    assert timed(lambda: torch.multinomial(weights, 1)).shape == (2, 1)
q = torch.nn.Parameter(torch.randn(2, 3, 4, 8, dtype=torch.bfloat16)).to(dev)
def attend():
    y = torch.nn.functional.scaled_dot_product_attention(q, q[:, :1], q[:, :1], is_causal=True, enable_gqa=True)
    torch.nn.functional.linear(y.transpose(1, 2).contiguous().view(8, 24), torch.nn.Parameter(torch.ones(2, 24, dtype=torch.bfloat16)).to(dev)).sum().backward()
timed(attend)
scores = torch.nn.functional.scaled_dot_product_attention(q, q, q)
timed(lambda: None)
timed(lambda: scores.sum().backward())
layer = torch.nn.GRU(8, 8, batch_first=True).to(dev)
def packed():
    batch = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(3, 6, 8).to(dev), torch.tensor([6, 4, 2]), batch_first=True)
    torch.nn.utils.rnn.pad_packed_sequence(layer(batch)[0], batch_first=True)[0].sum().backward()
timed(packed)
images = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Upsample(scale_factor=2, mode="bilinear"), torch.nn.Upsample(size=(5, 5))).to(dev)
normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 8)).to(dev)
timed(lambda: (images(torch.randn(2, 3, 8, 8).to(dev)).sum() + normed(torch.randn(2, 4).to(dev)).sum()).backward())
timed(lambda: torch.distributions.Categorical(logits=torch.nn.Parameter(torch.ones(2, 3)).to(dev)).log_prob(torch.tensor([0, 1]).to(dev)).sum().backward())
"""
    )
    assert all(found) and done.stderr.count("note:") == 1 and "aten::_pack_padded_sequence runs on the host" in done.stderr, done.stderr


def test_hooks_and_masks_of_an_evaluation_have_numbers():
    found, done = times(
        """
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()).eval().to(dev)
seen = []
net[0].register_forward_hook(lambda module, given, result: seen.append(result.detach().mean()))
with torch.no_grad():
    y = timed(lambda: net(torch.ones(2, 4).to(dev)))
assert abs(float(seen[0])) > 0 and y.shape == (2, 8)
encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, batch_first=True), 2).eval()
x, mask = torch.randn(2, 5, 16), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
expected = encoder(x, src_key_padding_mask=mask)
encoder.to(dev)
with torch.no_grad():
    y = timed(lambda: encoder(x.to(dev), src_key_padding_mask=mask.to(dev)))
assert (y.cpu() - expected)[mask.logical_not()].abs().max() < 0.1
"""
    )
    assert all(found) and "note:" not in done.stderr, done.stderr


def test_results_of_named_tuples_and_dataclasses_are_traced():
    done = run(
        """
import collections, dataclasses, torch, torch_neuronx
Pair = collections.namedtuple("Pair", "y x")
@dataclasses.dataclass
class Both:
    y: torch.Tensor
    pair: Pair
class Model(torch.nn.Module):
    def forward(self, x):
        return {"both": Both(x + 1, Pair(x + 2, x))}
traced = torch_neuronx.trace(Model(), torch.ones(2))
torch.jit.save(traced, "model.pt")
for model in (traced, torch.jit.load("model.pt")):
    both = model(torch.ones(2))["both"]
    print(type(both).__name__, float(both.y[0]), float(both.pair.y[1]))
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Both 2.0 3.0\n" * 2


def test_a_step_that_fails_leaves_the_process_as_it_was():
    (after,), _ = times(
        """
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).to(dev)
try:
    net(torch.randn(2, 5).to(dev))
except RuntimeError as error:
    assert "shapes" in str(error)
torch.nn.Embedding(3, 4)
timed(lambda: net(torch.randn(2, 4).to(dev)).sum().backward())
"""
    )
    assert after > 0


def test_what_data_decides_runs_on_the_host_with_a_remark():
    (ms,), done = times(
        """
class Branch(torch.nn.Module):
    def forward(self, x):
        return x[x > 0] if x.sum() > 0 else -x

timed(lambda: Branch().eval().to(dev)(torch.ones(3).to(dev)))
"""
    )
    assert ms > 0 and "run.py:23: Branch runs operator by operator" in done.stderr and "aten::index runs on the host" in done.stderr


def test_functions_dictionaries_and_batches_are_traced():
    done = run(
        """
import torch, torch_neuronx
layer = torch.nn.Linear(8, 4)
x = torch.ones(2, 8)

def function(x):
    return torch.relu(layer(x))

class Named(torch.nn.Module):
    def forward(self, batch):
        return {"sum": batch["a"] + batch["b"], "none": None}

assert (torch_neuronx.trace(function, x)(x).cpu() - function(x)).abs().max() < 0.02
batch = {"a": x, "b": x}
torch.jit.save(torch_neuronx.trace(Named(), batch), "named.pt")
result = torch.jit.load("named.pt")(batch)
assert torch.equal(result["sum"].cpu(), 2 * x) and result["none"] is None
torch.jit.save(torch_neuronx.dynamic_batch(torch_neuronx.trace(layer, x)), "dynamic.pt")
assert torch.jit.load("dynamic.pt")(torch.ones(3, 8)).shape == (3, 4)
many = torch_neuronx.DataParallel(torch_neuronx.trace(layer, x))(torch.ones(5, 8))
assert many.shape == (5, 4) and (many - layer(torch.ones(5, 8))).abs().max() < 0.02
compiled = torch.compile(layer.eval(), backend="openxla")
with torch.no_grad():
    assert compiled(x).shape == (2, 4)
for call in (lambda: torch_neuronx.trace(layer, x, compiler_arg="-O1"), lambda: torch_neuronx.trace(torch.jit.trace(layer, x), x)):
    try:
        call()
    except (TypeError, RuntimeError) as error:
        print(error)
"""
    )
    assert done.returncode == 0, done.stderr
    assert "has no argument compiler_arg" in done.stdout and "save it with torch.jit.save" in done.stdout


def test_processes_that_are_spawned_have_the_modules():
    done = run(
        """
import multiprocessing
import torch_neuronx

def work(n):
    import torch
    return float(torch_neuronx.trace(torch.nn.ReLU(), torch.ones(n))(torch.ones(n)).sum())

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [1, 2]))
"""
    )
    assert done.returncode == 0, done.stderr
    assert "[1.0, 2.0]" in done.stdout


def test_every_operator_is_recorded_or_named():
    """Operators that update lists have a way to the device; of the others, one without a known cost is named and one on the host has a remark."""
    from neuronscope import device, fused

    schemas = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")]
    writes_lists = {
        schema.name
        for schema in schemas
        if any(str(one.type) == "List[Tensor]" and one.alias_info is not None and one.alias_info.is_write for one in schema.arguments)
        and not (schema.overload_name.endswith("out") or schema.name.startswith("aten::_foreach_"))
    }
    # The others are no operators of tensors, and one of another device, which runs on the host.
    assert writes_lists - {"aten::remove", "aten::sort", "aten::_amp_foreach_non_finite_check_and_unscale_"} == set(fused.UPDATES)
    each = {schema.name.removeprefix("aten::_foreach_") for schema in schemas if schema.name.startswith("aten::_foreach_")}
    assert {name for name in each if not hasattr(torch.ops.aten, name.removesuffix("_"))} == {"powsum"}
    assert len(device.known_operators()) > 600
    found, done = times(
        """
x = torch.rand(8, 8).to(dev) + 1
for call in (torch.linalg.inv, torch.special.bessel_j0, torch.linalg.eigvalsh, lambda x: x.to_sparse(), torch.unique, lambda x: torch.rand(4, device="xla") + 1, lambda x: x.new_zeros(3, device=dev) + x[0, 0]):
    timed(lambda: call(x))
with torch.no_grad():
    pair = [x.clone(), x.clone()]
    timed(lambda: torch._foreach_maximum_(pair, [x * 2, x * 3]))
    assert torch.equal(pair[1].cpu(), x.cpu() * 3)
"""
    )
    assert all(ms > 0 for n, ms in enumerate(found) if n not in (3, 4)) and len(found) == 8
    for named in ("aten::special_bessel_j0", "aten::_linalg_eigh", "no sparse and no nested tensors", "_unique2 runs on the host"):
        assert named in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "Adagrad"])
def test_fused_optimisers_train_as_the_others(name):
    found, _ = times(
        f"""
def train(**options):
    torch.manual_seed(0)
    net = torch.nn.Linear(8, 4).to(dev)
    more = dict(momentum=0.9) if "{name}" == "SGD" else dict()
    optimizer = torch.optim.{name}(net.parameters(), lr=0.01, weight_decay=0.1, **more, **options)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(2, 8).to(dev)).square().sum().backward()
        optimizer.step()
        xm.mark_step()
    return net.weight.detach().cpu()

assert torch.allclose(timed(lambda: train(fused=True)), train(), atol=1e-5)
"""
    )
    assert found[0] > 0


def test_a_module_is_traced_and_called_by_name():
    done = run(
        """
import torch, torch_neuronx

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, ids, mask=None, scale=None):
        return self.layer(ids) * (1 if mask is None else mask)

net, x, mask = Net().eval(), torch.rand(3, 4), torch.rand(3, 2)
wanted = net(x, mask).detach()
close = lambda found: (found.cpu() - wanted).abs().max() < 0.02
for traced in (torch_neuronx.trace(net, {"mask": mask, "ids": x}), torch_neuronx.trace(net, example_kwarg_inputs={"ids": x, "mask": mask}), torch_neuronx.trace(net, (x, mask))):
    assert close(traced(ids=x, mask=mask)) and close(traced(mask=mask, ids=x)) and close(traced(x, mask)) and close(traced(x, mask=mask, scale=None))
    try:
        traced(x)
    except RuntimeError as error:
        assert "called without mask" in str(error)
other = Net()
torch_neuronx.replace_weights(traced, other.state_dict())
assert ((traced(x, mask).cpu() - other(x, mask)).abs().max() < 0.02)
print(torch_neuronx.analyze(net, (x,))["support_percentage"])
dynamic = torch_neuronx.dynamic_batch(torch_neuronx.trace(net, x))
assert dynamic(torch.rand(7, 4)).shape == (7, 2)
torch_neuronx.trace(net, x)(torch.rand(2, 4))
"""
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr and "run.py:27: Net.pt2 is compiled for" in done.stderr, done.stderr
    assert done.stdout == "100.00%\n"


# transformers as far as a model for sequences of two classes needs it.
TRANSFORMERS = """
import json, os, torch

class AutoConfig:
    type_vocab_size, pad_token_id, neuron = 2, 0, None

    @staticmethod
    def from_pretrained(folder):
        config = AutoConfig()
        config.__dict__.update(json.load(open(os.path.join(folder, "config.json"))))
        return config

    def save_pretrained(self, folder):
        json.dump(self.__dict__, open(os.path.join(folder, "config.json"), "w"), sort_keys=True)

class AutoModelForSequenceClassification(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head, self.config = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 2), AutoConfig()

    @staticmethod
    def from_pretrained(folder, config=None):
        if folder != "there":
            raise OSError(folder + " is not a folder\\nmore words")
        torch.manual_seed(0)
        return AutoModelForSequenceClassification()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        mask = attention_mask.unsqueeze(-1).float()
        return {"logits": self.head((self.words(input_ids) * mask).sum(1) / mask.sum(1) + token_type_ids.sum(1, keepdim=True))}
"""
OPTIMUM = """
import json, os, torch
from optimum.neuron import NeuronModelForSequenceClassification
from transformers import AutoModelForSequenceClassification
os.makedirs("there")
json.dump({}, open("there/config.json", "w"))
shapes = dict(batch_size=2, sequence_length=8)
model = NeuronModelForSequenceClassification.from_pretrained("there", export=True, auto_cast="matmul", auto_cast_type="bf16", **shapes)
ids = torch.tensor([[3, 4, 5]])
wanted = AutoModelForSequenceClassification.from_pretrained("there")(ids, torch.ones_like(ids), torch.zeros_like(ids))["logits"]
model.save_pretrained("saved")
for one in (model, NeuronModelForSequenceClassification.from_pretrained("saved")):
    found = one(input_ids=ids, attention_mask=torch.ones_like(ids))["logits"]
    assert found.shape == (1, 2) and (found - wanted).abs().max() < 0.02
for call in (
    lambda: model(torch.ones(1, 9, dtype=torch.long)),
    lambda: NeuronModelForSequenceClassification.from_pretrained("there", export=True),
    lambda: NeuronModelForSequenceClassification.from_pretrained("there", sequence_lenght=8),
    lambda: NeuronModelForSequenceClassification.from_pretrained("elsewhere", export=True, **shapes),
):
    try:
        call()
    except (RuntimeError, TypeError) as error:
        print(error)
from optimum.neuron import NeuronModelForCausalLM
"""


def test_models_of_optimum_run_as_transformers_has_them():
    write(transformers_dot_py=TRANSFORMERS)
    os.makedirs("elsewhere")
    pathlib.Path("elsewhere/config.json").write_text("{}", encoding="utf-8")
    done = run(OPTIMUM)
    assert done.returncode == 1 and "neuronscope generate" in done.stderr.splitlines()[-1], done.stderr
    shape, missing, unknown, nowhere = done.stdout.splitlines()
    assert "compiled for [2, 8]" in shape and "such as batch_size=1, sequence_length=128" in missing
    assert "has no argument sequence_lenght" in unknown and "elsewhere is not a folder; give a folder" in nowhere


def test_a_scaler_a_recording_and_torchscript_beside_the_device():
    done = run(
        """
import os, torch, torch_xla.core.xla_model as xm
import torch_xla.amp.syncfree as syncfree
import torch_xla.debug.profiler as xp
from torch_xla.amp import GradScaler, autocast

@torch.jit.script
def rows(n: int):
    return torch.arange(n), torch.tensor(1)

assert rows(3)[0].tolist() == [0, 1, 2]
net = torch.nn.Linear(8, 2).to("xla")
optimizer, scaler = syncfree.SGD(net.parameters(), lr=0.1, momentum=0.9), GradScaler()
xp.start_trace("logs")
for step in range(2):
    with xp.StepTrace("train", step_num=step), autocast("xla"):
        loss = net(torch.ones(4, 8, device="xla")).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    xm.mark_step()
xp.stop_trace()
print(len(os.listdir("logs/plugins/neuron")))
"""
    )
    # The first step has no momentum yet: two programs of one name.
    assert done.returncode == 0 and done.stdout == "2\n", done.stderr


def test_an_index_of_a_module_has_the_batch_sizes_of_its_inputs():
    class Mixed(torch.nn.Module):
        def forward(self, x):
            return x + torch.arange(x.shape[0])[:, None]

    sizes = [1, 4]
    inputs = [(torch.ones(n, 8),) for n in sizes]
    index = npf.torch.compile(Mixed(), inputs, batch_sizes=sizes, filename="mixed.json", verbosity=0)
    reports = npf.torch.benchmark(index, inputs, n_models=1, workers_per_model=1, duration=2, verbosity=0)
    assert [report["batch_size"] for report in reports] == sizes


def test_neuronperf_takes_traced_files_as_people_give_them():
    from neuronscope import torch_neuronx

    def after(scores):
        best = scores.topk(3)
        return best.indices

    layer, x, one = torch.nn.Linear(16, 10), torch.ones(1, 16), dict(n_models=1, workers_per_model=1, duration=1, verbosity=0)
    for size in (1, 2):
        torch.jit.save(torch_neuronx.trace(layer, torch.ones(size, 16)), f"b{size}.pt")
    assert npf.torch.benchmark("b1.pt", x, postprocess_fn=after, **one)[0]["postprocess_avg_ms"] > 0
    index = npf.model_index.append(*(npf.model_index.create(f"b{size}.pt", model_name="layer", batch_size=size) for size in (1, 2)))
    assert [report["batch_size"] for report in npf.torch.benchmark(index, **one)] == [1, 2]
    assert [report["batch_size"] for report in npf.torch.benchmark(index, batch_sizes=[2], **one)] == [2]
    # A second module of this class leaves the first one's index as it is.
    first, _ = (npf.torch.compile(torch.nn.Linear(16, 10), x, batch_sizes=[1], filename=f"{n}.json", verbosity=0) for n in "ab")
    assert len(npf.torch.benchmark(first, x, **one)) == 1
    for call, told in (
        (lambda: npf.torch.benchmark("b1.pt", torch.ones(2, 16), **one), "traced for inputs of 1x16, not of 2x16"),
        (lambda: npf.torch.benchmark("b1.pt", {"x": x}, **one), "dict has no shape"),
        (lambda: npf.torch.benchmark(torch.nn.ReLU, x, **one), "ReLU is a class"),
        (lambda: npf.torch.benchmark("b1.pt", x, device_type="tpu", **one), "choose neuron, cpu or gpu"),
        (lambda: npf.cpu.benchmark(layer, x), "Linear is given as an object"),
    ):
        with pytest.raises((TypeError, ValueError), match=told):
            call()


def test_what_a_recording_and_a_build_do_not_know_is_said(capsys):
    from neuronscope.torch_neuronx.experimental import profiler
    from neuronscope.torch_neuronx.xla_impl import custom_op

    with profiler.profile():
        pass
    assert "the profiler saw nothing" in capsys.readouterr().err
    with pytest.raises(ValueError, match="call start"):
        profiler.profile().stop()
    with profiler.profile(9012, 5000, "logs", "operator", auto_start=False):
        pass
    assert "waits for start()" in capsys.readouterr().err
    for wrong in ({"profile_type": "model"}, {"target": "perfetto"}):
        with pytest.raises(ValueError, match="does not exist; choose"):
            profiler.profile(**wrong)
    with pytest.raises(TypeError, match="has no argument multi_core; it has name"):
        custom_op.load("relu", ["relu.cpp"], ["shape.cpp"], multi_core=True)


def test_a_recording_for_perfetto_is_written_where_it_is_asked_for(tmp_path, capsys):
    from neuronscope import torch_neuronx

    model, x = torch.nn.Linear(4, 4), torch.rand(2, 4)
    for kind in ("operator", "system"):
        recording = torch_neuronx.experimental.profiler.profile(profile_type=kind, ms_duration=100, target="neuron_profile_perfetto", output_dir=str(tmp_path), auto_start=False)
        with recording:
            traced = torch_neuronx.trace(model, x)
            recording.start()
            traced(x)
        path = tmp_path / f"{kind}_1.pftrace"
        assert str(path) in capsys.readouterr().err
        assert neuronscope.open(str(path)).operators()


def test_a_device_by_default_a_file_and_one_process_of_several():
    found, done = times(
        """
import os
import torch.distributed as dist, torch_xla.distributed.xla_backend
with torch.device("xla"):
    net, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
torch.set_default_device("xla")
z = torch.rand(3)
for make in (torch.tensor, torch.as_tensor, torch.asarray):
    assert make([1.0]).device == z.device and make([1.0], device="cpu").device.type == "cpu"
torch.set_default_device(None)
given = torch.ones(3)
assert torch.as_tensor(given, device=dev).device == dev and given.device.type == "cpu"
assert net.weight.device == x.device == z.device == torch.ones(2).to(z).device == dev and x.is_xla and not torch.ones(1).is_xla
timed(lambda: net.eval()(x))
xm.save(net.state_dict(), "net.pt")
loaded = torch.load("net.pt", map_location=dev)["weight"]
assert loaded.device == dev and torch.equal(loaded.cpu(), net.weight.cpu())
os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
xm.set_replication(dev, [dev])
# accelerate reads it to know whether it may print.
assert int(os.environ["LOCAL_RANK"]) == xm.get_local_ordinal()
dist.init_process_group("xla", init_method="xla://")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).to(dev), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step():
    optimizer.zero_grad()
    loss = model(torch.ones(1, 4, device="xla")).sum()
    loss.backward()
    optimizer.step()
    return loss

first, second = timed(step), timed(step)
assert second < first
"""
    )
    assert all(ms > 0 for ms in found) and len(found) == 3 and "collectives of torch.distributed take no time" in done.stderr


def test_what_a_module_remembers_is_as_in_torch():
    """Counters, lists, buffers, inputs and averages that a forward pass changes, dropout in training mode, and weights for one call."""
    found, done = times(
        """
class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count, self.seen, self.last = 0, [], None
    def forward(self, x):
        self.count += 1
        self.last = x if self.last is None else x + self.last
        self.seen.append(x)
        return self.last / self.count

class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 3))
    def forward(self, x):
        self.rows[1:3] = x
        return self.rows.sum(0) + x.add_(1)

@torch.no_grad()
def run(make, dev):
    torch.manual_seed(0)
    net = torch.nn.Sequential(make()).to(dev).train(make is torch.nn.Dropout or make is norm)
    x = torch.ones(2, 3).to(dev)
    results = [net(x * n).cpu() for n in (1, 2, 3)] + [x.cpu(), *(value.cpu() for value in net.state_dict().values())]
    return results + [net[0].last.cpu(), torch.tensor([net[0].count, len(net[0].seen)])] if make is Counter else results

norm = lambda: torch.nn.BatchNorm1d(3)
for make in (Counter, Cache, norm, torch.nn.Dropout):
    for ours, theirs in zip(timed(lambda: run(make, dev)), run(make, "cpu"), strict=True):
        assert torch.equal(ours, theirs), (make, ours, theirs)
layer, x = torch.nn.Linear(3, 2, bias=False).eval().to(dev), torch.ones(1, 3).to(dev)
with torch.no_grad():
    for n in (1.0, 2.0, 3.0):
        assert torch.func.functional_call(layer, {"weight": torch.full((2, 3), n)}, (x,)).tolist() == [[3 * n, 3 * n]]
"""
    )
    assert all(found) and len(found) == 4 and "Sequential runs operator by operator, with the numbers of torch: it changes 0.count, 0.last, 0.seen" in done.stderr, done.stderr


def test_a_tensor_that_an_operator_changes_is_as_in_torch():
    """Its shape, by ``squeeze_`` and the like, and its numbers, by ``out=``."""
    found, done = times(
        """
@torch.no_grad()
def run(dev):
    torch.manual_seed(0)
    net, x = torch.nn.Linear(4, 1).eval().to(dev), torch.randn(3, 4).to(dev)
    y = net(x).squeeze_(1)
    results = [(y * 2).cpu().clone(), y.cpu().clone()]
    y.unsqueeze_(0)
    results += [(y + 1).cpu(), y.cpu().clone()]
    flat, other = net(x).t_().add_(1), x.clone()
    total = other.transpose_(0, 1).sum(0)
    results += [flat.cpu(), total.cpu(), other.mul_(2).cpu()]
    sums, product, values, places = torch.empty(3, 1).to(dev), net(x), torch.empty(1).to(dev), torch.empty(1, dtype=torch.long).to(dev)
    torch.add(net(x), 1, out=sums)
    torch.mul(x[:, :1], 3, out=product)
    torch.max(net(x), 0, out=(values, places))
    return [*results, sums.cpu(), product.cpu(), values.cpu(), places.cpu()]

for ours, theirs in zip(timed(lambda: run(dev)), run("cpu"), strict=True):
    assert ours.shape == theirs.shape and (ours - theirs).abs().max() < 0.02
row, weight = torch.ones(4).to(dev), torch.ones(4, 4).to(dev)
assert torch.equal(timed(lambda: torch.func.jacrev(lambda x: weight @ x)(row)).cpu(), torch.ones(4, 4))
"""
    )
    assert all(found) and len(found) == 2 and "takes no time" not in done.stderr, done.stderr


def test_a_tensor_that_becomes_another_one_is_as_in_torch():
    """What is given to ``data``, and what changes sizes in place, before and after somebody looks."""
    found, done = times(
        """
layer = torch.nn.Linear(4, 4).eval()
x = torch.ones(2, 4)
with torch.no_grad():
    wanted, twice = layer(x), layer(2 * x)
    layer.to(dev)
    is_like = lambda y, wanted: y.shape == wanted.shape and y.dtype == wanted.dtype and (y.cpu().float() - wanted.float()).abs().max() < 0.02
    call = lambda x=x: layer(x.clone().to(dev))
    y = call(); y.data = torch.full((3,), 5.0).to(dev)
    assert is_like(y, torch.full((3,), 5.0)) and is_like(y + 1, torch.full((3,), 6.0))
    y = call(); y.data = call(2 * x)
    assert is_like(y, twice)
    y = call(); xm.mark_step(); y.data = y.data.half()
    assert is_like(y, wanted.half())
    y = call(); y.resize_(4, 2)
    assert is_like(y, wanted.view(4, 2))
    y = call(); y.set_(torch.zeros(3).to(dev))
    assert is_like(y, torch.zeros(3))
    taken = torch.nn.Linear(4, 2).to(dev); taken.weight.data = call()
    assert is_like(taken(x.clone().to(dev)), torch.nn.functional.linear(x, wanted, taken.bias.cpu()))
    given = x.clone().to(dev); y = layer(given); given.data = torch.zeros(2, 4).to(dev)
    assert is_like(timed(lambda: y.clone()), wanted)
    weight = torch.nn.Parameter(torch.eye(4)).to(dev)
    for _ in range(2):
        call() @ weight
        xm.mark_step()
    y = call() @ weight; weight.data = torch.zeros(4, 4).to(dev)
    assert is_like(y, wanted) and is_like(call() @ weight, torch.zeros(2, 4))
"""
    )
    assert all(found) and "note:" not in done.stderr, done.stderr


def test_a_module_in_eval_mode_is_trained_where_an_optimiser_has_its_weights():
    found, done = times(
        """
def losses(dev):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)).to(dev).eval()
    optimizer, found = torch.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(2):
        loss = net(torch.ones(2, 4).to(dev)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found

assert timed(lambda: losses(dev)) == losses("cpu")
"""
    )
    assert found[0] > 0 and "note:" not in done.stderr


def test_mixtures_of_experts_take_time_in_each_mode():
    """The products of groups, as torch has them, and as transformers calls them in an export."""
    found, done = times(
        """
from torch.library import custom_op

@custom_op("transformers::grouped_mm_fallback", mutates_args=())
def fallback(input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    return torch.cat([part @ w for part, w in zip(input.tensor_split(offs[:-1]), weight)])

fallback.register_fake(lambda input, weight, offs: input.new_empty(input.shape[0], weight.shape[2]))

class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 8, 8))

    def forward(self, x, expert):
        order = expert.argsort()
        ends = torch.histc(expert.float(), 3, 0, 2).cumsum(0).to(torch.int32)
        mm = torch.ops.transformers.grouped_mm_fallback if torch.compiler.is_exporting() else lambda x, w, offs: torch._grouped_mm(x, w, offs=offs)
        return mm(x[order], self.weight, ends)

experts, x, which = Experts(), torch.randn(8, 8), torch.tensor([2, 0, 2, 0, 0, 2, 2, 2])
wanted = torch.cat([x[which == n] @ experts.weight[n] for n in range(3)])
experts.to(dev)
y = timed(lambda: experts(x.to(dev), which.to(dev)))
timed(lambda: (y * y).sum().backward())
assert (y.detach().cpu() - wanted).abs().max() < 1e-5
with torch.no_grad():
    assert (timed(lambda: experts.eval()(x.to(dev), which.to(dev))).cpu() - wanted).abs().max() < 0.05
"""
    )
    assert all(found) and len(found) == 3 and "note:" not in done.stderr, done.stderr


def test_attention_with_rules_and_branches_runs_and_says_where():
    found, done = times(
        """
from torch.nn.attention.flex_attention import flex_attention
q = torch.randn(1, 2, 8, 4)
causal = lambda score, _b, _h, i, j: torch.where(i >= j, score, -torch.inf)
wanted = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
with torch.no_grad():
    on = q.to(dev)
    assert (timed(lambda: flex_attention(on, on, on, score_mod=causal)).cpu() - wanted).abs().max() < 1e-5
    assert torch.equal(torch.cond(on.sum() > -1e9, lambda x: x + 1, lambda x: x - 1, (on,)).cpu(), q + 1)
    net = torch.nn.Transformer(16, 2, 1, 1, 32, batch_first=True).eval()
    a, b = torch.randn(2, 5, 16), torch.randn(2, 4, 16)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(4)
    assert (torch_neuronx.trace(lambda a, b: net(a, b, tgt_mask=mask), (a, b))(a, b) - net(a, b, tgt_mask=mask)).abs().max() < 0.05
"""
    )
    assert all(found) and "cond runs on the host" in done.stderr


def test_a_script_whose_sizes_grow_is_told_what_compilation_takes():
    found, done = times("layer = torch.nn.Linear(4, 4).eval().to(dev)\nwith torch.no_grad():\n    for n in range(1, 23):\n        timed(lambda: layer(torch.ones(n, 4).to(dev)))\n")
    assert all(found) and done.stderr.count("20 different steps so far") == 1


def test_what_was_compiled_and_ran_has_times():
    done = run(
        """
import copy, io, pickle, torch, torch_neuronx
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as metrics
net = torch.nn.Linear(4, 2).to(xm.xla_device())
for _ in range(3):
    net(torch.ones(1, 4).to("xla")).sum().backward()
    xm.mark_step()
count, ns, each = metrics.metric_data("ExecuteTime")
assert count == len(each) == 3 and ns == sum(one for _, one in each) > 0
assert metrics.metric_data("CompileTime")[1] > 1e9 and "Accumulator: 0" in metrics.metrics_report()
metrics.clear_all()
assert metrics.metric_data("ExecuteTime") is None
traced, x = torch_neuronx.trace(net.cpu(), torch.ones(1, 4)), torch.ones(1, 4)
for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
    assert torch.equal(other(x), traced(x))
for made in (torch.asarray([1.0, 2.0], device="xla"), torch.ones(2).new_tensor([1.0], device="xla"), torch.range(0, 3, device="xla")):
    assert xm.is_xla_tensor(made)
"""
    )
    assert done.returncode == 0, done.stderr


def test_operators_on_lists_are_those_of_torch():
    """Each of the operators that optimisers call with ``foreach=True``."""
    found, _ = times(
        """
import torch_xla
@torch.no_grad()
def call(schema, dev):
    torch.manual_seed(0)
    args, named = [], dict()
    for one in schema.arguments:
        kind = str(one.type)
        if not kind.startswith("Optional"):
            value = [(torch.rand(2, 2) + 0.5).to(dev) for _ in range(2)] if kind == "List[Tensor]" else torch.tensor([0.5, 0.25]) if one.name == "scalars" and kind == "Tensor" else torch.tensor(0.5) if kind == "Tensor" else [2, 3] if kind.startswith("List") else 2
            named.update({one.name: value}) if one.kwarg_only else args.append(value)
    results = getattr(getattr(torch.ops.aten, schema.name[6:]), schema.overload_name or "default")(*args, **named)
    return args[0] if schema.name.endswith("_") else results

schemas = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::_foreach_") and not schema.overload_name.endswith("out")]
assert len(schemas) > 100
for schema in schemas:
    for ours, theirs in zip(call(schema, dev), call(schema, "cpu"), strict=True):
        assert torch.allclose(ours.cpu(), theirs.cpu(), equal_nan=True), schema
net = torch.nn.Linear(4, 2).to(dev)
optimizer = torch.optim.AdamW(net.parameters(), foreach=True, capturable=False)
net(torch.ones(1, 4).to(dev)).sum().backward()
timed(optimizer.step)
"""
    )
    assert found[0] > 0


def test_transformed_scripted_and_exported_modules_run_on_the_device():
    found, done = times(
        """
layer = torch.nn.Linear(4, 2).eval()
x = torch.randn(3, 4)
wanted = layer(x)
exported = torch.export.export(layer, (x,))
with torch.no_grad():
    for module in (exported.module(), torch.jit.script(layer), torch.jit.trace(layer, x)):
        assert (timed(lambda: module.to(dev)(x.to(dev))).cpu() - wanted).abs().max() < 0.02
assert (torch_neuronx.trace(exported, x)(x) - wanted).abs().max() < 0.02
layer.to(dev)
each = torch.func.vmap(torch.func.grad(lambda weight, x: torch.func.functional_call(layer, {"weight": weight}, (x,)).sum()), in_dims=(None, 0))
assert torch.equal(timed(lambda: each(layer.weight.detach(), x.to(dev))).cpu(), x.unsqueeze(1).expand(3, 2, 4))

class Picked(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aten.relu(x[torch.where(x > 0)])

with torch.no_grad():
    assert torch.equal(timed(lambda: Picked().eval().to(dev)(x.to(dev))).cpu(), x[x > 0])

def bag(dev, mode):
    torch.manual_seed(0)
    bags = torch.nn.EmbeddingBag(10, 4, mode=mode, padding_idx=2).to(dev)
    optimizer = torch.optim.Adagrad(bags.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        bags(torch.tensor([1, 2, 3, 4]).to(dev), torch.tensor([0, 2]).to(dev)).square().sum().backward()
        optimizer.step()
        xm.mark_step()
    return bags.weight.detach().cpu()

for mode in ("sum", "mean", "max"):
    assert torch.equal(timed(lambda: bag(dev, mode)), bag("cpu", mode))
many = torch_neuronx.DataParallel(torch_neuronx.trace(layer.cpu(), x))
many.disable_dynamic_batching()
try:
    many(torch.ones(6, 4))
except ValueError as error:
    assert "is compiled for" in str(error)
else:
    assert False
"""
    )
    assert all(found) and len(found) == 8 and "takes no time" not in done.stderr, done.stderr


REFUSED = [
    ("import torch_xla.distributed.fsdp\nfrom torch_xla.distributed.fsdp import XlaFullyShardedDataParallel", "one simulated core"),
    ("import torch_xla.distributed.spmd as xs\nxs.Mesh", "one simulated core"),
    ("import torch_xla.distributed.fsdp\nfrom torch_xla.distributed.fsdp.wrap import size_based_auto_wrap_policy", "one simulated core"),
    ("import torch_xla.core\nimport torch_xla.core.functions", "torch_xla.core has no functions on the simulated device; it has xla_model"),
    ("import torch_xla\nfrom torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer", "without ZeroRedundancyOptimizer"),
    ("import torch, torch_neuronx\ntorch_neuronx.trace(lambda a, b: a @ b, (torch.eye(2).to_sparse(), torch.ones(2)))", "input 0 is a sparse tensor"),
    ("import torch, torch_neuronx\ntorch_neuronx.trace(torch.nn.ReLU(), torch.ones(2))(torch.ones(2).numpy())", "give a tensor"),
    ("import torch, torch_xla.core.xla_model\ntorch.nn.Linear(4, 4).to('xla').eval()(torch.ones(1, 4).to('xla')).sum().backward()", "call .train() of the module"),
    ("import torch, torch_xla\ntorch.nested.nested_tensor([torch.ones(2)], device='xla')", "no nested tensors; fill the tensors up"),
    ("import torch_neuronx\ntorch_neuronx.bucket_model_trace", "once for each shape"),
    ("import torch_neuronx\nfrom torch_neuronx import nki_jit", "neuronscope nki"),
    ("import torch_neuronx\nimport neuronxcc.nki as nki", "neuronscope nki"),
    ("import torch, torch_neuronx\ntorch_neuronx.trace(torch.nn.Linear(2, 2), torch.ones(1, 2), compiler_arg='-O1')", "has no argument compiler_arg"),
    ("import torch, torch_neuronx\ntorch_neuronx.trace(torch.nn.ReLU(), torch.ones(2)).graph", "which has no graph of TorchScript"),
    ("import torch_neuronx\nfrom optimum.neuron import NeuronModelForSeq2SeqLM", "trace its parts"),
    ("import torch_neuronx\nimport optimum.neuron.distributed", "one simulated core"),
    ("import torch, torch_xla.core.xla_model\ntorch.nn.Linear(4, 4).to('xla')(torch.ones(1, 5).to('xla'))", "mat1 and mat2"),
]


def test_what_is_written_past_torchs_counts_is_seen():
    done = run(
        """
import numpy, torch, torch_neuronx
layer, x = torch.nn.Linear(4, 2).eval().to("xla"), torch.ones(1, 4).to("xla")
with torch.no_grad():
    before = layer(x).cpu()
    layer.weight.data.copy_(torch.zeros(2, 4))
    layer.bias.data.fill_(5)
    assert layer(x).cpu().tolist() == [[5, 5]] != before.tolist()
traced, array = torch_neuronx.trace(lambda x: x * 2, torch.ones(2)), numpy.ones(2, "float32")
given = torch.from_numpy(array)
assert traced(given).tolist() == [2, 2]
array[:] = 3
assert traced(given).tolist() == [6, 6]
"""
    )
    assert done.returncode == 0, done.stderr


def test_gradients_reach_results_of_modules():
    found, done = times(
        """
import copy
from torch.utils.checkpoint import checkpoint

def train(dev, reentrant):
    torch.manual_seed(0)
    layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8)).to(dev) for _ in range(3)]
    layers = copy.deepcopy(layers)
    h = torch.randn(4, 8).to(dev).requires_grad_(True)
    for layer in layers:
        h = checkpoint(layer, h, use_reentrant=reentrant)
    h.square().sum().backward()
    return [layer[0].weight.grad.cpu() for layer in layers]

for reentrant in (True, False):
    ours = timed(lambda: train(dev, reentrant))
    for a, b in zip(ours, train("cpu", reentrant)):
        torch.testing.assert_close(a, b, atol=0.05, rtol=0.05)
frozen, head = torch.nn.Linear(4, 4).eval().to(dev), torch.nn.Linear(4, 1).to(dev)
with torch.no_grad():
    features = frozen(torch.ones(1, 4).to(dev))
features.requires_grad_(True)
timed(lambda: head(features).sum().backward())
assert torch.equal(features.grad.cpu(), head.weight.detach().cpu())
# A state that a file brings is written before the step reads it.
other, optimizer = torch.nn.Linear(4, 1).to(dev), torch.optim.Adadelta(head.parameters())
other.load_state_dict(head.state_dict())
timed(lambda: other(features.detach()).sum().backward())
timed(lambda: torch.add(features.detach(), 1, out=torch.empty(1, 4, device=dev)))
cell = torch.nn.LSTM(4, 3).eval().to(dev)
from torch.nn.utils.rnn import pack_sequence
timed(lambda: cell(features.detach()))
packed = pack_sequence([torch.ones(2, 4).to(dev)])
timed(lambda: cell(packed))
y = torch.randn(3, 4).to(dev)
y[y > 0] = y[y > 0] * 2
xm.mark_step()
timed(lambda: torch.ones_like(y))
""",
        "--clock=simulated",
    )
    assert all(ms > 0 for ms in found) and len(found) == 8, found
    for word in ("takes no time", "_flat_weights", "is not on the device", "cost of an operator"):
        assert word not in done.stderr, done.stderr


@pytest.mark.parametrize("script, told", REFUSED)
def test_what_does_not_run_ends_in_one_sentence(script, told):
    done = run(script)
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("neuronscope: ") and "on a simulated" not in line]
    assert done.returncode == 1 and "run.py:2: " in sentence and told in sentence and "Traceback" not in done.stderr
