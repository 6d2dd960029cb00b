import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def dyn(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nt = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=nt, src=n)
    reg = nisa.register_alloc()
    nisa.register_load(dst=reg, src=nt)
    for i in nl.dynamic_range(reg):
        t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x.ap([[512, 128], [1, 512]], scalar_offset=reg, indirect_dim=0))
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=t)
    return out
if __name__ == "__main__":
    dyn(np.zeros((1024, 512), np.float32), np.zeros((1, 1), np.int32))
