// What the worker calls of the program that reads model files, under names of its own: each program's file has an initSync.
// Nothing starts here: src/web/worker/reader.rs does it when the first model file is read.
export { initSync as startReader, read_model as readModel } from "./reader.js";
