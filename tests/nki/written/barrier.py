import nki
import nki.language as nl
import nki.isa as nisa

@nki.jit
def add_sharded(a, b):
    P, F = a.shape
    c = nl.ndarray((P, F), dtype=a.dtype, buffer=nl.shared_hbm)
    n, me = nl.num_programs(0), nl.program_id(0)
    each = F // n
    x = nl.ndarray((P, each), dtype=a.dtype, buffer=nl.sbuf)
    y = nl.ndarray((P, each), dtype=a.dtype, buffer=nl.sbuf)
    nisa.dma_copy(x, a[:, nl.ds(me * each, each)])
    nisa.dma_copy(y, b[:, nl.ds(me * each, each)])
    nisa.tensor_tensor(x, x, y, op=nl.add)
    nisa.dma_copy(c[:, nl.ds(me * each, each)], x)
    nisa.core_barrier(data=c, cores=(0, 1))
    return c
if __name__ == "__main__":
    import numpy as np
    add_sharded[nl.nc(2)](np.zeros((128, 4096), np.float32), np.zeros((128, 4096), np.float32))
