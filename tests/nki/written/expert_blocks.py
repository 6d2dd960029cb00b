import nki
import nki.language as nl
import nki.isa as nisa

@nki.jit
def blockwise_mm(hidden, block_to_expert, token_ids, wgu, wd, B: int = 128):
    T, H = hidden.shape
    E, _, two, I = wgu.shape
    N = block_to_expert.shape[0]
    out = nl.ndarray((T, H), dtype=hidden.dtype, buffer=nl.shared_hbm)
    be = nl.ndarray((1, N), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=be, src=block_to_expert.reshape((1, N)))
    for b in nl.sequential_range(N):
        ids = nl.ndarray((B, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=ids, src=token_ids.reshape((N, B, 1))[b])
        x = nl.ndarray((B, H), dtype=hidden.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=hidden.ap(pattern=[[H, B], [1, H]], offset=0, vector_offset=ids, indirect_dim=0), oob_mode=nisa.oob_mode.skip)
        e = nisa.register_alloc(0)
        nisa.register_load(e, be[0:1, b:b + 1])
        xT = nl.ndarray((128, H // 128, B), dtype=hidden.dtype, buffer=nl.sbuf)
        for h in range(H // 128):
            tp = nl.ndarray((128, B), dtype=hidden.dtype, buffer=nl.psum)
            nisa.nc_transpose(tp, x[:, h * 128:(h + 1) * 128])
            nisa.tensor_copy(xT[:, h, :], tp)
        hT = nl.ndarray((128, I // 128, B), dtype=hidden.dtype, buffer=nl.sbuf)
        for i in range(I // 128):
            gu = [nl.ndarray((128, B), dtype=nl.float32, buffer=nl.psum) for _ in range(2)]
            for h in range(H // 128):
                w = nl.ndarray((128, 2, 128), dtype=wgu.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=w, src=wgu.ap(pattern=[[2 * I, 128], [I, 2], [1, 128]], offset=h * 128 * 2 * I + i * 128, scalar_offset=e, indirect_dim=0))
                for g in range(2):
                    nisa.nc_matmul(gu[g], w[:, g, :], xT[:, h, :])
            g_s = nl.ndarray((128, B), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(g_s, nl.silu, gu[0])
            nisa.tensor_tensor(hT[:, i, :], g_s, gu[1], nl.multiply)
        for n in range(H // 512):
            o = nl.ndarray((B, 512), dtype=nl.float32, buffer=nl.psum)
            for i in range(I // 128):
                w = nl.ndarray((128, 512), dtype=wd.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=w, src=wd.ap(pattern=[[H, 128], [1, 512]], offset=i * 128 * H + n * 512, scalar_offset=e, indirect_dim=0))
                nisa.nc_matmul(o, hT[:, i, :], w)
            r = nl.ndarray((B, 512), dtype=hidden.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(r, o)
            nisa.dma_copy(dst=out.ap(pattern=[[H, B], [1, 512]], offset=n * 512, vector_offset=ids, indirect_dim=0), src=r, dge_mode=nisa.dge_mode.swdge)
    return out

if __name__ == "__main__":
    import numpy as np
    blockwise_mm(
        np.zeros((256, 1024), dtype=nl.bfloat16), np.zeros((4,), np.int32), np.zeros((512,), np.int32),
        np.zeros((8, 1024, 2, 256), dtype=nl.bfloat16), np.zeros((8, 256, 1024), dtype=nl.bfloat16),
    )
