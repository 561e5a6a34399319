"use strict";
// What the page computes: functions of the data alone. Nothing here touches the document, so that `node --test` can run it.

/**
 * @typedef {{task: number, kind?: string, text: number, object?: number, place?: number, state?: string, notes?: number[],
 *   marked?: boolean, after?: number[], happens_after?: number[], woken_by?: number, blocked_by?: number, reads?: {from?: number, stale?: boolean, others?: (number | null)[]}}} Step
 * @typedef {{task: number, text: number, from: number, until?: number, what: string, marked?: boolean}} Span
 * @typedef {{task: number, object: number, mode?: string, from: number, until?: number}} Hold
 * @typedef {{title: string, lane: string}} Task
 * @typedef {{file: string, parts: {first: number, lines: string[]}[]}} Source
 * @typedef {{name: string, verdict: string, start: string, tasks: Task[], texts: string[], objects: string[], places: string[],
 *   left_out?: number, knows_happens_before?: boolean, steps: Step[], spans?: Span[], holds?: Hold[], orders?: {sequence: string, disagreement: string}[],
 *   linearization?: {number: number, span?: number, after?: number, text: string, state: string}[],
 *   choices?: {seed: number, points: {step: number, kept: number, failed: number, of: number}[],
 *     swaps?: {first: number, second: number, failed: number, of: number}[]},
 *   deadlock?: {held: {operation: string, location: string}, wanted: {operation: string, location: string}},
 *   replay?: string, sources?: Source[]}} Exploration
 * @typedef {{task: number | null, object: number | null, file: string | null}} Filter
 * @typedef {"happens" | "depends"} Relation which order: happens-before, or that of steps that depend on each other
 */

/**
 * The number that each step has in the reports; 0 for what happens between steps.
 * @param {Exploration} data
 * @returns {number[]}
 */
function numbersOf(data) {
  let number = data.left_out || 0;
  return data.steps.map((step) => (step.kind === undefined ? ++number : 0));
}

/**
 * What a step says, as the text report has it.
 * @param {Exploration} data @param {number} index
 */
function textOf(data, index) {
  const step = data.steps[index];
  const text = data.texts[step.text];
  const before = { called: "called ", returned: "returned ", panicked: "panicked: " };
  return (before[step.kind] || "") + text;
}

/**
 * The step before each in its own task; -1 for the first.
 * @param {Exploration} data
 * @returns {Int32Array}
 */
function previousInTask(data) {
  const last = new Int32Array(data.tasks.length).fill(-1);
  return Int32Array.from(data.steps, (step, index) => {
    const previous = last[step.task];
    last[step.task] = index;
    return previous;
  });
}

/**
 * How each step is ordered with one of them: -1 before, 1 after, 0 neither, 2 for the step itself. A step comes before another
 * if it is earlier in the same task, if the other must come after it, or by way of steps between the two.
 * @param {Exploration} data @param {Int32Array} previous as `previousInTask` gives it @param {number} index
 * @param {Relation} relation
 * @returns {Int8Array}
 */
function orderOf(data, previous, index, relation) {
  const order = new Int8Array(data.steps.length);
  order[index] = 2;
  // All edges lead to earlier steps, so one pass in each direction follows them.
  for (let at = index; at >= 0; at--) {
    if (at !== index && order[at] !== -1) continue;
    eachBefore(data, previous, at, relation, (before) => { order[before] = -1; });
  }
  for (let at = index + 1; at < order.length; at++) {
    eachBefore(data, previous, at, relation, (before) => { if (order[before] > 0) order[at] = 1; });
  }
  return order;
}

/**
 * @param {Exploration} data @param {Int32Array} previous @param {number} at @param {Relation} relation
 * @param {(before: number) => void} visit
 */
function eachBefore(data, previous, at, relation, visit) {
  const step = data.steps[at];
  if (previous[at] >= 0) visit(previous[at]);
  if (relation === "happens") {
    if (step.happens_after) step.happens_after.forEach(visit);
    return;
  }
  if (step.after) step.after.forEach(visit);
  if (step.woken_by !== undefined) visit(step.woken_by);
}

/** How many steps of other tasks are before, after, and concurrent. @param {Exploration} data @param {Int8Array} order */
function countOrder(data, order, index) {
  const counts = { before: 0, after: 0, concurrent: 0 };
  data.steps.forEach((step, at) => {
    if (step.task === data.steps[index].task) return;
    counts[order[at] < 0 ? "before" : order[at] > 0 ? "after" : "concurrent"] += 1;
  });
  return counts;
}

/**
 * The file, line and column of a place such as `src/cache.rs:12:9`.
 * @param {string} place
 * @returns {{file: string, line: number, column: number} | null}
 */
function placeParts(place) {
  const found = /^(.+):(\d+):(\d+)$/.exec(place);
  return found && { file: found[1], line: Number(found[2]), column: Number(found[3]) };
}

/** The last part of a file's path, with the line. @param {string} place */
function shortPlace(place) {
  const parts = placeParts(place);
  return parts ? `${parts.file.split("/").pop()}:${parts.line}` : place;
}

/**
 * The steps that a filter lets through, in order.
 * @param {Exploration} data @param {Filter} filter
 * @returns {number[]}
 */
function filtered(data, filter) {
  const inFile = data.places.map((place) => filter.file === null || (placeParts(place) || {}).file === filter.file);
  const shown = [];
  data.steps.forEach((step, index) => {
    if (filter.task !== null && step.task !== filter.task) return;
    if (filter.object !== null && step.object !== filter.object) return;
    if (filter.file !== null && (step.place === undefined || !inFile[step.place])) return;
    shown.push(index);
  });
  return shown;
}

/**
 * The steps, out of `shown`, in which all words of a query come, in any case of letters.
 * @param {Exploration} data @param {number[]} shown @param {string} query
 * @returns {number[]}
 */
function search(data, shown, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const lower = (/** @type {string[]} */ list) => list.map((text) => text.toLowerCase());
  const [texts, places, objects] = [data.texts, data.places, data.objects].map(lower);
  const tasks = lower(data.tasks.map((task) => task.title));
  return shown.filter((index) => {
    const step = data.steps[index];
    const parts = [texts[step.text], tasks[step.task], (step.state || "").toLowerCase()];
    if (step.place !== undefined) parts.push(places[step.place]);
    if (step.object !== undefined) parts.push(objects[step.object]);
    (step.notes || []).forEach((note) => parts.push(texts[note]));
    return words.every((word) => parts.some((part) => part.includes(word)));
  });
}

/** The place of a value in a sorted list, or where it would be. @param {ArrayLike<number>} list @param {number} value */
function lowerBound(list, value) {
  let [from, until] = [0, list.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    if (list[middle] < value) from = middle + 1;
    else until = middle;
  }
  return from;
}

/**
 * A text in pieces, those marked that an earlier text does not have: the longest common subsequence of words stays.
 * @param {string} before @param {string} after
 * @returns {{text: string, changed: boolean}[]}
 */
function difference(before, after) {
  const words = (/** @type {string} */ text) => text.match(/[\p{L}\p{N}_.]+|\s+|[^\s\p{L}\p{N}_.]/gu) || [];
  const [old, now] = [words(before), words(after)];
  if (old.length * now.length > 1e6) return [{ text: after, changed: before !== after }];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const below = common[(i + 1) * width + j];
      const right = common[i * width + j + 1];
      common[i * width + j] = old[i] === now[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(below, right);
    }
  }
  /** @type {{text: string, changed: boolean}[]} */
  const pieces = [];
  const add = (/** @type {string} */ text, /** @type {boolean} */ changed) => {
    const last = pieces[pieces.length - 1];
    if (last && last.changed === changed) last.text += text;
    else pieces.push({ text, changed });
  };
  for (let i = 0, j = 0; j < now.length; ) {
    if (i < old.length && old[i] === now[j]) {
      add(now[j], false);
      i++;
      j++;
    } else if (i < old.length && common[(i + 1) * width + j] >= common[i * width + j + 1]) i++;
    else add(now[j++], true);
  }
  return pieces;
}

/** The last state before a step: that of an earlier step, or of the start. @param {Exploration} data @param {number} index */
function stateBefore(data, index) {
  for (let at = index - 1; at >= 0; at--) {
    const { state } = data.steps[at];
    if (state !== undefined) return state;
  }
  return data.start;
}

/**
 * The rows that are seen, and some before and after them.
 * @param {number} top @param {number} height in pixels @param {number} row the height of a row @param {number} count
 * @param {number} spare how many rows before and after
 * @returns {[number, number]} from, and up to but without
 */
function visibleRows(top, height, row, count, spare) {
  const from = Math.max(0, Math.floor(top / row) - spare);
  return [Math.min(from, count), Math.min(count, Math.ceil((top + height) / row) + spare)];
}

/** The spans or holds that contain a step, the outermost first. @param {any[]} list @param {number} task @param {number} index */
function containing(list, task, index) {
  const end = (/** @type {any} */ one) => (one.until === undefined ? Infinity : one.until);
  return (list || []).filter((one) => one.task === task && one.from <= index && index <= end(one));
}

/**
 * For spans that nest: how many others of the same task are around each.
 * @param {Span[]} spans in the order of their beginnings
 * @returns {number[]}
 */
function depths(spans) {
  /** @type {Map<number, number[]>} */
  const open = new Map();
  return spans.map((span) => {
    const around = (open.get(span.task) || []).filter((end) => end > span.from);
    open.set(span.task, [...around, span.until === undefined ? Infinity : span.until]);
    return around.length;
  });
}

/** The steps at each line: by file, then by line. @param {Exploration} data @returns {Map<string, Map<number, number[]>>} */
function stepsByLine(data) {
  const files = new Map();
  const parts = data.places.map(placeParts);
  data.steps.forEach((step, index) => {
    const place = step.place === undefined ? null : parts[step.place];
    if (!place) return;
    if (!files.has(place.file)) files.set(place.file, new Map());
    const lines = files.get(place.file);
    if (!lines.has(place.line)) lines.set(place.line, []);
    lines.get(place.line).push(index);
  });
  return files;
}

/** `12 of 200 (6%)` @param {number} failed @param {number} of */
function share(failed, of) {
  return `${failed} of ${of} (${of ? Math.round((100 * failed) / of) : 0}%)`;
}

/**
 * The points of a curve, from 0 to 1 in both directions; steps go to the right, shares upwards.
 * @param {{step: number, failed: number, of: number}[]} points @param {number} steps
 * @returns {{x: number, y: number}[]}
 */
function curve(points, steps) {
  const scale = Math.max(1, steps);
  return points.map((point) => ({ x: point.step / scale, y: point.of ? point.failed / point.of : 0 }));
}

/**
 * The choice that mattered most: the two neighbouring points between which the share grows most. None if it never grows.
 * @param {{step: number, failed: number, of: number}[]} points
 * @returns {{from: number, to: number} | null} indices of points
 */
function steepest(points) {
  const at = (/** @type {number} */ index) => points[index].failed / Math.max(1, points[index].of);
  let best = null;
  for (let to = 1; to < points.length; to++) {
    const grows = at(to) - at(to - 1);
    if (grows > 0 && (!best || grows > at(best.to) - at(best.from))) best = { from: to - 1, to };
  }
  return best;
}

const KEYWORDS = new Set(
  ("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref " +
    "return self Self static struct super trait true type unsafe use where while").split(" "),
);

/**
 * A line of Rust in pieces, each with its kind: `comment`, `text`, `number`, `keyword`, or nothing. Of a comment or text that
 * spans lines, the other lines are plain.
 * @param {string} line
 * @returns {{text: string, kind: string}[]}
 */
function highlight(line) {
  const token = /(\/\/.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;
  const pieces = [];
  let end = 0;
  for (let found = token.exec(line); found; found = token.exec(line)) {
    const kind = found[1] ? "comment" : found[2] ? "text" : found[3] ? "number" : KEYWORDS.has(found[4]) ? "keyword" : "";
    if (!kind) continue;
    if (found.index > end) pieces.push({ text: line.slice(end, found.index), kind: "" });
    pieces.push({ text: found[0], kind });
    end = found.index + found[0].length;
  }
  if (end < line.length) pieces.push({ text: line.slice(end), kind: "" });
  return pieces;
}

if (typeof module !== "undefined") {
  module.exports = {
    numbersOf, textOf, previousInTask, orderOf, countOrder, placeParts, shortPlace, filtered, search, lowerBound, difference,
    stateBefore, visibleRows, containing, depths, stepsByLine, share, curve, steepest, highlight,
  };
}
