import nki
import nki.language as nl
import nki.isa as nisa

from typing import Optional, Tuple
from dataclasses import dataclass, field
from enum import Enum
class QuantizationType(Enum):
    NONE = 0
    FP8 = 1
@dataclass
class AttnCfg:
    bs: int = 4
    q_heads: int = 8
    d: int = 128
    s_prior: int = 2048
    quant: QuantizationType = QuantizationType.NONE
    def tiles(self): return self.s_prior // 512
class TensorView:
    def __init__(self, t): self.t = t
    def slice(self, dim, start, end):
        idx = [slice(None)] * len(self.t.shape); idx[dim] = slice(start, end)
        return TensorView(self.t[tuple(idx)])
    def get(self): return self.t
def kernel_assert(cond, msg):
    assert cond, f"[NCC_INKI016] {msg}"
@nki.jit
def attention_tkg(q, k_prior, v_prior, mask: Optional[nl.ndarray] = None, scale: float = None):
    cfg = AttnCfg(bs=q.shape[0], q_heads=q.shape[2], d=q.shape[1], s_prior=k_prior.shape[2])
    kernel_assert(cfg.d <= nl.tile_size.pmax, "d_head too large")
    out = nl.ndarray((cfg.bs, cfg.q_heads, cfg.d), dtype=q.dtype, buffer=nl.shared_hbm)
    scale = scale or cfg.d ** -0.5
    for b in range(cfg.bs):
        qs = nl.ndarray((cfg.d, cfg.q_heads), dtype=q.dtype, buffer=nl.sbuf, name=f"q_{b}")
        nisa.dma_copy(dst=qs, src=q[b])
        sc = nl.ndarray((cfg.q_heads, cfg.s_prior), dtype=nl.float32, buffer=nl.sbuf)
        for t in range(cfg.tiles()):
            ks = nl.ndarray((cfg.d, 512), dtype=q.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=ks, src=TensorView(k_prior[b]).slice(1, t * 512, (t + 1) * 512).get())
            p = nl.ndarray((cfg.q_heads, 512), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=p, stationary=qs, moving=ks)
            nisa.activation(dst=sc[:, nl.ds(t * 512, 512)], op=nl.copy, data=p, scale=scale)
        mx = nl.ndarray((cfg.q_heads, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=mx, op=nl.maximum, data=sc, axis=1, negate=True)
        sm = nl.ndarray((cfg.q_heads, 1), dtype=nl.float32, buffer=nl.sbuf)
        ex = nl.ndarray((cfg.q_heads, cfg.s_prior), dtype=q.dtype, buffer=nl.sbuf)
        nisa.activation_reduce(dst=ex, op=nl.exp, data=sc, bias=mx, reduce_op=nl.add, reduce_res=sm)
        nisa.reciprocal(dst=sm, data=sm)
        o = nl.ndarray((cfg.q_heads, cfg.d), dtype=nl.float32, buffer=nl.psum)
        for t in range(cfg.s_prior // 128):
            et_p = nl.ndarray((128, cfg.q_heads), dtype=q.dtype, buffer=nl.psum)
            nisa.nc_transpose(dst=et_p, data=ex[:, t * 128:(t + 1) * 128])
            et = nl.ndarray((128, cfg.q_heads), dtype=q.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=et, src=et_p)
            vs = nl.ndarray((128, cfg.d), dtype=q.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=vs, src=v_prior[b, t * 128:(t + 1) * 128, :])
            nisa.nc_matmul(dst=o, stationary=et, moving=vs)
        os_ = nl.ndarray((cfg.q_heads, cfg.d), dtype=q.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=os_, data=o, op0=nl.multiply, operand0=sm)
        nisa.dma_copy(dst=out[b], src=os_)
    return out

if __name__ == "__main__":
    import numpy as np
    attention_tkg(np.zeros((2, 128, 8), dtype=nl.bfloat16), np.zeros((2, 128, 2048), dtype=nl.bfloat16), np.zeros((2, 2048, 128), dtype=nl.bfloat16))
