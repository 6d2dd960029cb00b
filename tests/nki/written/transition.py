import neuronxcc.nki as nki, neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa
import numpy as np
@nki.jit
def t(x):
    y = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    b = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    nisa.activation(dst=b, op=nl.exp, data=a)
    nisa.tensor_tensor(dst=b, data1=a, data2=b, op=nl.add)
    c = nisa.tensor_tensor(a, b, op=np.multiply, engine=nisa.gpsimd_engine)
    d = nisa.tensor_scalar(c, np.add, 1.0, op1=np.multiply, operand1=2.0)
    e = nisa.memset((128, 1), 0, dtype=np.float32)
    f = nisa.tensor_reduce(np.add, d, axis=[1])
    g = nl.add(e, f)
    d *= g
    d -= 1
    d /= 2.0
    h = -d + 1.0 / nl.sqrt(nl.exp(d))
    nl.store(y, h)
    return y
if __name__ == "__main__":
    t(np.zeros((128, 512), np.float32))
