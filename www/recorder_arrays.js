// Arrays for the values of a kernel: the loops under nki_recorder/arrays.py, which makes NumPy of them. An array is its numbers, row by row, and
// its shape.
const kinds = {
  float64: Float64Array, float32: Float32Array, int32: Int32Array, uint32: Uint32Array, int16: Int16Array, uint16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
  bool: Uint8ClampedArray,
};
const order = Object.keys(kinds);

const count = (shape) => shape.reduce((all, n) => all * n, 1);
const stridesOf = (shape) => shape.map((_, at) => count(shape.slice(at + 1)));
export const kindOf = (array) => order.find((kind) => array.data instanceof kinds[kind]);
export const make = (shape, kind, value) => ({ shape, data: new kinds[kind](count(shape)).fill(value) });
export const cast = ({ shape, data }, kind) => ({ shape, data: kind === "bool" ? kinds.bool.from(data, (x) => x !== 0) : new kinds[kind](data) });
export const ofList = (list) => ({ shape: [list.length], data: Float64Array.from(list) });
export const toList = (array) => Array.from(array.data);
export const first = (array) => array.data[0];
// Pairs of bytes as whole numbers.
export const pairs = (bytes) => ({ shape: [bytes.length / 2], data: Float64Array.from({ length: bytes.length / 2 }, (_, i) => bytes[2 * i] + 256 * bytes[2 * i + 1]) });
export const reshape = (array, shape) => ({ shape, data: array.data });

// Calls for each row along the last axis, with the place where each operand's row begins.
function rows(shape, strides, visit) {
  const outer = shape.slice(0, -1);
  const [index, at] = [outer.map(() => 0), strides.map(({ offset = 0 }) => offset)];
  for (let row = count(outer), done = 0; done < row; done++) {
    visit(done * (shape.at(-1) ?? 1), at);
    for (let axis = outer.length - 1; axis >= 0; axis--) {
      index[axis]++;
      strides.forEach(({ steps }, i) => (at[i] += steps[axis]));
      if (index[axis] < outer[axis]) break;
      strides.forEach(({ steps }, i) => (at[i] -= steps[axis] * outer[axis]));
      index[axis] = 0;
    }
  }
}

// A copy of what these steps reach: slices, transposes, repeated axes.
export function strided(array, shape, steps, offset) {
  const [from, found] = [array.data, make(shape, kindOf(array), 0)];
  const [to, step, width] = [found.data, steps.at(-1) ?? 0, shape.at(-1) ?? 1];
  if (count(shape) === 0) return found;
  rows(shape, [{ steps, offset }], (out, [at]) => {
    for (let i = 0; i < width; i++) to[out + i] = from[at + i * step];
  });
  return found;
}

// Puts the elements of another array to what these steps reach.
export function put(array, shape, steps, offset, values) {
  const [from, to, step, width] = [values.data, array.data, steps.at(-1) ?? 0, shape.at(-1) ?? 1];
  if (count(shape) === 0) return;
  rows(shape, [{ steps, offset }], (out, [at]) => {
    for (let i = 0; i < width; i++) to[at + i * step] = from[out + i];
  });
}

function common(a, b) {
  const length = Math.max(a.length, b.length);
  return Array.from({ length }, (_, i) => {
    const [x, y] = [a[i - length + a.length] ?? 1, b[i - length + b.length] ?? 1];
    if (x !== y && x !== 1 && y !== 1) throw new Error(`shapes (${a}) and (${b}) do not go together`);
    return x === 1 ? y : x;
  });
}

export function stepsIn(own, shape) {
  const steps = stridesOf(own);
  return shape.map((_, i) => (own[i - shape.length + own.length] > 1 ? steps[i - shape.length + own.length] : 0));
}

const isFloat = (kind) => kind.startsWith("float");
// The type of a result: an integer of 32 bits beside a number of 32 bits needs 64, as in NumPy.
const joined = (a, b) => (a === b ? a : isFloat(a) && isFloat(b) ? "float64" : [a, b].includes("float64") || isFloat(a) || isFloat(b) ? "float64" : "int32");

const compared = {
  equal: (a, b) => a === b, not_equal: (a, b) => a !== b, greater: (a, b) => a > b, greater_equal: (a, b) => a >= b, less: (a, b) => a < b,
  less_equal: (a, b) => a <= b, logical_and: (a, b) => a && b, logical_or: (a, b) => a || b, logical_xor: (a, b) => !a !== !b,
};
const floored = (a, b) => a - b * Math.floor(a / b);
const joining = {
  add: (a, b) => a + b, subtract: (a, b) => a - b, multiply: (a, b) => a * b, divide: (a, b) => a / b, power: (a, b) => a ** b, mod: floored,
  floor_divide: (a, b) => Math.floor(a / b), maximum: (a, b) => (a >= b || a !== a ? a : b), minimum: (a, b) => (a <= b || a !== a ? a : b),
  bitwise_and: (a, b) => a & b, bitwise_or: (a, b) => a | b, bitwise_xor: (a, b) => a ^ b, arctan2: Math.atan2, hypot: (a, b) => Math.hypot(a, b),
  copysign: (a, b) => Math.abs(a) * (b < 0 || Object.is(b, -0) ? -1 : 1),
  logaddexp: (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))),
};

export function binary(name, a, b) {
  const [compare, join] = [compared[name], joining[name]];
  let kind = compare ? "bool" : joined(kindOf(a), kindOf(b));
  if (["divide", "hypot", "arctan2", "logaddexp"].includes(name) && !isFloat(kind)) kind = "float64";
  const [visit, shape] = [compare ? (x, y) => (compare(x, y) ? 1 : 0) : join, common(a.shape, b.shape)];
  const found = make(shape, kind, 0);
  const [to, left, right, width] = [found.data, a.data, b.data, shape.at(-1) ?? 1];
  const [own, other] = [stepsIn(a.shape, shape), stepsIn(b.shape, shape)];
  const [step, stride] = [own.at(-1) ?? 0, other.at(-1) ?? 0];
  if (to.length > 0) {
    rows(shape, [{ steps: own }, { steps: other }], (out, [i, j]) => {
      for (let n = 0; n < width; n++) to[out + n] = visit(left[i + n * step], right[j + n * stride]);
    });
  }
  return found;
}

function rint(x) {
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 !== 0 ? up - 1 : up;
}

// The sum of exp(-x^2) 2^n x^(2n + 1) / (2n + 1)!!, whose terms are of one sign.
function erf(x) {
  if (!(Math.abs(x) < 6)) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const tested = { isnan: Number.isNaN, isfinite: Number.isFinite, isinf: (x) => Math.abs(x) === Infinity, logical_not: (x) => !x };
const same = {
  negative: (x) => -x, absolute: Math.abs, sign: Math.sign, square: (x) => x * x, floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc, rint, bitwise_not: (x) => ~x,
};
const smooth = {
  exp: Math.exp, exp2: (x) => 2 ** x, expm1: Math.expm1, log: Math.log, log1p: Math.log1p, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt, cbrt: Math.cbrt,
  sin: Math.sin, cos: Math.cos, tan: Math.tan, arcsin: Math.asin, arccos: Math.acos, arctan: Math.atan, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh,
  reciprocal: (x) => 1 / x, erf,
};

export function unary(name, array) {
  const kind = kindOf(array);
  const visit = tested[name] ?? same[name] ?? smooth[name];
  const found = make(array.shape, tested[name] ? "bool" : smooth[name] && !isFloat(kind) ? "float64" : kind, 0);
  const [to, from] = [found.data, array.data];
  for (let i = 0; i < to.length; i++) to[i] = visit(from[i]);
  return found;
}

export const hasUnary = (name) => name in tested || name in same || name in smooth;
export const hasBinary = (name) => name in compared || name in joining;

// Numbers of 32 bits as a type with fewer holds them: bits of its mantissa, its smallest exponent, its largest number and what is beyond.
export function rounded({ shape, data }, bits, low, top, beyond) {
  const [numbers, powers] = [Float32Array.from(data), Float64Array.from({ length: 400 }, (_, at) => 2 ** (at - 200))];
  const patterns = new Int32Array(numbers.slice().buffer);
  for (let i = 0; i < numbers.length; i++) {
    const step = Math.max(((patterns[i] >>> 23) & 255) - 127, low) - bits;
    const near = rint(numbers[i] * powers[200 - step]) * powers[200 + step];
    numbers[i] = Math.abs(near) > top ? Math.sign(near) * beyond : near;
  }
  return { shape, data: numbers };
}

export function where(condition, a, b) {
  const shape = common(common(condition.shape, a.shape), b.shape);
  const found = make(shape, joined(kindOf(a), kindOf(b)), 0);
  const whole = [condition, a, b].map((one) => strided(one, shape, stepsIn(one.shape, shape), 0).data);
  for (let i = 0; i < found.data.length; i++) found.data[i] = whole[0][i] ? whole[1][i] : whole[2][i];
  return found;
}

const extreme = (isBetter) => (row) => row.reduce((best, x, i) => (row[best] === row[best] && (isBetter(x, row[best]) || x !== x) ? i : best), 0);
const [argmax, argmin] = [extreme((x, y) => x > y), extreme((x, y) => x < y)];
const folded = {
  sum: (row) => row.reduce((all, x) => all + x, 0), prod: (row) => row.reduce((all, x) => all * x, 1), argmax, argmin,
  max: (row) => row[argmax(row)], min: (row) => row[argmin(row)], any: (row) => row.some(Boolean), all: (row) => row.every(Boolean),
};

// One number of each row along the last axis.
export function reduce(name, array) {
  const [shape, width, kind] = [array.shape.slice(0, -1), array.shape.at(-1), kindOf(array)];
  const of = { argmax: "int32", argmin: "int32", any: "bool", all: "bool" }[name] ?? (kind === "bool" ? "int32" : kind);
  const [found, fold] = [make(shape, of, 0), folded[name]];
  for (let i = 0; i < found.data.length; i++) found.data[i] = fold(array.data.subarray(i * width, (i + 1) * width));
  return found;
}

// Sums and products so far, and orders, along the last axis.
export function along(name, array) {
  const [width, kind] = [array.shape.at(-1), kindOf(array)];
  const found = make(array.shape, name === "argsort" ? "int32" : kind, 0);
  for (let at = 0; at < found.data.length; at += width) {
    const [row, to] = [array.data.subarray(at, at + width), found.data.subarray(at, at + width)];
    if (name === "sort") to.set(row.slice().sort());
    else if (name === "argsort") to.set(Array.from(row.keys()).sort((i, j) => row[i] - row[j]));
    else row.reduce((all, x, i) => (to[i] = i === 0 ? x : name === "cumsum" ? all + x : all * x), 0);
  }
  return found;
}

// A product for each of the leading axes, which both have; summed in 64 bits.
export function matmul(a, b) {
  const [m, k, n] = [a.shape.at(-2), a.shape.at(-1), b.shape.at(-1)];
  if (b.shape.at(-2) !== k) throw new Error(`a product of (${a.shape}) and (${b.shape})`);
  const found = make([...a.shape.slice(0, -1), n], joined(kindOf(a), kindOf(b)), 0);
  const [row, left, right] = [new Float64Array(n), a.data, b.data];
  for (let at = 0; at < count(a.shape.slice(0, -2)) * m; at++) {
    row.fill(0);
    const base = Math.floor(at / m) * k * n;
    for (let i = 0; i < k; i++) {
      const [x, from] = [left[at * k + i], base + i * n];
      if (i + 3 < k) {
        // Four rows at once: the sums are fetched and stored once for them.
        const [y, z, u] = [left[at * k + i + 1], left[at * k + i + 2], left[at * k + i + 3]];
        for (let j = 0; j < n; j++) row[j] += x * right[from + j] + y * right[from + n + j] + z * right[from + 2 * n + j] + u * right[from + 3 * n + j];
        i += 3;
      } else for (let j = 0; j < n; j++) row[j] += x * right[from + j];
    }
    found.data.set(row, at * n);
  }
  return found;
}

// Elements along an axis at some places.
export function take(array, index, axis) {
  const [before, after, length] = [array.shape.slice(0, axis), array.shape.slice(axis + 1), array.shape[axis]];
  const found = make([...before, ...index.shape, ...after], kindOf(array), 0);
  const [size, places, to, from] = [count(after), index.data, found.data, array.data];
  for (let group = 0, out = 0; group < count(before); group++) {
    for (let i = 0; i < places.length; i++) {
      const place = places[i] < 0 ? places[i] + length : places[i];
      if (!(place >= 0 && place < length)) throw new Error(`index ${places[i]} is outside of ${length} elements`);
      for (let j = 0, at = (group * length + place) * size; j < size; j++) to[out++] = from[at + j];
    }
  }
  return found;
}

export function concatenate(arrays, axis) {
  const [before, after] = [arrays[0].shape.slice(0, axis), arrays[0].shape.slice(axis + 1)];
  const length = arrays.reduce((all, one) => all + one.shape[axis], 0);
  const found = make([...before, length, ...after], arrays.map(kindOf).reduce(joined), 0);
  for (let group = 0, out = 0; group < count(before); group++) {
    for (const { data, shape } of arrays) {
      const size = shape[axis] * count(after);
      found.data.set(data.subarray(group * size, (group + 1) * size), out);
      out += size;
    }
  }
  return found;
}
