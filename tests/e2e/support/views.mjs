// The views and states of the page of which pictures are taken: for each an address, and the actions before the picture.
import { fileURLToPath } from "node:url";
import { chooseTool, copyMenu, editForm, waitForState } from "./app.mjs";

const TRACES = fileURLToPath(new URL("../../it/fixtures/traces/", import.meta.url));
const MODELS = fileURLToPath(new URL("../../it/fixtures/models/", import.meta.url));
/** BERT in its published size. */
export const BERT_FILE = "hlo/bert-base-b1-s128--torchxla2.9.0.hlo_module.pb.gz";
const SMALL = "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge";
const EXPERIMENTS = "#/experiments?v=1&run_suite=torchbench&run_models=alexnet,resnet18,resnet50&run_accelerator=trn1,cuda&run_test=eval&run_repeat=10";
const SWEEP = "#/benchmark?v=1&model=nn&batch_sizes=1,4,16&n_models=1,2&workers_per_model=1,2&duration=2";

const done = (page) => waitForState(page, "done");
const ready = (page) => page.waitForFunction(() => ["idle", "done"].includes(document.documentElement.dataset.state));
const run = async (page) => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await done(page);
};
const shows = (tool) => async (page) => {
  await page.locator(`.workspace-view[data-view="${tool}"]`).waitFor();
  await page.waitForFunction(() => !document.querySelector(".workspace-view progress") && !document.body.textContent.includes("being computed"));
};
/** Opens a file, and a tool other than the first if one is named. */
const opens = (file, tool) => async (page) => {
  await page.locator("#open-file").setInputFiles(TRACES + file);
  await done(page);
  if (tool) await chooseTool(page, tool);
};
/** Gives a model file to the page, as a drop does, and waits for its sweep. */
export const dropsModel = (file) => async (page) => {
  await page.locator("#open-file").setInputFiles(MODELS + file);
  await page.waitForFunction(() => location.hash.startsWith("#/benchmark"));
  await done(page);
  await page.getByRole("table", { name: "Benchmark results" }).locator("tbody tr").first().waitFor();
};
const simulated = (tool, then) => ({
  hash: `${SMALL}&tool=${tool}`,
  act: async (page) => {
    await done(page);
    await shows(tool)(page);
    await then?.(page);
  },
});

const selected = async (page) => {
  await page.getByRole("application", { name: "Timeline" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Wall duration").waitFor();
};

/** Maps a name to an address and the actions there; `act` ends when the view has settled. */
export const VIEWS = {
  landing: { hash: "" },
  guide: { hash: "#/guide", act: ready },
  "profile-form": { hash: "#/profile?v=1" },
  "profile-overview": simulated("overview"),
  "profile-timeline": simulated("operator-timeline"),
  "profile-timeline-selected": simulated("operator-timeline", selected),
  "profile-timeline-area": simulated("operator-timeline", async (page) => {
    await selected(page);
    await page.keyboard.press("m");
    await page.keyboard.press("r");
    await page.getByRole("table", { name: "Slices of the area by name" }).waitFor();
  }),
  "profile-finder": simulated("overview", async (page) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("fused");
    await page.locator(".finder li", { hasText: "Slice" }).first().waitFor();
  }),
  "profile-copy": simulated("operator-timeline", copyMenu),
  "profile-edit": simulated("overview", (page) => page.locator(".spec-line").click()),
  "profile-framework": simulated("operator-framework"),
  "profile-hlo": simulated("operator-hlo"),
  "profile-engines": simulated("operator-engine"),
  "profile-statistics": simulated("statistics"),
  "profile-flame": simulated("flame-graph"),
  "profile-modules": simulated("modules"),
  "profile-path": simulated("critical-path"),
  "profile-idle": simulated("idle-gaps"),
  "profile-summary": simulated("summary", (page) => page.getByRole("heading", { name: "Metrics", exact: false }).first().waitFor()),
  "profile-compare": simulated("compare"),
  "profile-query": simulated("ask"),
  "trace-overview": { hash: "#/profile?v=1&file=tracelens_bert_small_mi300.json.gz&tool=overview", act: done },
  "dropped-model": { hash: "#/", act: dropsModel(BERT_FILE) },
  "trace-timeline": { hash: "#/profile?v=1", act: opens("kineto_resnet50_workers0_a.json.gz", "operator-timeline") },
  "trace-steps": { hash: "#/profile?v=1", act: opens("hta_timeline_sampled_rank0.json.gz") },
  "trace-flame": { hash: "#/profile?v=1", act: opens("fxprofiler_hello.cjs-20231120T211435.cpuprofile") },
  "trace-counters": { hash: "#/profile?v=1", act: opens("catapult_simple_trace.json", "counters") },
  "benchmark-empty": { hash: "#/benchmark?v=1", act: ready },
  "benchmark-results": { hash: SWEEP, act: done },
  "benchmark-form": { hash: SWEEP, act: async (page) => { await done(page); await editForm(page); } },
  "benchmark-copy": { hash: SWEEP, act: async (page) => { await done(page); await copyMenu(page); } },
  "benchmark-stale": {
    hash: SWEEP,
    act: async (page) => {
      await done(page);
      await editForm(page);
      await page.getByLabel("Duration (s)").first().fill("3");
      await page.getByText("The form has changed").waitFor();
    },
  },
  "inspect-empty": { hash: "#/inspect", act: ready },
  inspect: { hash: "#/inspect?model=bert-base-uncased", act: done },
  llm: { hash: "#/llm", act: done },
  numerics: { hash: "#/numerics?v=1&model=nn", act: run },
  "matmult-empty": { hash: "#/matmult", act: ready },
  matmult: { hash: "#/matmult?v=1&sizes=256", act: run },
  "customop-empty": { hash: "#/customop", act: ready },
  customop: { hash: "#/customop", act: run },
  nki: { hash: "#/nki", act: done },
  "nki-settings": { hash: "#/nki?v=1&kernel=silu&set=WIDTH%3D128,512,1024,2048,4096", act: done },
  "experiments-sample": { hash: "#/experiments", act: (page) => page.getByText(/A link opens the sample/).waitFor() },
  experiments: { hash: EXPERIMENTS, act: done },
  "experiments-form": {
    hash: EXPERIMENTS,
    act: async (page) => {
      await done(page);
      await page.getByRole("button", { name: "Run experiments", exact: true }).click();
      await page.getByRole("table", { name: "Experiments" }).waitFor();
      await page.locator("#experiments-run").scrollIntoViewIfNeeded();
    },
  },
  "file-refused": {
    hash: "#/profile?v=1",
    act: async (page) => {
      await page.locator("#open-file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no trace") });
      await waitForState(page, "failed");
    },
  },
};
