"""Token generation attention with a KV cache, the way a serving library writes it."""
import nki, nki.language as nl, nki.isa as nisa
from nki.language import NKIObject
from dataclasses import dataclass
from typing import NamedTuple
import math
class Dims(NamedTuple):
    B: int
    H: int
    D: int
    S: int
@dataclass
class Cfg(NKIObject):
    dims: Dims = None
    scale: float = 0.0
    def __post_init__(self):
        self.scale = 1.0 / math.sqrt(self.dims.D)
def kernel_assert(cond, msg):
    assert cond, f"[attention_tkg] {msg}"
def div_ceil(a, b): return -(-a // b)
def load_k(k_cache, b, cfg):
    d = cfg.dims
    k = nl.ndarray((d.D, d.S), dtype=k_cache.dtype, buffer=nl.sbuf, name=f"k_sb_{b}")
    nisa.dma_copy(dst=k, src=k_cache[b])
    return k
@nki.jit
def attention_tkg(q, k_cache, v_cache, mask=None, *, debug=False):
    B, D, H = q.shape
    S = k_cache.shape[-1]
    cfg = Cfg(dims=Dims(B, H, D, S))
    kernel_assert(D <= nl.tile_size.pmax, f"{D=} must fit partitions")
    out = nl.ndarray((B, D, H), dtype=q.dtype, buffer=nl.shared_hbm, name="out")
    n = div_ceil(S, 128)
    for b in nl.static_range(B):
        q_sb = nl.ndarray((D, H), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=q_sb, src=q[b])
        nisa.tensor_scalar(dst=q_sb, data=q_sb, op0=nl.multiply, operand0=cfg.scale)
        k = load_k(k_cache, b, cfg)
        scores = nl.ndarray((H, S), dtype=nl.float32, buffer=nl.sbuf)
        for c in range(div_ceil(S, 512)):
            w = min(512, S - c * 512)
            ps = nl.ndarray((H, 512), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=ps[:, :w], stationary=q_sb, moving=k[:, c * 512:c * 512 + w])
            nisa.tensor_copy(dst=scores[:, c * 512:c * 512 + w], src=ps[:, :w])
        mx = nl.ndarray((H, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=mx, op=nl.maximum, data=scores, axis=[1], negate=True)
        p = nl.ndarray((H, S), dtype=nl.bfloat16, buffer=nl.sbuf)
        l = nl.ndarray((H, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=p, op=nl.exp, data=scores, bias=mx, reduce_op=nl.add, reduce_res=l)
        acc = nl.ndarray((D, H), dtype=nl.float32, buffer=nl.psum)
        for c in range(n):
            pt = nl.ndarray((128, H), dtype=nl.bfloat16, buffer=nl.psum)
            nisa.nc_transpose(dst=pt, data=p[:, nl.ds(c * 128, 128)])
            pt_sb = nl.ndarray((128, H), dtype=nl.bfloat16, buffer=nl.sbuf)
            nisa.tensor_copy(dst=pt_sb, src=pt)
            v = nl.ndarray((128, D), dtype=v_cache.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=v, src=v_cache[b, nl.ds(c * 128, 128), :])
            nisa.nc_matmul(dst=acc, stationary=v, moving=pt_sb, accumulate=c > 0)
        li = nl.ndarray((H, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=li, data=l)
        o = nl.ndarray((D, H), dtype=q.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=o, src=acc)
        if debug:
            nl.device_print("o", o)
        nisa.dma_copy(dst=out[b], src=o)
    return out
if __name__ == "__main__":
    import numpy as np
    bf = nl.bfloat16
    attention_tkg(np.zeros((2, 64, 8), bf), np.zeros((2, 64, 1024), bf), np.zeros((2, 1024, 64), bf))
