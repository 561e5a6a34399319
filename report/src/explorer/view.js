// The page: its parts, and what happens on keys and clicks. `lanes.js` draws the steps, `panels.js` what is known of one.

/** An element with attributes, and texts or elements in it. @returns {any} */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** The state of the page, and what was computed once from the data. */
class Explorer {
  /** @param {Exploration} data @param {HTMLElement} root */
  constructor(data, root) {
    this.data = data;
    this.numbers = numbersOf(data);
    this.previous = previousInTask(data);
    this.byLine = stepsByLine(data);
    this.spanDepths = depths(data.spans || []);
    /** @type {Filter} */
    this.filter = { task: null, object: null, file: null };
    this.shown = filtered(data, this.filter);
    this.matches = [];
    this.selected = this.first();
    this.order = null;
    /** @type {Relation | null} */
    this.relation = null;
    this.chosenOrder = -1;
    this.lanes = new Lanes(this);
    this.panels = new Panels(this);
    root.append(this.toolbar(), element("div", { class: "columns" }, this.lanes.root, this.panels.root), this.help());
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeprint", () => this.lanes.print(true));
    addEventListener("afterprint", () => this.lanes.print(false));
    this.lanes.draw();
    this.select(this.selected);
  }

  /** The step to look at first: the first that is marked, or else the last. */
  first() {
    const marked = this.data.steps.findIndex((step) => step.marked);
    return marked >= 0 ? marked : this.data.steps.length - 1;
  }

  /** What a step is called: `step 12`, or `after step 12` for what happens between steps. @param {number} index */
  name(index) {
    for (let at = index; at >= 0; at--) {
      if (this.numbers[at]) return at === index ? `step ${this.numbers[at]}` : `after step ${this.numbers[at]}`;
    }
    return "before the first step";
  }

  /** A step in one line, for lists and for readers of the screen. @param {number} index */
  line(index) {
    const { tasks } = this.data;
    return `${this.name(index)}, ${tasks[this.data.steps[index].task].title}: ${textOf(this.data, index)}`;
  }

  /** Selects a step and shows it. A step that the filter hides is shown by dropping the filter. @param {number} index */
  select(index) {
    if (!(index >= 0 && index < this.data.steps.length)) return;
    if (this.shown[lowerBound(this.shown, index)] !== index) this.setFilter({ task: null, object: null, file: null });
    this.selected = index;
    this.order = this.relation ? orderOf(this.data, this.previous, index, this.relation) : null;
    this.lanes.reveal(index);
    this.lanes.draw();
    this.panels.draw();
  }

  /** Selects a step from a list and goes to it. @param {number} index */
  goTo(index) {
    this.select(index);
    this.lanes.viewport.focus({ preventScroll: true });
  }

  /** The orders that are known, each with what it is called. @returns {[Relation, string][]} */
  relations() {
    /** @type {[Relation, string][]} */
    const happens = this.data.knows_happens_before ? [["happens", "happens-before"]] : [];
    return [...happens, ["depends", "dependent steps"]];
  }

  /** Shows how the steps are ordered around the selected one. @param {Relation | null} relation */
  setOrder(relation) {
    this.relation = relation;
    this.orders.value = relation || "";
    this.select(this.selected);
  }

  /** The order after the one that is shown, and then none. */
  nextOrder() {
    const all = [null, ...this.relations().map(([relation]) => relation)];
    this.setOrder(all[(all.indexOf(this.relation) + 1) % all.length]);
  }

  /** @param {Filter} filter */
  setFilter(filter) {
    this.filter = filter;
    this.shown = filtered(this.data, filter);
    for (const [key, control] of Object.entries(this.controls)) control.value = filter[key] === null ? "" : filter[key];
    this.find(this.query.value, false);
  }

  /** Moves by some rows of those that are shown. @param {number} by */
  move(by) {
    const at = lowerBound(this.shown, this.selected) + by;
    if (this.shown.length > 0) this.select(this.shown[Math.min(this.shown.length - 1, Math.max(0, at))]);
  }

  /** Moves to the next of some steps, or the previous one, round and round. @param {number[]} steps @param {number} direction */
  moveAmong(steps, direction) {
    if (steps.length === 0) return;
    const at = direction > 0 ? lowerBound(steps, this.selected + 1) : lowerBound(steps, this.selected) - 1;
    this.select(steps[(at + steps.length) % steps.length]);
  }

  /** Searches, and goes to the first match from here on if `go`. @param {string} query @param {boolean} go */
  find(query, go) {
    this.matches = search(this.data, this.shown, query);
    const found = this.matches.length === 1 ? "1 step" : `${this.matches.length} steps`;
    this.found.textContent = query.trim() ? found : "";
    if (go && this.matches.length > 0) {
      const at = lowerBound(this.matches, this.selected);
      this.select(this.matches[at % this.matches.length]);
    } else this.lanes.draw();
  }

  toolbar() {
    const { data } = this;
    this.query = element("input", {
      type: "search", placeholder: "Search steps", "aria-label": "Search steps", "aria-describedby": "found",
      "aria-keyshortcuts": "/", input: () => this.find(this.query.value, true),
    });
    this.found = element("span", { id: "found", class: "found", role: "status" });
    const files = [...new Set(data.places.map((place) => (placeParts(place) || {}).file).filter(Boolean))].sort();
    this.controls = {
      task: this.choice("Task", "task", data.tasks.map((task, index) => [index, task.title])),
      object: this.choice("Object", "object", data.objects.map((object, index) => [index, object])),
      file: this.choice("File", "file", files.map((file) => [file, file])),
    };
    this.orders = element(
      "select", { "aria-label": "Order around the step", "aria-keyshortcuts": "o", change: () => this.setOrder(this.orders.value || null) },
      element("option", { value: "" }, "Order: not shown"),
      ...this.relations().map(([relation, name]) => element("option", { value: relation }, `Order: ${name}`)),
    );
    return element(
      "div", { class: "toolbar", role: "search", "aria-label": "Steps" },
      this.query, this.found, ...Object.values(this.controls).filter((control) => control.length > 2), this.orders,
    );
  }

  /** A list of what to filter by. @param {string} name @param {string} key @param {[any, string][]} values */
  choice(name, key, values) {
    const read = (/** @type {string} */ value) => (value === "" ? null : key === "file" ? value : Number(value));
    const control = element("select", {
      "aria-label": `Filter by ${name.toLowerCase()}`,
      change: () => {
        this.setFilter({ ...this.filter, [key]: read(control.value) });
        if (this.shown.length > 0 && this.shown[lowerBound(this.shown, this.selected)] !== this.selected) this.move(0);
      },
    });
    control.append(element("option", { value: "" }, `${name}: all`));
    control.append(...values.map(([value, text]) => element("option", { value: String(value) }, text)));
    return control;
  }

  help() {
    const keys = [
      ["↑ ↓", "previous and next step"], ["← →", "previous and next step of the same task"],
      ["Page Up, Page Down, Home, End", "further"], ["m", "next step that is marked"], ["/", "search"],
      ["n, N", "next and previous match"], ["o", "order around the step"], ["Esc", "back to the steps, without filter"],
    ];
    const rows = keys.map(([key, what]) => element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)));
    return element("details", { class: "help" }, element("summary", {}, "Keys"), element("dl", {}, ...rows));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = event.target instanceof HTMLElement && event.target.matches("input[type=search], select");
    if (event.key === "Escape") {
      this.query.value = "";
      this.setFilter({ task: null, object: null, file: null });
      this.goTo(this.selected);
    } else if (inField && event.target === this.query && event.key === "Enter") {
      this.moveAmong(this.matches, event.shiftKey ? -1 : 1);
    } else if (inField || !this.command(event)) return;
    event.preventDefault();
  }

  /** Does what a key stands for. Returns false for another key. @param {KeyboardEvent} event */
  command(event) {
    const { target } = event;
    const inLanes = target === document.body || this.lanes.viewport.contains(/** @type {Node} */ (target));
    const page = Math.max(1, this.lanes.rowsInView() - 1);
    const ofTask = () => this.shown.filter((index) => this.data.steps[index].task === this.data.steps[this.selected].task);
    const everywhere = {
      "/": () => this.query.focus(),
      n: () => this.moveAmong(this.matches, 1),
      N: () => this.moveAmong(this.matches, -1),
      m: () => this.moveAmong(this.shown.filter((index) => this.data.steps[index].marked), 1),
      o: () => this.nextOrder(),
    };
    const moves = {
      ArrowDown: () => this.move(1), ArrowUp: () => this.move(-1), PageDown: () => this.move(page),
      PageUp: () => this.move(-page), Home: () => this.move(-Infinity), End: () => this.move(Infinity),
      ArrowRight: () => this.moveWithin(ofTask(), 1), ArrowLeft: () => this.moveWithin(ofTask(), -1),
    };
    const act = everywhere[event.key] || (inLanes ? moves[event.key] : undefined);
    if (act) act();
    return Boolean(act);
  }

  /** As `moveAmong`, but no further than the first and the last. @param {number[]} steps @param {number} direction */
  moveWithin(steps, direction) {
    const at = lowerBound(steps, this.selected) + direction;
    if (at >= 0 && at < steps.length) this.select(steps[at]);
  }
}

new Explorer(
  JSON.parse(/** @type {HTMLElement} */ (document.getElementById("exploration")).textContent || ""),
  /** @type {HTMLElement} */ (document.getElementById("explorer")),
);
