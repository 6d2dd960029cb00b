// A synthetic Chrome trace: complete events on 64 tracks (8 processes of 8 threads), nested up to five deep, with 300
// names and arguments on a fifth of the events, sorted by time. The same count and seed give the same bytes.
import { closeSync, openSync, writeSync } from "node:fs";

const TRACKS = 64;
const MAX_DEPTH = 5;
const KINDS = [
  "aten::addmm", "aten::mm", "aten::softmax", "aten::layer_norm", "aten::gelu", "aten::copy_", "aten::view",
  "aten::transpose", "nccl:all_reduce", "nccl:all_gather", "cudaLaunchKernel", "cudaMemcpyAsync", "DMA queue", "matmult",
  "Tensor engine", "Activation", "Pool engine", "GpSimd", "sbuf_load", "psum_evict",
  "autograd::engine::evaluate_function: AddmmBackward0", "Optimizer.step#AdamW.step", "ProfilerStep",
  "DataLoader.__next__", "void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_tn_align8>",
  "elementwise_kernel", "reduce_kernel", "fused_attention_fwd", "fused_attention_bwd", "Memset",
];
const NAMES = Array.from({ length: 300 }, (_, i) => `${KINDS[i % KINDS.length]}_${Math.floor(i / KINDS.length)}`);
const CATEGORIES = ["cpu_op", "kernel", "user_annotation", "cuda_runtime", "gpu_memcpy"];

/** Mulberry32: uniform numbers in [0, 1). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes a trace of `events` events to `path`; returns its size in bytes. */
export function writeSynthetic(path, events, seed = 42) {
  const uniform = random(seed);
  const exponential = (mean) => -Math.log(1 - uniform()) * mean;
  const below = (n) => Math.floor(uniform() * n);
  // Few names are frequent, most are rare.
  const sums = [];
  NAMES.reduce((sum, _, i) => (sums[i] = sum + (1 + i) ** -0.7), 0);
  const name = () => {
    const wanted = uniform() * sums.at(-1);
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  // Times are whole nanoseconds.
  const start = new Float64Array(events);
  const duration = new Float64Array(events);
  const track = new Uint8Array(events);
  const names = new Uint16Array(events);
  let count = 0;
  // Writes one slice with its children, at most `budget` slices in all; returns its duration.
  const tree = (at, depth, budget, of) => {
    const own = count++;
    let left = budget - 1;
    let inside = Math.round((exponential(2) + 0.05) * 1000);
    const children = depth >= MAX_DEPTH ? 0 : depth > 1 ? [0, 1, 1, 2, 3, 4][below(6)] : 1 + below(4);
    for (let i = 0; i < children && left > 0; i++) {
      const before = count;
      inside += tree(at + inside, depth + 1, left, of) + Math.round(uniform() * 500);
      left -= count - before;
    }
    start[own] = at;
    duration[own] = inside + Math.round((exponential(3) + 0.05) * 1000);
    track[own] = of;
    names[own] = name();
    return duration[own];
  };
  for (let of = 0; of < TRACKS; of++) {
    const end = count + Math.floor(events / TRACKS) + (of < events % TRACKS ? 1 : 0);
    let at = Math.round(uniform() * 50_000);
    while (count < end) at += tree(at, 1, end - count, of) + Math.round(exponential(4) * 1000);
  }
  const order = Uint32Array.from({ length: events }, (_, i) => i);
  order.sort((a, b) => start[a] - start[b] || duration[b] - duration[a]);

  const file = openSync(path, "w");
  let [text, bytes] = ["", 0];
  const write = (more) => {
    text += more;
    if (text.length > 1 << 22) flush();
  };
  const flush = () => {
    bytes += writeSync(file, text);
    text = "";
  };
  write('{"displayTimeUnit":"ns","traceEvents":[\n');
  const meta = (pid, tid, what, value) =>
    write(`{"ph":"M","pid":${pid},"tid":${tid},"name":"${what}","args":{"name":"${value}"}},\n`);
  for (let p = 0; p < 8; p++) {
    meta(1000 + p, 0, "process_name", `NeuronCore ${p}`);
    for (let t = 0; t < 8; t++) meta(1000 + p, t, "thread_name", `engine ${t}`);
  }
  const us = (ns) => (ns / 1000).toFixed(3);
  order.forEach((i, position) => {
    const [pid, tid] = [1000 + (track[i] >> 3), track[i] & 7];
    const args = uniform() < 0.2
      ? `,"args":{"External id":${position},"Input Dims":"[[${1 + below(63)},${64 + below(4032)}],[${64 + below(4032)}]]","bytes":${1 + below(1 << 24)}}`
      : "";
    const comma = position + 1 < events ? "," : "";
    write(`{"ph":"X","cat":"${CATEGORIES[names[i] % 5]}","name":"${NAMES[names[i]]}","pid":${pid},"tid":${tid},"ts":${us(start[i])},"dur":${us(duration[i])}${args}}${comma}\n`);
  });
  write("]}\n");
  flush();
  closeSync(file);
  return bytes;
}
