import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def sharded_add(a, b):
    n_prg = nl.num_programs(0)
    prg = nl.program_id(0)
    R, C = a.shape
    out = nl.ndarray((R, C), dtype=a.dtype, buffer=nl.shared_hbm)
    per = R // n_prg
    for i in nl.affine_range(per // 128):
        lo = prg * per + i * 128
        x = nl.load(a[lo:lo + 128, :]); y = nl.load(b[lo:lo + 128, :])
        nl.store(out[lo:lo + 128, :], nl.add(x, y))
    return out
if __name__ == "__main__":
    a = np.zeros((512, 256), np.float32)
    sharded_add[2](a, a)
    sharded_add[nl.nc(2)](a, a)
