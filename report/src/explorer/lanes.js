// The steps: a row for each, a lane for each task. Only the rows that are seen are in the document.

/** The height of a row, and the width of the column of numbers, in pixels. */
const ROW = 26;
const NUMBERS = 64;
/** A lane of this width has room for the texts of its steps. */
const WIDE = 170;
/** Where the point of a step is in its lane, and where the text begins. */
const POINT = 30;
const TEXT = 44;
/** Rows that are drawn before and after those that are seen, and rows of a printed page. */
const SPARE = 12;
const PRINTED = 3000;
/** How many colours there are for tasks and locks. */
const COLOURS = 6;

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. @returns {SVGElement} */
function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** Puts an element somewhere. @param {any} made @param {Record<string, number>} where in pixels */
function placed(made, where) {
  for (const [key, value] of Object.entries(where)) made.style[key] = `${value}px`;
  return made;
}

class Lanes {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.withState = explorer.data.steps.some((step) => step.state !== undefined);
    this.slots = slots(explorer.data.holds || []);
    this.printing = false;
    this.heads = element("div", { class: "heads", "aria-hidden": "true" });
    this.bars = element("div", { class: "bars", "aria-hidden": "true" });
    this.edges = drawn("svg", { class: "edges", "aria-hidden": "true" });
    this.rows = element("div", { class: "rows", role: "presentation" });
    this.canvas = element("div", { class: "canvas", role: "presentation" }, this.bars, this.edges, this.rows);
    this.viewport = element(
      "div", { class: "viewport", role: "listbox", tabindex: "0", "aria-label": "Steps", scroll: () => this.drawSoon() },
      this.canvas,
    );
    this.none = element("p", { class: "none", hidden: true }, "No step passes the filter.");
    this.rest = element("p", { class: "rest", hidden: true });
    this.root = element("section", { class: "trace", "aria-label": "What happened" }, this.heads, this.none, this.viewport, this.rest);
    new ResizeObserver(() => this.drawSoon()).observe(this.viewport);
  }

  drawSoon() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** @param {boolean} on */
  print(on) {
    this.printing = on;
    document.body.classList.toggle("printing", on);
    this.draw();
  }

  rowsInView() {
    return Math.floor(this.viewport.clientHeight / ROW);
  }

  /** Scrolls so that a step is seen. @param {number} index */
  reveal(index) {
    const top = lowerBound(this.explorer.shown, index) * ROW;
    const { scrollTop, clientHeight } = this.viewport;
    this.canvas.style.height = `${this.explorer.shown.length * ROW}px`;
    const isFar = top < scrollTop - clientHeight || top > scrollTop + 2 * clientHeight;
    if (isFar) this.viewport.scrollTop = top - clientHeight / 2;
    else if (top < scrollTop + ROW) this.viewport.scrollTop = top - Math.min(2 * ROW, clientHeight / 4);
    else if (top + 2 * ROW > scrollTop + clientHeight) this.viewport.scrollTop = top + 3 * ROW - clientHeight;
  }

  /** Where the lanes are: wide ones that hold the texts, or narrow ones beside one column of texts. */
  measure() {
    const tasks = Math.max(1, this.explorer.data.tasks.length);
    const width = this.viewport.clientWidth || 800;
    this.stateWidth = this.withState && width > 560 ? Math.min(320, Math.max(120, width / 5)) : 0;
    const room = width - NUMBERS - this.stateWidth;
    this.isWide = room / tasks >= WIDE;
    this.laneWidth = this.isWide ? room / tasks : Math.max(10, Math.min(24, (0.4 * room) / tasks));
    this.textsAt = NUMBERS + tasks * this.laneWidth + 8;
    this.root.classList.toggle("narrow", !this.isWide);
  }

  /** The left edge of a lane. @param {number} task */
  left(task) {
    return NUMBERS + task * this.laneWidth;
  }

  /** Where the point of a step is. @param {number} index @returns {[number, number]} */
  point(index) {
    const { data, shown } = this.explorer;
    const x = this.left(data.steps[index].task) + (this.isWide ? POINT : this.laneWidth / 2);
    return [x, (lowerBound(shown, index) + 0.5) * ROW];
  }

  draw() {
    const { shown, selected } = this.explorer;
    this.measure();
    this.none.hidden = shown.length > 0;
    const { scrollTop, clientHeight } = this.viewport;
    const [from, until] = this.printing
      ? [0, Math.min(shown.length, PRINTED)]
      : visibleRows(scrollTop, clientHeight, ROW, shown.length, SPARE);
    this.rest.hidden = !this.printing || until === shown.length;
    const [some, all] = [until, shown.length].map((count) => count.toLocaleString("en"));
    this.rest.textContent = `The first ${some} of ${all} steps are printed. A filter chooses others.`;
    // On paper nothing follows the rows that are printed.
    this.canvas.style.height = `${(this.printing ? until : shown.length) * ROW}px`;
    const at = lowerBound(shown, selected);
    const rows = shown.slice(from, until).map((index, offset) => this.row(index, from + offset));
    // Whoever reads the screen stands on the selected row, so it exists even where it is not seen.
    if (!this.printing && (at < from || at >= until) && shown[at] === selected) rows.push(this.row(selected, at));
    this.rows.replaceChildren(...rows);
    this.viewport.setAttribute("aria-activedescendant", `step-${selected}`);
    this.drawHeads();
    this.drawBars(from, until);
    this.drawEdges(from, until);
  }

  drawHeads() {
    const { tasks } = this.explorer.data;
    const head = (/** @type {Task} */ task, /** @type {number} */ index) =>
      placed(element("span", { class: `head task-${index % COLOURS} ${task.lane}`, title: task.title }, task.title), {
        left: this.left(index), width: this.laneWidth,
      });
    const heads = this.isWide ? tasks.map(head) : [];
    if (this.stateWidth) {
      heads.push(placed(element("span", { class: "head state" }, "state"), { right: 0, width: this.stateWidth }));
    }
    this.heads.replaceChildren(...heads);
  }

  /** @param {number} index @param {number} at the number of the row */
  row(index, at) {
    const { data, numbers, order, selected, matches, shown } = this.explorer;
    const step = data.steps[index];
    const title = data.tasks[step.task].title;
    const relation = order ? { "-1": "before", 0: "concurrent", 1: "after", 2: "self" }[order[index]] : "";
    const isMatch = matches[lowerBound(matches, index)] === index;
    const classes = ["row", step.kind || "operation", relation, step.marked && "marked", step.reads && step.reads.stale && "stale", isMatch && "match", `task-${step.task % COLOURS}`];
    const sign = { before: "↑", after: "↓", concurrent: "∥" }[relation] || "";
    const text = element("span", { class: "what" }, step.marked ? element("b", { class: "mark" }, "▲ ") : null, textOf(data, index));
    const place = step.place === undefined ? null : element("span", { class: "at" }, shortPlace(data.places[step.place]));
    const texts = element("span", { class: "texts" }, this.isWide ? null : element("span", { class: "who" }, title), text, place);
    const point = placed(element("span", { class: "point" }), { left: this.point(index)[0] - 5 });
    placed(texts, this.isWide
      ? { left: this.left(step.task) + TEXT, width: this.laneWidth - TEXT - 6 }
      : { left: this.textsAt, right: this.stateWidth });
    const state = this.stateWidth && step.state !== undefined
      ? placed(element("span", { class: "state" }, step.state), { width: this.stateWidth }) : null;
    const row = element(
      "div",
      {
        id: `step-${index}`, class: classes.filter(Boolean).join(" "), role: "option", "aria-selected": String(index === selected),
        "aria-posinset": String(at + 1), "aria-setsize": String(shown.length), "aria-label": this.label(index, relation),
        click: () => this.explorer.goTo(index),
      },
      element("span", { class: "number" }, sign ? element("i", {}, sign) : null, numbers[index] ? String(numbers[index]) : ""),
      point, texts, state,
    );
    return placed(row, { top: at * ROW });
  }

  /** What a reader of the screen hears. @param {number} index @param {string} relation */
  label(index, relation) {
    const { data } = this.explorer;
    const step = data.steps[index];
    const parts = [this.explorer.line(index)];
    if (step.marked) parts.push("part of what is wrong");
    if (step.place !== undefined) parts.push(`at ${data.places[step.place]}`);
    if (step.state !== undefined) parts.push(`then the state is ${step.state}`);
    if (relation && relation !== "self") parts.push(`${relation} the selected step`);
    return parts.join(", ");
  }

  /** Blocks, calls, and held locks. @param {number} from @param {number} until rows */
  drawBars(from, until) {
    const { data, spanDepths, shown } = this.explorer;
    const made = [];
    /** @param {any} one @returns {[number, number] | null} its rows */
    const rowsOf = (one) => {
      const first = lowerBound(shown, one.from);
      const last = one.until === undefined ? shown.length : lowerBound(shown, one.until + 1);
      return first < last && first < until && last > from ? [first, last] : null;
    };
    (data.spans || []).forEach((span, index) => {
      const rows = rowsOf(span);
      if (!rows) return;
      const inset = Math.min(spanDepths[index], 4) * (this.isWide ? 5 : 2) + 1;
      const open = span.until === undefined ? " open" : "";
      const classes = `span ${span.what} task-${span.task % COLOURS}${span.marked ? " marked" : ""}${open}`;
      made.push(placed(element("div", { class: classes, title: data.texts[span.text] }), {
        left: this.left(span.task) + inset, width: Math.max(2, this.laneWidth - 2 * inset - 2),
        top: rows[0] * ROW + 1, height: (rows[1] - rows[0]) * ROW - 2,
      }));
    });
    (data.holds || []).forEach((hold, index) => {
      const rows = rowsOf(hold);
      if (!rows) return;
      const title = `holds ${data.objects[hold.object]}${hold.mode ? ` ${hold.mode}` : ""}`;
      const open = hold.until === undefined ? " open" : "";
      made.push(placed(element("div", { class: `hold lock-${hold.object % COLOURS}${open}`, title }), {
        left: this.left(hold.task) + (this.isWide ? 8 + 5 * Math.min(this.slots[index], 2) : 1), width: 3,
        top: rows[0] * ROW + ROW / 2, height: (rows[1] - rows[0]) * ROW - (open ? ROW / 2 : ROW),
      }));
    });
    this.bars.replaceChildren(...made, ...this.effects(from, until));
  }

  /** Where calls take effect: between two rows, in the lane of the call. @param {number} from @param {number} until */
  effects(from, until) {
    const { data, shown } = this.explorer;
    /** @type {Map<number, number>} */
    const inGap = new Map();
    const made = [];
    for (const { number, span, after, text } of data.linearization || []) {
      const row = after === undefined || span === undefined ? -1 : lowerBound(shown, after);
      if (row < from || row >= until) continue;
      const before = inGap.get(row) || 0;
      inGap.set(row, before + 1);
      const lane = this.left(data.spans[span].task) + this.laneWidth;
      const mark = element("span", { class: "effect", title: `takes effect as number ${number}: ${text}` }, String(number));
      // Several in one gap go from the right to the left.
      made.push(placed(mark, { left: lane - 26 - (this.isWide ? 22 * (before % 4) : 0), top: (row + 1) * ROW - 7 }));
    }
    return made;
  }

  /** What woke whom, which stores were read, and on what the selected step depends. @param {number} from @param {number} until */
  drawEdges(from, until) {
    const { data, shown, selected } = this.explorer;
    const seen = new Set(shown.slice(from, until));
    seen.add(selected);
    const made = [];
    const edge = (/** @type {number} */ one, /** @type {number} */ other, /** @type {string} */ kind) => {
      if (shown[lowerBound(shown, one)] !== one || shown[lowerBound(shown, other)] !== other) return;
      made.push(this.edge(one, other, kind));
    };
    for (const index of seen) {
      const { woken_by: woken, blocked_by: blocked, reads } = data.steps[index];
      if (woken !== undefined) edge(woken, index, "woken");
      if (blocked !== undefined) edge(blocked, index, "blocked");
      if (reads && reads.from !== undefined && (reads.stale || index === selected)) edge(reads.from, index, reads.stale ? "stale" : "reads");
      const after = (this.explorer.relation === "happens" ? data.steps[index].happens_after : data.steps[index].after) || [];
      if (index === selected) after.filter((before) => before !== woken).forEach((before) => edge(before, index, "after"));
      else if (after.includes(selected) && woken !== selected) edge(selected, index, "after");
    }
    this.edges.setAttribute("width", String(this.canvas.clientWidth));
    this.edges.setAttribute("height", String(shown.length * ROW));
    this.edges.replaceChildren(...made.flat());
  }

  /** A curve with an arrow at its end. @param {number} one @param {number} other @param {string} kind */
  edge(one, other, kind) {
    const [[x1, y1], [x2, y2]] = [this.point(one), this.point(other)];
    const bend = Math.min(40, Math.abs(y2 - y1) / 2);
    const side = x1 === x2 ? -14 : 0;
    const end = y2 - 6;
    const path = drawn("path", { class: `edge ${kind}`, d: `M${x1} ${y1 + 5}C${x1 + side} ${y1 + bend} ${x2 + side} ${end - bend} ${x2} ${end}` });
    return [path, drawn("path", { class: `tip ${kind}`, d: `M${x2 - 4} ${end - 6}L${x2} ${end}L${x2 + 4} ${end - 6}Z` })];
  }
}

/** For each hold, a place beside the other locks that its task holds at the same time. @param {Hold[]} holds */
function slots(holds) {
  /** @type {Map<number, number[]>} */
  const ends = new Map();
  return holds.map((hold) => {
    const own = ends.get(hold.task) || [];
    const free = own.findIndex((end) => end <= hold.from);
    const slot = free < 0 ? own.length : free;
    own[slot] = hold.until === undefined ? Infinity : hold.until;
    ends.set(hold.task, own);
    return slot;
  });
}
