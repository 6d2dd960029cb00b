import nki
import nki.language as nl
import nki.isa as nisa

import numpy as np
from nki.language import ds, sbuf, psum, shared_hbm
def div_ceil(n, d): return (n + d - 1) // d
@nki.jit(debug_kernel=True, platform_target="trn2")
def head_rmsnorm(q, w, eps=1e-6):
    B, S, NH, D = q.shape
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=shared_hbm)
    rows = B * S
    qv, ov = q.reshape((rows, NH, D)), out.reshape((rows, NH, D))
    wb = nl.ndarray((128, D), dtype=w.dtype, buffer=sbuf)
    nisa.dma_copy(dst=wb, src=w.reshape((1, D)).broadcast_to((128, D)))
    e = nl.ndarray((128, 1), dtype=nl.float32, buffer=sbuf)
    nisa.memset(dst=e, value=eps)
    for i in nl.affine_range(div_ceil(rows, 128)):
        n = min(128, rows - i * 128)
        t = nl.ndarray((128, NH, D), dtype=nl.float32, buffer=sbuf)
        nisa.dma_copy(dst=t[:n], src=qv[ds(i * 128, n)])
        sq = nl.ndarray((128, NH, D), dtype=nl.float32, buffer=sbuf)
        nisa.tensor_tensor(dst=sq[:n], data1=t[:n], data2=t[:n], op=nl.multiply)
        ss = nl.ndarray((128, NH), dtype=nl.float32, buffer=sbuf)
        nisa.tensor_reduce(dst=ss[:n], op=nl.add, data=sq[:n], axis=2)
        nisa.activation(dst=ss[:n], op=nl.rsqrt, data=ss[:n], scale=1.0 / D, bias=e[:n])
        nisa.tensor_tensor(dst=t[:n], data1=t[:n], data2=ss[:n].reshape((n, NH, 1)).broadcast_to((n, NH, D)), op=nl.multiply)
        nisa.tensor_tensor(dst=t[:n], data1=t[:n], data2=wb[:n].expand_dims(1).broadcast_to((n, NH, D)), op=nl.multiply)
        o = nl.ndarray((128, NH, D), dtype=q.dtype, buffer=sbuf)
        nisa.tensor_copy(dst=o[:n], src=t[:n])
        nisa.dma_copy(dst=ov[ds(i * 128, n)], src=o[:n])
    return out

if __name__ == "__main__":
    head_rmsnorm(np.zeros((1, 200, 8, 64), dtype=nl.bfloat16), np.zeros((64,), np.float32))
