// A trace of 100,000 steps of four tasks, as `interloper run --trace` writes it.
"use strict";
const steps = 100_000;
const lines = [{ version: 1, program: "long", seed: 1, grade: "bug", finding: "deadlock", steps }];
for (let step = 1; step <= steps; step++) {
  const task = step % 4 === 0 ? "main" : `thread ${step % 4}`;
  const odd = Math.floor(step / 4) % 2 === 1;
  lines.push({
    step, task, action: `${odd ? "unlocks" : "locks"} mutex ${step % 4}`, location: `src/long.rs:${1 + (step % 50)}:5`,
    block: `block ${step % 4}`, holds: odd ? [] : [`mutex ${step % 4}`], of_triple: step === 77_777 ? 2 : null,
  });
}
process.stdout.write(lines.map((line) => JSON.stringify(line) + "\n").join(""));
