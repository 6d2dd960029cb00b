import neuronxcc.nki as nki, neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa
import numpy as np
from functools import partial, lru_cache
from enum import Enum
class Act(Enum):
    SILU = "silu"
    GELU = "gelu"
ACTS = {Act.SILU: nl.silu, Act.GELU: nl.gelu}
@lru_cache(maxsize=None)
def tiles(n, t): return -(-n // t)
def mlp_tile(x, w, act=Act.SILU):
    h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in nl.static_range(x.shape[1] // 128):
        xt = nisa.nc_transpose(x[:, k * 128:(k + 1) * 128])
        xs = nl.copy(xt, dtype=nl.bfloat16)
        h += nl.matmul(xs, w[k], transpose_x=True)
    return ACTS[act](h)
@nki.jit
def mlp(x, w, act="silu"):
    S, D = x.shape
    out = nl.ndarray((S, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    wt = nl.ndarray((D // 128, nl.par_dim(128), 512), dtype=nl.bfloat16)
    for k in nl.affine_range(D // 128):
        wt[k] = nl.load(w[k * 128:(k + 1) * 128, :], dtype=nl.bfloat16)
    fn = partial(mlp_tile, act=Act(act))
    for s in nl.sequential_range(tiles(S, 128)):
        x_t = nl.load(x[s * 128:(s + 1) * 128, :], dtype=nl.bfloat16)
        y = fn(x_t, wt)
        nl.store(out[s * 128:(s + 1) * 128, :], y)
    return out
if __name__ == "__main__":
    mlp(np.zeros((256, 256), np.float32), np.zeros((256, 512), np.float32), act="gelu")
