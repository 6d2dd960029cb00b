"""Training as people write it: each script gives torch's numbers, and takes time of the device. Skipped without torch."""

import pytest

pytest.importorskip("torch")

from test_torch import times

PREPARED = """
import copy, io
import torch.nn as nn, torch.nn.functional as F
def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    xm.mark_step()
"""

COMPARED = """
torch.manual_seed(0)
expected = run("cpu")
torch.manual_seed(0)
found = timed(lambda: run(dev))
assert len(found) == len(expected) > 0
for a, b in zip(found, expected):
    torch.testing.assert_close(a.detach().cpu(), b.detach(), atol=1e-4, rtol=1e-4)
"""

SCRIPTS = {
    "a penalty on gradients, and a network that is a solution of an equation": """
def run(dev):
    critic, e = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)).to(dev), torch.rand(4, 1).to(dev)
    real, made, optimizer = torch.randn(4, 6).to(dev), torch.randn(4, 6).to(dev), torch.optim.RMSprop(critic.parameters(), 1e-2)
    for _ in range(2):
        between = (e * real + (1 - e) * made).requires_grad_(True)
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        step(optimizer, critic(made).mean() - critic(real).mean() + ((slope.norm(2, 1) - 1) ** 2).mean())
    net, x = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)).to(dev), torch.linspace(0, 1, 7).reshape(-1, 1).to(dev).requires_grad_(True)
    u = net(x)
    (du,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
    (ddu,) = torch.autograd.grad(du, x, torch.ones_like(du), create_graph=True)
    step(torch.optim.Adam(net.parameters()), (ddu + u).square().mean())
    return [*critic.parameters(), *net.parameters()]
""",
    "operators in a thread of the script, on tensors of another": """
def run(dev):
    import threading
    x, found = torch.randn(64, 64).to(dev), []
    thread = threading.Thread(target=lambda: found.append(x @ x + 1))
    thread.start()
    thread.join()
    xm.mark_step()
    return found
""",
    "two networks that play against each other": """
def run(dev):
    maker = nn.Sequential(nn.ConvTranspose2d(4, 8, 4), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Tanh()).to(dev)
    judge = nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(4, 1, 4), nn.Flatten()).to(dev)
    first, second = (torch.optim.Adam(net.parameters(), 2e-4, betas=(0.5, 0.999)) for net in (judge, maker))
    loss, real, one = nn.BCEWithLogitsLoss(), torch.rand(2, 1, 8, 8).to(dev), torch.full((2, 1), 1.0, device=dev)
    for _ in range(2):
        made = maker(torch.randn(2, 4, 1, 1).to(dev))
        step(first, loss(judge(real), one) + loss(judge(made.detach()), torch.zeros_like(one)))
        step(second, loss(judge(made), one))
    return [*maker.state_dict().values(), *judge.parameters()]
""",
    "a target network, a queue in a buffer, and values from a table": """
class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.register_buffer("queue", torch.zeros(3, 8))
        self.register_buffer("at", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        keys, at = F.normalize(self.layer(x), dim=1), int(self.at)
        loss = (keys @ self.queue.clone().detach()).mean() + keys.mean()
        self.queue[:, at : at + 2] = keys.detach().t()
        self.at[0] = (at + 2) % 8
        return loss

def run(dev):
    values, target, x = nn.Linear(4, 3).to(dev), nn.Linear(4, 3).to(dev), torch.randn(6, 4).to(dev)
    target.load_state_dict(values.state_dict())
    optimizer, taken = torch.optim.SGD(values.parameters(), 0.1), torch.tensor([0, 1, 2, 0, 1, 2]).to(dev)
    for _ in range(3):
        with torch.no_grad():
            wanted = 1 + 0.9 * target(x).max(1)[0]
        step(optimizer, F.smooth_l1_loss(values(x).gather(1, taken[:, None]).squeeze(1), wanted))
        for a, b in zip(target.parameters(), values.parameters()):
            a.data.copy_(0.9 * a.data + 0.1 * b.data)
    queue = Queue().to(dev).train()
    optimizer = torch.optim.SGD(queue.parameters(), 0.1)
    for _ in range(2):
        step(optimizer, queue(x[:2]))
    book, y = nn.Embedding(8, 4).to(dev), torch.randn(6, 4).to(dev).requires_grad_(True)
    nearest = book(torch.cdist(y, book.weight).argmin(1))
    (F.mse_loss(nearest, y.detach()) + (y + (nearest - y).detach()).sum()).backward()
    xm.mark_step()
    return [*values.parameters(), *target.parameters(), *queue.state_dict().values(), y.grad, book.weight.grad]
""",
    "states that are copied, saved and loaded": """
def run(dev):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(32, 2)).to(dev).train()
    x, optimizer = torch.randn(3, 1, 6, 6).to(dev), torch.optim.Adadelta(net.parameters())
    step(optimizer, net(x).square().mean())
    other = copy.deepcopy(net)
    again = torch.optim.Adadelta(other.parameters())
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    step(again, other(x).square().mean())
    file = io.BytesIO()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
    step(optimizer, net(x).square().mean())
    file.seek(0)
    saved = torch.load(file, map_location="cpu")
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    step(optimizer, net(x).square().mean())
    return [*net.state_dict().values(), *other.state_dict().values()]
""",
    "recurrent layers and cells": """
def run(dev):
    results, x = [], torch.randint(0, 20, (4, 5)).to(dev)
    for kind, how in ((nn.LSTM, {"bidirectional": True}), (nn.GRU, {"num_layers": 2}), (nn.RNN, {"batch_first": True})):
        embedding, layer = nn.Embedding(20, 8, padding_idx=0).to(dev), kind(8, 6, **how).to(dev)
        step(torch.optim.NAdam([*embedding.parameters(), *layer.parameters()]), layer(embedding(x))[0].square().mean())
        results += [embedding.weight, *layer.eval().parameters()]
    cell, h = nn.GRUCell(4, 3).to(dev), torch.zeros(2, 3, device=dev)
    for _ in range(3):
        h = cell(torch.randn(2, 4).to(dev), h)
    h.sum().backward()
    xm.mark_step()
    return [*results, cell.weight_ih.grad]
""",
    "low ranks, averages and two passes before a step": """
class LowRank(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.a, self.b = layer.requires_grad_(False), nn.Parameter(torch.randn(2, layer.in_features)), nn.Parameter(torch.zeros(layer.out_features, 2))

    def forward(self, x):
        return self.layer(x) + F.linear(F.linear(x, self.a), self.b)

def run(dev):
    net = nn.Sequential(LowRank(nn.Linear(8, 8)), nn.ReLU(), LowRank(nn.Linear(8, 2))).to(dev)
    average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    own, x, y = copy.deepcopy(net), torch.randn(4, 8).to(dev), torch.randn(4, 2).to(dev)
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], 0.05)
    for _ in range(2):
        F.mse_loss(net(x), y).backward()
        with torch.no_grad():
            steps = [(p, p.grad * 0.05 / (p.grad.norm() + 1e-6)) for p in net.parameters() if p.requires_grad]
            for p, more in steps:
                p.add_(more)
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p, more in steps:
                p.sub_(more)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(net)
        with torch.no_grad():
            for a, b in zip(own.parameters(), net.parameters()):
                a.mul_(0.9).add_(b, alpha=0.1)
        xm.mark_step()
    return [*net.parameters(), *average.parameters(), *own.parameters()]
""",
    "noise that a network takes out": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin, self.time, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.Embedding(10, 8), nn.GroupNorm(2, 8)
        self.down, self.up, self.end = nn.Conv2d(8, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.Conv2d(16, 1, 1)

    def forward(self, x, t):
        h = F.silu(self.norm(self.begin(x) + self.time(t)[:, :, None, None]))
        return self.end(torch.cat([h, F.interpolate(self.up(F.silu(self.down(h))), size=h.shape[-2:])], 1))

def run(dev):
    net, left = Net().to(dev).train(), torch.cumprod(1 - torch.linspace(1e-4, 0.02, 10), 0).to(dev)
    x, t, noise, optimizer = torch.randn(2, 1, 8, 8).to(dev), torch.tensor([3, 7]).to(dev), torch.randn(2, 1, 8, 8).to(dev), torch.optim.AdamW(net.parameters())
    for _ in range(2):
        a = left[t][:, None, None, None]
        step(optimizer, F.mse_loss(net(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise))
    return list(net.parameters())
""",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=[name.replace(" ", "_") for name in SCRIPTS])
def test_training_has_the_numbers_of_torch_and_takes_time(script):
    (ms,), done = times(PREPARED + script + COMPARED, "--values=cpu")
    assert ms > 0 and "takes no time" not in done.stderr and "is not known" not in done.stderr, done.stderr
