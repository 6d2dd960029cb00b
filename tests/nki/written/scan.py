import nki, nki.language as nl, nki.isa as nisa
import numpy as np
@nki.jit
def scan(d, u, a):
    P, L = d.shape
    out = nl.ndarray((P, L), dtype=d.dtype, buffer=nl.shared_hbm)
    h = nl.zeros((P, 1), dtype=nl.float32, buffer=nl.sbuf)
    TL = 256
    for i in nl.sequential_range(L // TL):
        dt = nl.load(d[:, nl.ds(i * TL, TL)]); ut = nl.load(u[:, nl.ds(i * TL, TL)]); at = nl.load(a)
        da = nl.ndarray((P, TL), nl.float32); nisa.activation(dst=da, op=nl.exp, data=dt, scale=at)
        du = nl.ndarray((P, TL), nl.float32); nisa.tensor_tensor(dst=du, data1=dt, data2=ut, op=nl.multiply)
        s = nl.ndarray((P, TL), nl.float32)
        nisa.tensor_tensor_scan(dst=s, data0=da, data1=du, initial=h, op0=nl.multiply, op1=nl.add)
        nisa.tensor_copy(dst=h, src=s[:, TL - 1:TL])
        nl.store(out[:, nl.ds(i * TL, TL)], s)
    return out
if __name__ == "__main__":
    z = np.zeros((128, 1024), np.float32)
    scan(z, z, np.zeros((128, 1), np.float32))
