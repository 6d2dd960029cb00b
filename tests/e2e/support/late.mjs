// Answers of workers that come late: on a busy machine a page goes on before an answer is there, and must not be confused
// by it. NEURONSCOPE_LATE=300 delays each message from a worker by up to 300 ms, in order, in every test.
// The death of a worker is not delayed: the test that reads a dead worker's last words fails.

/** The longest delay in milliseconds, and the seed of the delays; `undefined` if messages come as they are sent. */
export function lateness(env = process.env) {
  const mostMs = Number(env.NEURONSCOPE_LATE ?? 0);
  return mostMs > 0 ? { mostMs, seed: Number(env.NEURONSCOPE_LATE_SEED ?? 1) } : undefined;
}

/** Runs in the page before the app. */
export function delayAnswers({ mostMs, seed }) {
  let state = seed >>> 0;
  // Mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const { addEventListener: add, removeEventListener: remove } = Worker.prototype;
  const delayed = new WeakMap();
  Worker.prototype.addEventListener = function (type, listener, options) {
    if (type !== "message") return add.call(this, type, listener, options);
    const queue = { isRemoved: false, events: [], at: 0 };
    // Timers are not exact: whichever fires, the message that was sent first is next.
    const next = () => {
      const event = queue.events.shift();
      if (!queue.isRemoved) listener.call(this, event);
    };
    queue.listener = (event) => {
      queue.events.push(event);
      queue.at = Math.max(queue.at, performance.now() + random() * mostMs);
      setTimeout(next, queue.at - performance.now());
    };
    delayed.set(listener, queue);
    return add.call(this, type, queue.listener, options);
  };
  Worker.prototype.removeEventListener = function (type, listener, options) {
    const queue = type === "message" ? delayed.get(listener) : undefined;
    if (queue) queue.isRemoved = true;
    return remove.call(this, type, queue?.listener ?? listener, options);
  };
}
