import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def transposes(x):
    R, C = x.shape
    out = nl.ndarray((C, R), dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(R // 128):
        for c in nl.affine_range(C // 128):
            t = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x[r * 128:(r + 1) * 128, c * 128:(c + 1) * 128])
            if (r + c) % 3 == 0:
                p = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
                nisa.nc_transpose(dst=p, data=t, engine=nisa.engine.tensor)
                o = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=o, src=p, engine=nisa.scalar_engine)
            elif (r + c) % 3 == 1:
                o = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_transpose(dst=o, src=t)
            else:
                o = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                for b in range(4):
                    for d in range(4):
                        nisa.nc_transpose(dst=o[b * 32:(b + 1) * 32, d * 32:(d + 1) * 32], data=t[d * 32:(d + 1) * 32, b * 32:(b + 1) * 32], engine=nisa.engine.vector)
            nisa.dma_copy(dst=out[c * 128:(c + 1) * 128, r * 128:(r + 1) * 128], src=o)
    return out
if __name__ == "__main__":
    transposes(np.zeros((256, 384), nl.bfloat16))
