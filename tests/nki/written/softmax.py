from nki import jit
import nki.language as nl
import nki.isa as nisa
from dataclasses import dataclass, field, replace
from typing import Optional, List

@dataclass
class SoftmaxCfg:
    tile_f: int = 2048
    engines: List = field(default_factory=lambda: [nisa.vector_engine, nisa.gpsimd_engine])
    eps: Optional[float] = None

def _row_stats(x_tile, P):
    neg_max = nl.ndarray((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=neg_max, op=nl.maximum, data=x_tile, axis=1, negate=True)
    return neg_max

@jit
def softmax(x, cfg=None):
    cfg = cfg or SoftmaxCfg()
    R, C = x.shape
    P = nl.tile_size.pmax
    out = nl.ndarray((R, C), dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range((R + P - 1) // P):
        rows = min(P, R - r * P)
        t = nl.ndarray((P, C), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t[0:rows, :], src=x[nl.ds(r * P, rows), :])
        nm = _row_stats(t[0:rows, :], rows)
        s = nl.ndarray((P, 1), nl.float32)
        e = nl.ndarray((P, C), nl.float32)
        nisa.memset(dst=s, value=0.0)
        nisa.activation(dst=e[0:rows, :], op=nl.exp, data=t[0:rows, :], bias=nm, scale=1.0, reduce_op=nl.add, reduce_res=s[0:rows, :], reduce_cmd=nisa.reduce_cmd.reset_reduce)
        inv = nl.ndarray((P, 1), nl.float32)
        nisa.reciprocal(dst=inv[0:rows], data=s[0:rows])
        o = nl.ndarray((P, C), x.dtype)
        nisa.tensor_scalar(dst=o[0:rows, :], data=e[0:rows, :], op0=nl.multiply, operand0=inv[0:rows, :])
        nisa.dma_copy(dst=out[nl.ds(r * P, rows), :], src=o[0:rows, :])
    return out

if __name__ == "__main__":
    import torch
    x = torch.randn(300, 1024)
    softmax(x)
