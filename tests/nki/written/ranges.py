import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit(platform_target="trn2")
def ranges(x, low, high, other, chosen):
    """Selections by a range of columns and by a tile, each with the largest of its result."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    most = nl.ndarray((128, 2), dtype=np.float32, buffer=nl.shared_hbm)
    tile, first, end = nl.load(x), nl.load(low), nl.load(high)
    largest = nl.ndarray((128, 2), dtype=np.float32)
    within = nl.ndarray((128, 512), dtype=x.dtype)
    within[...] = nisa.range_select(
        on_true_tile=tile[...],
        comp_op0=np.greater_equal,
        comp_op1=np.less,
        bound0=first,
        bound1=end,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
        reduce_res=largest[:, 0],
        reduce_op=np.max,
        range_start=0,
        on_false_value=nl.fp32.min,
    )
    result = nl.ndarray((128, 512), dtype=nl.float32)
    nisa.select_reduce(
        dst=result, predicate=nl.load(chosen), on_true=within, on_false=nl.load(other), reduce_res=largest[:, 1], reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_op=nl.maximum
    )
    nl.store(out, value=result)
    nl.store(most, value=largest)
    return out, most


wide, narrow = np.zeros((128, 512), np.float32), np.zeros((128, 1), np.float32)
ranges(wide, narrow, narrow, narrow, np.zeros((128, 512), np.uint8))
