// The functions that the worker calls in the program that reads model files, under separate names: each program's file has an initSync.
// Nothing starts here: src/web/worker/reader.rs does it when the first model file is read.
export { initSync as startReader, read_model as readModel } from "./reader.js";
