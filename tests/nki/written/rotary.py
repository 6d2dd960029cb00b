import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def rope(x, cos, sin):
    B, S, H, D = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    half = D // 2
    for b in range(B):
        for s0 in nl.affine_range(S // 128):
            rows = nl.ds(s0 * 128, 128)
            t = nl.ndarray((128, H, D), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x[b, rows])
            c = nl.ndarray((128, 1, half), dtype=nl.float32, buffer=nl.sbuf)
            s = nl.ndarray((128, 1, half), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=c[:, 0, :], src=cos[rows, :]); nisa.dma_copy(dst=s[:, 0, :], src=sin[rows, :])
            cb = c.broadcast(1, H)
            sb = s.broadcast(1, H)
            o = nl.ndarray((128, H, D), dtype=x.dtype, buffer=nl.sbuf)
            tmp = nl.ndarray((128, H, half), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=o[:, :, 0:half], data1=t[:, :, 0:half], data2=cb, op=nl.multiply)
            nisa.tensor_tensor(dst=tmp, data1=t[:, :, half:D], data2=sb, op=nl.multiply)
            nisa.tensor_tensor(dst=o[:, :, 0:half], data1=o[:, :, 0:half], data2=tmp, op=nl.subtract)
            nisa.tensor_tensor(dst=o[:, :, half:D], data1=t[:, :, half:D], data2=cb, op=nl.multiply)
            nisa.tensor_tensor(dst=tmp, data1=t[:, :, 0:half], data2=sb, op=nl.multiply)
            nisa.tensor_tensor(dst=o[:, :, half:D], data1=o[:, :, half:D], data2=tmp, op=nl.add)
            nisa.dma_copy(dst=out[b, rows], src=o)
    return out
if __name__ == "__main__":
    rope(np.zeros((1, 256, 4, 64), np.float32), np.zeros((256, 32), np.float32), np.zeros((256, 32), np.float32))
