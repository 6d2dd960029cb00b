import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
from torch_xla import runtime as xr
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
@nki.jit
def nki_relu(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range((x.shape[0] + 127) // 128):
        ip = nl.arange(128)[:, None]; jf = nl.arange(x.shape[1])[None, :]
        t = nl.load(x[i * 128 + ip, jf], mask=(i * 128 + ip < x.shape[0]))
        nl.store(y[i * 128 + ip, jf], nl.relu(t), mask=(i * 128 + ip < x.shape[0]))
    return y
class NkiRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return nki_relu(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g
class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.w = nn.Parameter(torch.randn(d, d))
        self.register_buffer("b", torch.zeros(d))
    def forward(self, x):
        x = x @ self.w + self.b
        return NkiRelu.apply(x)
def main():
    device = xm.xla_device()
    torch.manual_seed(0)
    net = Net(256).to(torch.bfloat16).to(device).eval()
    x = torch.randn((200, 256), dtype=torch.bfloat16).to(device=device)
    ref = F.relu(x) + 1.0
    with torch.no_grad():
        out = net(x.unsqueeze(0).squeeze(0))
    xm.mark_step()
    print(torch.allclose(out.cpu(), ref.cpu(), atol=1e-4))
if __name__ == "__main__":
    main()
