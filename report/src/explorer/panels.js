// What is known of the selected step, why the execution is wrong, and which choice mattered.

/** What the two orders mean. */
const HAPPENS = "Happens-before is the order of C++20 and Rust. A step happens before another one if it is earlier in the same task, or by " +
  "way of what synchronises: a spawn and the start of the task, an end and its join, an unpark, a lock that is given back and taken again, " +
  "a release store and an acquire load that reads it. Two accesses to plain memory of which one writes are a data race unless one happens " +
  "before the other, whichever came first in this execution.";
const DEPENDS = "A step depends on another one if it is later in the same task, if the other let its task go on (a spawn, a wake, a lock that " +
  "was given back), or if both use the same object and one of them changes it. Steps that no chain of these orders can be exchanged, and " +
  "the execution stays the same. This has more than happens-before: a relaxed load comes after the store that it reads, but does not " +
  "synchronise with it.";
const NO_HAPPENS = "This page does not have happens-before. Pages of programs, tests and objects have it, if the execution went the same way " +
  "when it was run again.";

/** A button that looks like a link and goes to a step. @param {Explorer} explorer @param {number} index @param {string} [text] */
function link(explorer, index, text = explorer.line(index)) {
  return element("button", { class: "link", type: "button", click: () => explorer.goTo(index) }, text);
}

class Panels {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    const { data } = explorer;
    const why = (data.orders || []).length > 0 || data.deadlock || (data.linearization || []).length > 0;
    /** @type {[string, string, () => any[]][]} */
    this.tabs = [["step", "Step", () => this.step()]];
    if (why) this.tabs.push(["why", (data.orders || []).length === 0 && (data.linearization || []).length > 0 ? "Linearization" : "Why it fails", () => this.why()]);
    if (data.choices) this.tabs.push(["choices", "Which choice mattered", () => this.choices()]);
    this.buttons = this.tabs.map(([id, name], index) =>
      element("button", {
        id: `tab-${id}`, role: "tab", type: "button", "aria-controls": `panel-${id}`, click: () => this.open(index),
        keydown: (/** @type {KeyboardEvent} */ event) => this.key(event, index),
      }, name));
    this.bodies = this.tabs.map(([id]) =>
      element("div", { id: `panel-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}`, tabindex: "0" }));
    const list = element("div", { class: "tabs", role: "tablist", "aria-label": "Details" }, ...this.buttons);
    const replay = data.replay ? element("p", { class: "replay" }, "Replay: ", element("code", {}, data.replay)) : null;
    this.root = element("aside", { class: "panels", "aria-label": "Details" }, list, ...this.bodies, replay);
    this.drawnOnce = new Set();
    this.opened = 0;
    this.open(0);
  }

  /** @param {number} index */
  open(index) {
    this.opened = index;
    this.buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === index));
      button.setAttribute("tabindex", at === index ? "0" : "-1");
    });
    this.bodies.forEach((body, at) => { body.hidden = at !== index; });
    if (this.explorer.panels) this.draw();
  }

  /** The keys of a list of tabs. @param {KeyboardEvent} event @param {number} index */
  key(event, index) {
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
    if (to === undefined) return;
    const at = (to + this.tabs.length) % this.tabs.length;
    this.open(at);
    this.buttons[at].focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Draws the panel of the step again, and the others when they are opened first. */
  draw() {
    this.tabs.forEach(([id, , content], index) => {
      const again = id === "step" || (index === this.opened && !this.drawnOnce.has(id));
      if (!again) return;
      this.drawnOnce.add(id);
      this.bodies[index].replaceChildren(...content());
      const line = this.bodies[index].querySelector(".line.here");
      if (line) line.parentElement.scrollTop = line.offsetTop - line.parentElement.clientHeight / 2;
    });
  }

  step() {
    const { data, selected: index } = this.explorer;
    const step = data.steps[index];
    if (!step) return [element("p", {}, "There are no steps.")];
    const title = `${this.explorer.name(index)}, ${data.tasks[step.task].title}`;
    const facts = element("dl", { class: "facts" }, ...this.facts(index));
    const notes = (step.notes || []).map((note) => element("li", {}, data.texts[note]));
    return [
      element("h2", {}, title[0].toUpperCase() + title.slice(1)),
      element("p", { class: `says ${step.kind || ""}` }, textOf(data, index)),
      notes.length > 0 ? element("ul", { class: "notes" }, ...notes) : "",
      facts,
      ...this.order(index),
      ...this.source(index),
    ];
  }

  /** @param {number} index */
  facts(index) {
    const { explorer } = this;
    const { data } = explorer;
    const step = data.steps[index];
    const rows = [];
    const fact = (/** @type {string} */ name, /** @type {any[]} */ ...value) =>
      rows.push(element("div", {}, element("dt", {}, name), element("dd", {}, ...value)));
    if (step.place !== undefined) fact("place", data.places[step.place]);
    if (step.object !== undefined) fact("object", data.objects[step.object]);
    for (const span of containing(data.spans || [], step.task, index)) fact(span.what, link(explorer, span.from, data.texts[span.text]));
    for (const hold of containing(data.holds || [], step.task, index)) {
      fact("holds", `${data.objects[hold.object]}${hold.mode ? ` ${hold.mode}` : ""}, since `, link(explorer, hold.from, explorer.name(hold.from)));
    }
    if (step.woken_by !== undefined) fact("continues after", link(explorer, step.woken_by));
    if (step.blocked_by !== undefined) fact("waits for what was taken in", link(explorer, step.blocked_by));
    if (step.reads) this.reads(step.reads, fact);
    if (step.state !== undefined) fact("state", this.state(index));
    return rows;
  }

  /** @param {{from?: number, stale?: boolean, others?: (number | null)[]}} reads @param {(name: string, ...value: any[]) => void} fact */
  reads(reads, fact) {
    const { explorer } = this;
    const first = explorer.data.left_out ? "a value from before the steps that are shown" : "the value that was there at first";
    const value = (/** @type {number | null | undefined} */ store) => store === undefined || store === null ? first : link(explorer, store);
    fact(reads.stale ? "reads a stale value" : "reads", value(reads.from));
    for (const other of reads.others || []) fact("could have read", value(other));
  }

  /** The state after a step, with what changed marked. @param {number} index */
  state(index) {
    const { data } = this.explorer;
    const now = data.steps[index].state || "";
    const pieces = difference(stateBefore(data, index), now);
    const piece = (/** @type {{text: string, changed: boolean}} */ { text, changed }) => element(changed ? "mark" : "span", {}, text);
    return element("code", { class: "state" }, ...pieces.map(piece));
  }

  /** What comes before and after. @param {number} index */
  order(index) {
    const { explorer } = this;
    const { data, previous } = explorer;
    const isEnd = ["blocked", "panicked"].includes(data.steps[index].kind);
    if (isEnd || data.tasks.length < 2 || !(data.knows_happens_before || data.steps.some((step) => step.after))) return [];
    const counted = (/** @type {Relation} */ relation) => countOrder(data, orderOf(data, previous, index, relation), index);
    const list = (/** @type {string} */ title, /** @type {number[]} */ steps) => steps.length === 0 ? [] : [
      element("p", {}, title), element("ul", {}, ...steps.map((other) => element("li", {}, link(explorer, other)))),
    ];
    const { after = [], happens_after: happensAfter = [] } = data.steps[index];
    const [happens, depends] = [data.knows_happens_before && counted("happens"), counted("depends")];
    return [
      element("h3", {}, "Order"),
      ...(happens ? [
        element("p", { class: "counts" }, `Of the other tasks' steps, ${happens.before} happen before this one, ${happens.after} after it, ` +
          `and ${happens.concurrent} are concurrent with it.`),
        ...list("It synchronises directly with:", happensAfter),
      ] : []),
      element("p", { class: "counts" }, `${happens ? "In this execution" : "Of the other tasks' steps"}, ${depends.before} come before by a chain ` +
        `of steps that depend on each other, ${depends.after} after, and ${depends.concurrent} could come on either side.`),
      ...list("It depends directly on:", after),
      element("details", {}, element("summary", {}, happens ? "What these orders are" : "What this order is"),
        happens ? element("p", {}, HAPPENS) : "", element("p", {}, DEPENDS), happens ? "" : element("p", {}, NO_HAPPENS)),
    ];
  }

  /** The source of a step. @param {number} index */
  source(index) {
    const { data } = this.explorer;
    const { place } = data.steps[index];
    const at = place === undefined ? null : placeParts(data.places[place]);
    const source = at && (data.sources || []).find((one) => one.file === at.file);
    if (!at) return [];
    if (!source) {
      return [element("h3", {}, at.file), element("p", { class: "note" }, "The page was made where this file could not be read.")];
    }
    const others = this.explorer.byLine.get(at.file) || new Map();
    const lines = source.parts.flatMap((part, number) => {
      const made = part.lines.map((line, offset) => this.line(line, part.first + offset, at.line, others));
      return number > 0 ? [element("div", { class: "gap", "aria-hidden": "true" }, "⋯"), ...made] : made;
    });
    const same = (others.get(at.line) || []).filter((/** @type {number} */ other) => other !== index);
    const shown = same.slice(0, 20).map((/** @type {number} */ other) => element("li", {}, link(this.explorer, other)));
    const more = same.length > 20 ? element("li", {}, `and ${same.length - 20} more`) : "";
    return [
      element("h3", {}, at.file),
      element("div", { class: "source", role: "region", tabindex: "0", "aria-label": `Source of ${at.file}` }, ...lines),
      same.length > 0 ? element("p", {}, "Other steps on this line:") : "",
      same.length > 0 ? element("ul", {}, ...shown, more) : "",
    ];
  }

  /** @param {string} text @param {number} number @param {number} here @param {Map<number, number[]>} steps */
  line(text, number, here, steps) {
    const own = steps.get(number) || [];
    const classes = ["line", number === here && "here", own.length > 0 && "has-steps"].filter(Boolean).join(" ");
    const pieces = highlight(text).map(({ text: piece, kind }) => (kind ? element("span", { class: kind }, piece) : piece));
    const go = own.length > 0 && number !== here ? { click: () => this.explorer.goTo(own[0]), title: `${own.length} steps` } : {};
    return element("div", { class: classes, ...go }, element("span", { class: "gutter" }, String(number)), element("code", {}, ...pieces));
  }

  why() {
    const { data, explorer } = { data: this.explorer.data, explorer: this.explorer };
    const made = [];
    if (data.deadlock) {
      const { held, wanted } = data.deadlock;
      made.push(element("p", {}, `${held.operation} at ${held.location}, and ${wanted.operation} at ${wanted.location}.`));
    }
    if ((data.orders || []).length > 0) {
      this.detail = element("div", { class: "order", role: "status" });
      this.choicesOfOrder = (data.orders || []).map((order, index) =>
        element("tr", { "aria-selected": "false" },
          element("td", {}, element("button", { class: "link", type: "button", click: () => this.chooseOrder(index) }, order.sequence)),
          element("td", {}, order.disagreement)));
      const head = element("tr", {}, element("th", { scope: "col" }, "order"), element("th", { scope: "col" }, "first difference"));
      made.push(
        element("p", {}, "Each row is a sequential order, and the first thing in which the execution differs from it."),
        element("table", { class: "orders" }, element("thead", {}, head), element("tbody", {}, ...this.choicesOfOrder)),
        this.detail,
      );
    }
    if ((data.linearization || []).length > 0) made.push(...this.linearization());
    void explorer;
    return made;
  }

  /** Shows a sequential order call by call. @param {number} index */
  chooseOrder(index) {
    const order = (this.explorer.data.orders || [])[index];
    this.choicesOfOrder.forEach((row, at) => row.setAttribute("aria-selected", String(at === index)));
    this.detail.replaceChildren(
      element("h3", {}, "In this order"),
      element("p", {}, order.sequence),
      element("p", { class: "wrong" }, `${order.disagreement}, and in the execution it does not.`),
    );
  }

  linearization() {
    const { data } = this.explorer;
    const row = (/** @type {any} */ effect) => {
      const span = effect.span === undefined ? null : (data.spans || [])[effect.span];
      const call = span ? link(this.explorer, span.from, effect.text) : effect.text;
      return element("tr", {}, element("th", { scope: "row" }, String(effect.number)), element("td", {}, call), element("td", { class: "state" }, effect.state));
    };
    const head = ["", "call", "state after it"].map((text) => element("th", { scope: "col" }, text));
    const about = (data.orders || []).length > 0
      ? [element("p", {}, "The longest beginning of an order that gives the results of its calls, and keeps calls that did not overlap in their order:")]
      : [];
    return [...about, element("table", { class: "orders" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...data.linearization.map(row)))];
  }

  choices() {
    const { explorer } = this;
    const { points, swaps = [], seed, cut = false } = /** @type {any} */ (explorer.data.choices);
    const best = steepest(points);
    const at = (/** @type {any} */ point) => (point.step < explorer.data.steps.length ? explorer.name(point.step) : "the end");
    const head = (/** @type {string[]} */ ...names) => element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
    const point = (/** @type {any} */ one, /** @type {number} */ index) =>
      element("tr", best && index === best.from ? { class: "steepest" } : {},
        element("td", {}, String(one.kept)),
        element("td", {}, one.step < explorer.data.steps.length ? link(explorer, one.step) : at(one)),
        element("td", {}, share(one.failed, one.of)));
    const swap = (/** @type {any} */ one) =>
      element("tr", {},
        element("td", {}, link(explorer, one.first, explorer.name(one.first)), " and ", link(explorer, one.second, explorer.name(one.second))),
        element("td", {}, `swapped: fails in ${share(one.failed, one.of)}`));
    return [
      element("p", {}, `How often the execution fails in the same way when some decisions are kept and the rest is chance (seed ${seed}).`),
      cut ? element("p", {}, "An execution takes long, so there was no time to try all choices.") : "",
      best ? element("p", { class: "best" }, "What mattered most: that ", link(explorer, points[best.from].step, at(points[best.from])),
        ` came next. It takes the share of failures from ${share(points[best.from].failed, points[best.from].of)} to ` +
        `${share(points[best.to].failed, points[best.to].of)}.`) : "",
      this.plot(points, best),
      swaps.length > 0 ? element("h3", {}, "Neighbouring steps the other way round") : "",
      swaps.length > 0 ? element("table", { class: "orders" }, head("steps", "result"), element("tbody", {}, ...swaps.map(swap))) : "",
      element("h3", {}, "Each choice"),
      element("table", { class: "orders" }, head("decisions kept", "next step", "fails in"), element("tbody", {}, ...points.map(point))),
    ];
  }

  /** The share of failures over the steps. @param {any[]} points @param {{from: number, to: number} | null} best */
  plot(points, best) {
    const [width, height, left, bottom] = [560, 180, 42, 22];
    const [x, y] = [(/** @type {number} */ v) => left + v * (width - left - 12), (/** @type {number} */ v) => 8 + (1 - v) * (height - bottom - 8)];
    const at = curve(points, this.explorer.data.steps.length);
    const svg = drawn("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The share of failing executions over the steps; the table below has the figures" });
    for (const tick of [0, 0.5, 1]) {
      svg.append(drawn("line", { class: "grid", x1: left, x2: width - 12, y1: y(tick), y2: y(tick) }));
      const label = drawn("text", { class: "tick", x: left - 6, y: y(tick) + 4, "text-anchor": "end" });
      label.append(`${100 * tick}%`);
      svg.append(label);
    }
    const axis = drawn("text", { class: "tick", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" });
    axis.append("steps that are kept");
    svg.append(axis, drawn("polyline", { class: "curve", points: at.map((one) => `${x(one.x)},${y(one.y)}`).join(" ") }));
    at.forEach((one, index) => {
      const dot = drawn("circle", { class: best && index === best.to ? "dot best" : "dot", cx: x(one.x), cy: y(one.y), r: best && index === best.to ? 5 : 3 });
      const title = drawn("title", {});
      title.append(`${share(points[index].failed, points[index].of)}`);
      dot.append(title);
      svg.append(dot);
    });
    return svg;
  }
}
