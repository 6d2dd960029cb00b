import nki.language as nl
import nki.isa as nisa
import nki
import numpy as np
P = nl.tile_size.pmax
assert P == 128
@nki.jit(debug_kernel=True, show_compiler_tb=True)
def psum_banks(x, y):
    K, N = x.shape
    out = nl.ndarray((128, N), dtype=x.dtype, buffer=nl.shared_hbm)
    lhs = nl.ndarray((128, 128), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=lhs, src=y)
    accs = []
    for bank in range(4):
        accs.append(nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, bank * 2048)))
    xt = {}
    for bank in range(4):
        xt[bank] = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf, address=(0, 4096 + bank * 2048))
        nisa.dma_copy(dst=xt[bank], src=x[0:128, bank * 512:(bank + 1) * 512])
        nisa.nc_matmul(dst=accs[bank], stationary=lhs, moving=xt[bank])
    res = nl.ndarray((128, N), dtype=x.dtype, buffer=nl.sbuf)
    for bank, acc in enumerate(accs):
        engine = [nisa.vector_engine, nisa.scalar_engine][bank % 2]
        nisa.tensor_copy(dst=res[:, bank * 512:(bank + 1) * 512], src=acc, engine=engine)
    nisa.dma_copy(dst=out, src=res)
    return out
if __name__ == "__main__":
    psum_banks(np.zeros((128, 2048), np.float32), np.zeros((128, 128), np.float32))
