// Python for the worker of studies: workers of their own, so that a kernel's file never holds up the study, has no access to the page, and
// is ended when it does not end. src/web/worker/recorder.rs calls these functions. The first lane keeps its Python for the next kernel.
const MOST_LANES = 4;
const lanes = [];

export const recordingLanes = () => Math.min(MOST_LANES, navigator.hardwareConcurrency || 1);

function start() {
  const lane = { number: 0, isReady: false, worker: new Worker(new URL("./recorder_worker.js", import.meta.url), { type: "module" }) };
  lane.worker.onmessage = ({ data }) => {
    if (data.isReady) lane.isReady = true;
    if (data.number === lane.number) lane[data.said ? "said" : "answer"] = data;
  };
  lane.worker.onerror = (event) => {
    event.preventDefault?.();
    lane.answer = { error: `Python stopped (${event.message || "its files could not be loaded"}); run it again` };
    lane.isDead = true;
  };
  return lane;
}

export function beginRecording(at, source, words) {
  if (!lanes[at] || lanes[at].isDead) lanes[at] = start();
  const lane = lanes[at];
  lane.answer = lane.said = undefined;
  lane.worker.postMessage([++lane.number, source, words]);
}

export function takeRecording(at) {
  const answer = lanes[at]?.answer;
  if (answer?.error !== undefined) throw answer.error;
  return answer?.list;
}

export const recordingSays = (at) => lanes[at]?.said?.said ?? "";

export function endRecordings() {
  lanes.forEach((lane, at) => {
    // One that starts is left to it: what it was asked is forgotten by its number.
    const isAtWork = lane.number > 0 && !lane.answer && lane.isReady;
    lane.number += 1;
    if (at > 0 || isAtWork) {
      lane.worker.terminate();
      delete lanes[at];
    }
  });
}
