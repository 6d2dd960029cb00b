import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def gather_rows(table, idx):
    V, D = table.shape
    N = idx.shape[0]
    out = nl.ndarray((N, D), dtype=table.dtype, buffer=nl.shared_hbm)
    ids = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)
    for t in nl.sequential_range(N // 128):
        nisa.dma_copy(dst=ids, src=idx.reshape((N, 1))[t * 128:(t + 1) * 128, :])
        rows = nl.ndarray((128, D), dtype=table.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=table.ap(pattern=[[D, 128], [1, D]], offset=0, vector_offset=ids, indirect_dim=0), oob_mode=nisa.oob_mode.skip)
        nisa.dma_copy(dst=out[t * 128:(t + 1) * 128, :], src=rows)
    return out

@nki.jit
def fori(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    def body(i):
        t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[nl.ds(i * 128, 128), :])
        nisa.activation(dst=t, op=nl.gelu, data=t)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=t)
    nl.fori_loop(0, x.shape[0] // 128, body)
    return out
if __name__ == "__main__":
    gather_rows(np.zeros((1000, 64), np.float32), np.zeros((256,), np.int32))
