// The functions of the page that compute: `node --test report/tests/browser/model.test.cjs`.
"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const model = require("../../src/explorer/model.js");

/** An exploration of these steps, each `[task, text, more]`. */
function exploration(steps, more = {}) {
  const texts = [...new Set(steps.map(([, text]) => text))];
  const tasks = Math.max(...steps.map(([task]) => task)) + 1;
  return {
    start: "", texts, objects: [], places: [],
    tasks: Array.from({ length: tasks }, (_, task) => ({ title: task === 0 ? "main" : `thread ${task}`, lane: "thread" })),
    steps: steps.map(([task, text, rest]) => ({ task, text: texts.indexOf(text), ...rest })),
    ...more,
  };
}

test("operations have numbers, after those that are left out", () => {
  const data = exploration([[0, "f()", { kind: "called" }], [0, "get"], [0, "1", { kind: "returned" }], [0, "put"]], { left_out: 7 });
  assert.deepEqual(model.numbersOf(data), [0, 8, 0, 9]);
  assert.deepEqual([0, 1, 2].map((index) => model.textOf(data, index)), ["called f()", "get", "returned 1"]);
});

test("what comes before and after a step, by every way there is", () => {
  // main: 0 2 5, thread 1: 1 3, thread 2: 4; 3 after 2, 5 woken by 4.
  const data = exploration([[0, "a"], [1, "b"], [0, "c"], [1, "d", { after: [2] }], [2, "e"], [0, "f", { woken_by: 4 }]]);
  const order = (index) => [...model.orderOf(data, model.previousInTask(data), index, "depends")];
  assert.deepEqual(order(3), [-1, -1, -1, 2, 0, 0]);
  assert.deepEqual(order(0), [2, 0, 1, 1, 0, 1]);
  assert.deepEqual(order(4), [0, 0, 0, 0, 2, 1]);
  assert.deepEqual(model.countOrder(data, model.orderOf(data, model.previousInTask(data), 3, "depends"), 3), { before: 2, after: 0, concurrent: 2 });
});

test("what happens before a step leaves out what only depends", () => {
  // 3 reads what 2 stored without synchronising with it; 5 joins thread 2.
  const data = exploration([[0, "a"], [1, "b", { happens_after: [0] }], [0, "c"], [1, "d", { after: [2] }], [2, "e"], [0, "f", { after: [3], happens_after: [4] }]]);
  const order = (index) => [...model.orderOf(data, model.previousInTask(data), index, "happens")];
  assert.deepEqual(order(3), [-1, -1, 0, 2, 0, 0]);
  assert.deepEqual(order(5), [-1, 0, -1, 0, -1, 2]);
});

test("the order is that of the pairs that follow from each other", () => {
  // The slow way: everything that follows from pairs, for many small executions.
  let seed = 1;
  const draw = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 200; round++) {
    const steps = Array.from({ length: 10 }, (_, at) => {
      const rest = {};
      if (at > 0 && draw(2) === 0) rest.after = [draw(at)];
      if (at > 0 && draw(4) === 0) rest.woken_by = draw(at);
      return [draw(3), "x", rest];
    });
    const data = exploration([...steps, [2, "x"]]);
    const count = data.steps.length;
    const before = data.steps.map((step, at) => data.steps.map((other, to) =>
      at < to && (step.task === other.task || (other.after || []).includes(at) || other.woken_by === at)));
    for (let m = 0; m < count; m++) for (let a = 0; a < count; a++) for (let b = 0; b < count; b++) before[a][b] ||= before[a][m] && before[m][b];
    for (let index = 0; index < count; index++) {
      const expected = data.steps.map((_, at) => (at === index ? 2 : before[at][index] ? -1 : before[index][at] ? 1 : 0));
      assert.deepEqual([...model.orderOf(data, model.previousInTask(data), index, "depends")], expected);
    }
  }
});

test("a place is a file, a line and a column", () => {
  assert.deepEqual(model.placeParts("src/a b.rs:12:9"), { file: "src/a b.rs", line: 12, column: 9 });
  assert.deepEqual(model.placeParts("C:\\x.rs:1:2"), { file: "C:\\x.rs", line: 1, column: 2 });
  for (const text of ["", "src/a.rs", "src/a.rs:1", ":1:2"]) assert.equal(model.placeParts(text), null);
  assert.equal(model.shortPlace("src/deep/a.rs:12:9"), "a.rs:12");
  assert.equal(model.shortPlace("nowhere"), "nowhere");
});

test("filters and searches", () => {
  const data = exploration(
    [[0, "locks mutex 1", { object: 0, place: 0 }], [1, "reads atomic 1", { object: 1, place: 1, state: "{7: 12}" }], [1, "ends", { notes: [0] }]],
    { objects: ["mutex 1", "atomic 1"], places: ["src/a.rs:1:1", "src/b.rs:2:2"] },
  );
  const all = { task: null, object: null, file: null };
  assert.deepEqual(model.filtered(data, all), [0, 1, 2]);
  assert.deepEqual(model.filtered(data, { ...all, task: 1 }), [1, 2]);
  assert.deepEqual(model.filtered(data, { ...all, object: 1 }), [1]);
  assert.deepEqual(model.filtered(data, { ...all, file: "src/a.rs" }), [0]);
  assert.deepEqual(model.filtered(data, { task: 0, object: 1, file: null }), []);
  const found = (query, shown = [0, 1, 2]) => model.search(data, shown, query);
  assert.deepEqual(found("LOCKS"), [0, 2]); // the last by its note
  assert.deepEqual(found("thread reads"), [1]);
  assert.deepEqual(found("7: 12"), [1]);
  assert.deepEqual(found("b.rs:2"), [1]);
  assert.deepEqual(found("locks", [1, 2]), [2]);
  assert.deepEqual(found("  "), []);
  assert.deepEqual(found("nothing of the kind"), []);
});

test("what changed is marked, and the pieces are the text", () => {
  const check = (before, after, expected) => {
    const pieces = model.difference(before, after);
    assert.equal(pieces.map(({ text }) => text).join(""), after);
    assert.deepEqual(pieces.filter(({ changed }) => changed).map(({ text }) => text), expected);
  };
  check("{}", "{7: 12}", ["7: 12"]);
  check("{7: 12}", "{7: 14}", ["14"]);
  check("[1, 2]", "[1, 2]", []);
  check("", "a", ["a"]);
  check("[1, 2, 3]", "[2, 3]", []);
  check("x ".repeat(2000), "y ".repeat(2000), ["y ".repeat(2000)]);
});

test("the state before a step is the last that is known", () => {
  const data = exploration([[0, "a"], [0, "b", { state: "{1}" }], [0, "c"], [0, "d", { state: "{2}" }]], { start: "{}" });
  assert.deepEqual([0, 1, 2, 3].map((index) => model.stateBefore(data, index)), ["{}", "{}", "{1}", "{1}"]);
});

test("only what is seen is drawn", () => {
  assert.deepEqual(model.visibleRows(0, 260, 26, 100, 2), [0, 12]);
  assert.deepEqual(model.visibleRows(2600, 260, 26, 200, 2), [98, 112]);
  assert.deepEqual(model.visibleRows(99999, 260, 26, 100, 2), [100, 100]);
  assert.deepEqual(model.visibleRows(0, 260, 26, 3, 2), [0, 3]);
  assert.deepEqual([0, 2, 3, 4].map((value) => model.lowerBound([1, 3, 3, 5], value)), [0, 1, 1, 3]);
});

test("spans nest and contain", () => {
  const spans = [{ task: 0, from: 0, until: 9 }, { task: 0, from: 2, until: 4 }, { task: 1, from: 3 }, { task: 0, from: 5, until: 6 }, { task: 0, from: 9 }];
  assert.deepEqual(model.depths(spans), [0, 1, 0, 1, 0]);
  assert.deepEqual(model.containing(spans, 0, 3), [spans[0], spans[1]]);
  assert.deepEqual(model.containing(spans, 1, 100), [spans[2]]);
  assert.deepEqual(model.containing(undefined, 1, 100), []);
});

test("steps are known by their lines", () => {
  const data = exploration([[0, "a", { place: 0 }], [0, "b", { place: 1 }], [0, "c", { place: 0 }], [0, "d"]], { places: ["a.rs:1:1", "a.rs:1:9"] });
  assert.deepEqual([...model.stepsByLine(data).get("a.rs")], [[1, [0, 1, 2]]]);
});

test("the curve and where it rises most", () => {
  const points = [[0, 10], [2, 20], [4, 90], [6, 100]].map(([step, failed]) => ({ step, kept: step, failed, of: 100 }));
  assert.deepEqual(model.curve(points, 8).map(({ x, y }) => [x, y]), [[0, 0.1], [0.25, 0.2], [0.5, 0.9], [0.75, 1]]);
  assert.deepEqual(model.steepest(points), { from: 1, to: 2 });
  assert.equal(model.steepest([points[2], points[1]]), null);
  assert.equal(model.steepest([]), null);
  assert.equal(model.share(1, 3), "1 of 3 (33%)");
  assert.equal(model.share(0, 0), "0 of 0 (0%)");
});

test("a line of Rust keeps its text", () => {
  const kinds = (line) => {
    const pieces = model.highlight(line);
    assert.equal(pieces.map(({ text }) => text).join(""), line);
    return pieces.filter(({ kind }) => kind).map(({ text, kind }) => `${kind} ${text}`);
  };
  assert.deepEqual(kinds('    let x = f("a // \\" b", 12); // why'), ["keyword let", 'text "a // \\" b"', "number 12", "comment // why"]);
  assert.deepEqual(kinds("fn f<'a>(x: &'a str) {}"), ["keyword fn"]);
  assert.deepEqual(kinds("match c { '\\n' => 0x1f }"), ["keyword match", "text '\\n'", "number 0x1f"]);
  assert.deepEqual(kinds(""), []);
});
