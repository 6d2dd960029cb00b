"""Writes gradients.json: the loss and the gradients of PyTorch for the cases of tests.rs, with the values they were computed from.

    pip install torch && python gradients.py > gradients.json
"""
import json
import torch
import torch.nn.functional as F

torch.manual_seed(11)
f = torch.double
shift = lambda x: x - 0.8


def conv(size, stride, padding, dilation):
    name = f"conv of {size}, stride {stride}, padding {padding}, dilation {dilation}"
    dims = [[2, 3, 8, 9], [2, 3, size, size], [2]]
    return name, dims, lambda a, b, c: F.conv2d(a, b, c, stride, padding, dilation)


POINTWISE = [
    ("Neg", torch.neg), ("Exp", torch.exp), ("Log", torch.log), ("Tanh", torch.tanh), ("Sqrt", torch.sqrt),
    ("Rsqrt", torch.rsqrt), ("Gelu", F.gelu), ("Logistic", torch.sigmoid), ("ReluKernel", torch.relu),
]
BINARY = [
    ("Add", torch.add), ("Sub", torch.sub), ("Mul", torch.mul), ("Div", torch.div), ("Maximum", torch.maximum),
    ("Minimum", torch.minimum),
]
SHAPED = [
    ("linear", [[2, 3, 4], [5, 4], [5]], F.linear),
    ("mm", [[3, 4], [4, 2]], torch.mm),
    ("matmul", [[2, 3, 4, 5], [2, 3, 5, 2]], torch.matmul),
    ("softmax", [[3, 4, 2]], lambda a: a.softmax(1)),
    ("log_softmax", [[3, 4]], lambda a: a.log_softmax(1)),
    ("relu", [[4, 5]], lambda a: shift(a).relu()),
    ("silu", [[4, 5]], F.silu),
    ("mean_dims", [[2, 3, 4]], lambda a: a.mean([0, 2])),
    ("sum", [[2, 3]], lambda a: a.sum(1, keepdim=True)),
    ("slice", [[2, 5]], lambda a: a[:, 1:3]),
    ("cat", [[2, 3], [2, 1]], lambda a, b: torch.cat([a, b], 1)),
    ("expand", [[3, 1, 4]], lambda a: a.expand(3, 2, 4)),
    ("permute", [[2, 3, 4]], lambda a: a.permute(2, 0, 1)),
    ("layer_norm", [[2, 3, 6], [6], [6]], lambda a, b, c: F.layer_norm(a, [6], b, c, 1e-5)),
    ("batch_norm", [[4, 3, 2, 2], [3], [3]], lambda a, b, c: F.batch_norm(a, None, None, b, c, True, 0.1, 1e-5)),
    ("custom", [[3, 4]], lambda a: shift(a).relu()),
    ("max_pool", [[2, 2, 5, 6]], lambda a: F.max_pool2d(a, 3, 2, 1)),
    ("avg_pool", [[2, 2, 5, 6]], lambda a: F.avg_pool2d(a, 3, 2, 1)),
    ("conv_transpose", [[2, 3, 3, 4], [3, 2, 2, 2], [2]], lambda a, b, c: F.conv_transpose2d(a, b, c, 2, 0)),
    conv(1, 1, 0, 1), conv(3, 1, 1, 1), conv(3, 2, 1, 1), conv(2, 2, 0, 1), conv(3, 2, 2, 2), conv(5, 3, 2, 1),
]


def loss_of(name, result):
    """The loss that a training step of this result has, with its label."""
    if name == "log_softmax":
        label = torch.randint(0, result.shape[-1], result.shape[:-1])
        return F.nll_loss(result, label), label
    label = (torch.randn(result.shape) * 1000).round().to(f) / 1000
    return F.mse_loss(result, label), label


def case(name, dims, function):
    # Few digits, so that single precision has the same values.
    values = [((torch.rand(d) + 0.3) * 1000).round().to(f) / 1000 for d in dims]
    values = [v.requires_grad_() for v in values]
    result = function(*values)
    loss, label = loss_of(name, result)
    loss.backward()
    flat = lambda t: [round(x, 7) for x in t.flatten().tolist()]
    return {
        "name": name,
        "weights": [flat(v.detach()) for v in values],
        "label": flat(label),
        "loss": round(loss.item(), 9),
        "gradients": [flat(v.grad) for v in values],
    }


cases = [case(name, [[3, 5]], function) for name, function in POINTWISE]
cases += [case(name, [[2, 3, 1], [4]], function) for name, function in BINARY]
cases += [case(name + " of a number", [[3, 4]], lambda a, of=function: of(a, torch.tensor(0.8, dtype=f))) for name, function in BINARY]
cases += [case(*one) for one in SHAPED]
print(json.dumps({"torch": torch.__version__.split("+")[0], "cases": cases}, separators=(",", ":")).replace('{"name"', '\n{"name"'))
