"""Scripts for the device "neuron" of PyTorch itself: torch's numbers, and the device's time for each call. Skipped without torch."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")


def run(tmp_path, source, *flags):
    (tmp_path / "run.py").write_text(textwrap.dedent(source))
    done = subprocess.run([sys.executable, "-m", "neuronscope", "--clock", "simulated", "--instance", "trn2.3xlarge", *flags, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n"), done.stderr


def test_calls_take_the_time_of_the_device_eager_and_compiled(tmp_path):
    out, said = run(
        tmp_path,
        """
        import time, torch
        device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
        model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).eval()
        x = torch.randn(32, 256)
        expected = model(x)
        model.to(device)
        there = x.to("neuron:0")
        print(there.device, device, torch.ones(3, device=torch.device("neuron")).device.type)
        def per_call(call, count):
            call(there)
            torch.neuron.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                y = call(there)
            torch.accelerator.synchronize()
            return (time.perf_counter() - start) / count, y
        with torch.no_grad():
            few, _ = per_call(model, 5)
            many, y = per_call(model, 50)
            compiled, z = per_call(torch.compile(model, backend="neuron"), 50)
        print(few > 0, abs(many / few - 1) < 0.3, abs(compiled / many - 1) < 0.1)
        torch.testing.assert_close(y.cpu(), expected, atol=0.02, rtol=0.02)
        torch.testing.assert_close(z.cpu(), expected, atol=0.02, rtol=0.02)
        """,
    )
    assert out[:2] == ["neuron:0 neuron neuron", "True True True"]
    assert said.count("timed as one program for each call of a module") == 1


def test_training_gives_the_numbers_of_torch(tmp_path):
    source = """
        import torch
        device = "neuron"
        torch.manual_seed(0)
        model = torch.nn.Linear(16, 4).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        x, t = torch.randn(8, 16).to(device), torch.randint(0, 4, (8,)).to(device)
        for _ in range(3):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), t)
            loss.backward()
            optimizer.step()
        print(f"{loss.item():.4f}")
        """
    out, _ = run(tmp_path, source, "--values", "cpu")
    exec(textwrap.dedent(source.replace('"neuron"', '"cpu"')), found := {})
    assert out[0] == f"{found['loss'].item():.4f}"


def test_a_script_of_neuronperf_means_another_device(tmp_path):
    out, said = run(tmp_path, """
        import torch_xla.core.xla_model as xm
        kind = "neuron"
        print(xm.xla_device())
    """)
    assert out[0] == "xla:1" and "operators on the device" not in said
