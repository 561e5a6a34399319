// A trace of 100,000 steps of four tasks, as `interloper run --trace` writes it.
"use strict";
const steps = 100_000;
const names = ["thread 1", "thread 2", "thread 3", "main"];
const exploration = {
  version: 1, name: "long", verdict: "deadlock", is_wrong: true, detail: "execution 1", start: "",
  tasks: names.map((title) => ({ title, lane: "thread" })),
  texts: names.map((_, lane) => `block ${(lane + 1) % 4}`),
  objects: names.map((_, lane) => `mutex ${(lane + 1) % 4}`),
  places: [], steps: [],
  spans: names.map((_, lane) => ({ task: lane, text: lane, from: lane + 1, what: "block" })),
  holds: [],
};
const lines = [];
for (let step = 1; step <= steps; step++) {
  const lane = (step - 1) % 4;
  const odd = Math.floor(step / 4) % 2 === 1;
  // Locks are given back four steps later.
  if (!odd) exploration.holds.push({ task: lane, object: lane, from: step, ...(step + 4 <= steps ? { until: step + 4 } : {}) });
  lines.push({
    step, task: names[lane], lane, action: `${odd ? "unlocks" : "locks"} mutex ${step % 4}`,
    location: `src/long.rs:${1 + (step % 50)}:5`, block: `block ${step % 4}`, holds: odd ? [] : [`mutex ${step % 4}`],
    ...(step === 77_777 ? { marked: true, notes: ["▲ 2 of 3"] } : {}),
  });
}
const header = { version: 2, program: "long", seed: 1, finding: "deadlock", steps, exploration };
process.stdout.write([header, ...lines].map((line) => JSON.stringify(line) + "\n").join(""));
