// The page in a real browser: see `run`.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { chromium } = require("playwright-core");

const { CHROMIUM, PAGES, SHOTS } = process.env;
let browser;
before(async () => {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  browser = await chromium.launch({ executablePath: CHROMIUM, args });
});
after(() => browser.close());

/** Opens a page, does something with it, and sees that it asked for nothing and complained of nothing. */
async function open(name, look, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => { if (!request.url().startsWith("file:")) complaints.push(`asks for ${request.url()}`); });
  const started = Date.now();
  await page.goto(`file://${path.join(PAGES, name)}`);
  if (options.javaScriptEnabled !== false) await page.waitForSelector('[role="option"][aria-selected="true"]');
  const took = Date.now() - started;
  await look(page, took);
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `${name}-${Object.keys(options).join("-")}.png`) });
  assert.deepEqual(complaints, [], name);
  await context.close();
}

const selected = (page) => page.locator('[role="option"][aria-selected="true"]');
const number = async (page) => (await selected(page).locator(".number").innerText()).replace(/\D/g, "");
const panel = (page) => page.locator('[role="tabpanel"]:visible');

test("the first look: the step that is wrong, its block, its lock and its source", () => open("blocks.html", async (page) => {
  assert.match(await page.title(), /^figure-1: panic$/);
  assert.equal(await number(page), "3");
  const text = await panel(page).innerText();
  for (const part of ["Step 3, main", "locks mutex 1", "▲ 1 of 3", "withdraw", "mut-suite/src/blocks/figures.rs", "could come on either side", "What these orders are"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  assert.match(await page.locator(".line.here").innerText(), /balance\.lock\(\)/);
  assert.equal(await page.locator(".span.marked").count(), 1);
  assert.ok(await page.locator(".hold").count() >= 2 && await page.locator(".edge.woken").count() >= 1);
  assert.equal(await page.locator(".row.marked").count(), 3);
}));

test("keys move, search and come back", () => open("blocks.html", async (page) => {
  await page.locator(".viewport").focus();
  const press = async (key, expected) => {
    await page.keyboard.press(key);
    assert.equal(await number(page), expected, key);
  };
  await press("ArrowDown", "4");
  await press("ArrowUp", "3");
  await press("ArrowRight", "4"); // the next step of main
  await press("ArrowRight", "12");
  await press("ArrowLeft", "4");
  await press("Home", "1");
  await press("m", "3");
  await press("m", "6");
  await press("End", ""); // how it ended is no step
  await press("/", "");
  await page.keyboard.type("thread unlocks");
  assert.equal(await page.locator("#found").innerText(), "2 steps");
  assert.match(await selected(page).innerText(), /unlocks mutex 1/);
  const first = await number(page);
  await page.keyboard.press("Enter");
  assert.notEqual(await number(page), first);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#found").innerText(), "");
  assert.equal(await page.evaluate(() => document.activeElement.className), "viewport");
}));

test("clicks select, filter and show the order", () => open("blocks.html", async (page) => {
  const locks = page.locator(".row", { has: page.locator(".what", { hasText: /^(▲ )?locks mutex 1$/ }) });
  await locks.nth(1).click();
  assert.equal(await number(page), "6");
  await page.getByLabel("Filter by task").selectOption({ label: "thread 1" });
  const tasks = await page.locator(".row").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label")));
  assert.ok(tasks.length > 3 && tasks.every((label) => label.includes("thread 1")), tasks.join("\n"));
  await page.keyboard.press("Escape");
  await page.getByLabel("Filter by object").selectOption({ label: "mutex 1" });
  assert.ok((await page.locator(".row .what").allInnerTexts()).every((text) => text.includes("mutex 1")));
  await page.keyboard.press("Escape");
  await page.getByLabel("Order around the step").selectOption("depends");
  assert.ok(await page.locator(".row.before").count() > 0 && await page.locator(".row.after").count() > 0);
  // A link of the panel goes to its step.
  await locks.last().click();
  await panel(page).getByRole("button", { name: /unlocks mutex 1/ }).first().click();
  assert.match(await selected(page).innerText(), /unlocks mutex 1/);
}));

test("a relaxed load depends on the store that it reads, and is concurrent with it", () => open("stale.html", async (page) => {
  const { steps } = JSON.parse(await page.locator("#exploration").textContent());
  const onlyDepends = (step) => (step.after || []).find((other) => !(step.happens_after || []).includes(other) && other !== step.woken_by);
  const load = steps.findIndex((step) => onlyDepends(step) !== undefined);
  const store = onlyDepends(steps[load]);
  const rows = page.locator(".row");
  await rows.nth(load).click();
  const relation = async (order) => {
    await page.getByLabel("Order around the step").selectOption(order);
    return (await rows.nth(store).getAttribute("class")).split(" ").filter((name) => ["before", "after", "concurrent"].includes(name));
  };
  assert.deepEqual(await relation("depends"), ["before"]);
  assert.deepEqual(await relation("happens"), ["concurrent"]);
  assert.match(await panel(page).innerText(), /\d+ happen before this one, \d+ after it, and \d+ are concurrent with it/);
  await page.locator(".viewport").focus();
  await page.keyboard.press("o");
  assert.equal(await page.getByLabel("Order around the step").inputValue(), "depends");
  await page.keyboard.press("o");
  assert.equal(await page.locator(".row.before").count(), 0);
}));

test("which choice mattered is a curve with its figures", () => open("blocks.html", async (page) => {
  await page.getByRole("tab", { name: "Which choice mattered" }).click();
  const text = await panel(page).innerText();
  assert.match(text, /What mattered most: that (after )?step \d+ came next/);
  assert.match(text, /\d+ of 200 \(\d+%\)/);
  assert.ok(await page.locator(".plot .dot").count() > 3);
  // The keys of a list of tabs.
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Step");
}));

test("a composed operation has its states and its orders", () => open("composed.html", async (page) => {
  await page.locator(".viewport").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  assert.equal(await panel(page).locator("mark").innerText(), "7: 15");
  await page.getByRole("tab", { name: "Why it fails" }).click();
  await panel(page).getByRole("button", { name: "memoize, insert" }).click();
  assert.match(await panel(page).locator(".order").innerText(), /insert returns 14/);
  assert.equal(await page.locator('tr[aria-selected="true"]').count(), 1);
}));

test("a composed operation and a hunt say which choice mattered", async () => {
  for (const name of ["composed.html", "hunt.html"]) {
    await open(name, async (page) => {
      await page.getByRole("tab", { name: "Which choice mattered" }).click();
      const text = await panel(page).innerText();
      assert.match(text, /What mattered most: that (after )?step \d+ came next/, name);
      assert.match(text, /\d+ of 200 \(\d+%\)/, name);
      assert.ok(await page.locator(".plot .dot").count() > 2, name);
    }, { viewport: { width: 1200, height: 800 } });
  }
});

test("a deadlock leads to what was taken", () => open("deadlock.html", async (page) => {
  assert.equal(await page.locator(".row.blocked").count(), 4);
  await page.locator(".row.blocked").last().click();
  // Which thread has which fork, and since which step, depends on the search.
  const mutex = /mutex \d+/.exec(await selected(page).innerText())[0];
  const taken = panel(page).locator(".facts").getByRole("button", { name: new RegExp(`step \\d+, thread \\d+: locks ${mutex}`) });
  const step = /step (\d+)/.exec(await taken.innerText())[1];
  await taken.click();
  assert.equal(await number(page), step);
  assert.equal(await page.locator(".hold.open").count(), 3);
}));

test("a stale value is marked with what could have been read", () => open("stale.html", async (page) => {
  await page.locator(".row.stale").click();
  const text = await panel(page).innerText();
  assert.match(text, /reads a stale value\s+the value that was there at first/);
  assert.match(text, /could have read\s+.*writes atomic 1/);
  await panel(page).locator(".facts").getByRole("button", { name: /writes atomic 1/ }).click();
  assert.match(await selected(page).innerText(), /writes atomic 1/);
}));

test("a history has its calls and its linearization", () => open("history.html", async (page) => {
  assert.equal(await page.locator(".span.call").count(), 3);
  assert.equal(await page.locator(".span.marked").count(), 1);
  assert.equal(await page.locator(".effect").innerText(), "1");
  await page.getByRole("tab", { name: "Linearization" }).click();
  assert.match(await panel(page).innerText(), /write\(1\) → null/);
}));

test("a trace has its blocks and locks", () => open("trace.html", async (page) => {
  assert.ok(await page.locator(".span.block").count() >= 2 && await page.locator(".hold").count() >= 2);
  assert.equal(await page.locator(".row.marked").count(), 3);
}));

test("100,000 steps open in two seconds, and only those that are seen are drawn", () => open("long.html", async (page, took) => {
  assert.ok(took < 2000, `${took} ms`);
  console.log(`# 100,000 steps: ${took} ms, ${fs.statSync(path.join(PAGES, "long.html")).size} bytes`);
  assert.equal(await number(page), "77777");
  assert.ok(await page.locator(".row").count() < 100);
  await page.keyboard.press("End");
  assert.equal(await number(page), "100000");
  await page.keyboard.press("/");
  const started = Date.now();
  await page.keyboard.type("main unlocks");
  assert.equal(await page.locator("#found").innerText(), "12500 steps");
  assert.ok(Date.now() - started < 4000);
  await page.getByLabel("Order around the step").selectOption("depends");
  assert.ok(await page.locator(".row.after").count() > 0);
}));

test("sizes", () => {
  for (const name of ["blocks", "deadlock", "composed", "history", "trace"]) {
    const { size } = fs.statSync(path.join(PAGES, `${name}.html`));
    assert.ok(size < 200_000, `${name}: ${size} bytes`);
  }
  assert.ok(fs.statSync(path.join(PAGES, "long.html")).size < 20_000_000);
});

test("400 pixels are enough, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("blocks.html", async (page) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 400, `${wide} pixels`);
      assert.ok(await page.locator(".row .who").first().isVisible());
      assert.equal(await page.locator(".head").count(), 0);
    }, { viewport: { width: 400, height: 800 }, colorScheme });
  }
});

test("texts have enough contrast", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await open("blocks.html", async (page) => {
      const weak = await page.evaluate(() => {
        const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
        const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
          .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
        const ground = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
          }
          return [255, 255, 255];
        };
        const seen = [...document.querySelectorAll("h1, h2, h3, p, dt, dd, .what, .at, .number, .head, button, label, option, .gutter, code span")];
        return seen.filter((element) => element.offsetParent && element.textContent.trim()).map((element) => {
          const [a, b] = [parse(getComputedStyle(element).color), ground(element)].map(luminance);
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          return ratio < 4.5 ? `${element.className || element.tagName}: ${ratio.toFixed(2)}` : "";
        }).filter(Boolean);
      });
      assert.deepEqual([...new Set(weak)], [], colorScheme);
    }, { colorScheme });
  }
});

test("roles, names and focus", () => open("blocks.html", async (page) => {
  const wrong = await page.evaluate(() => {
    const found = [];
    const all = (query) => [...document.querySelectorAll(query)];
    const name = (element) => (element.getAttribute("aria-label") || element.textContent || "").trim() ||
      (element.labels && element.labels[0] && element.labels[0].textContent) || "";
    all("button, select, input, [role=tab], [role=option], [role=listbox], [role=tablist], [role=search], [role=img]").forEach((element) => {
      if (!name(element)) found.push(`no name: ${element.outerHTML.slice(0, 80)}`);
    });
    const ids = all("[id]").map((element) => element.id);
    ids.filter((id, at) => ids.indexOf(id) !== at).forEach((id) => found.push(`twice: ${id}`));
    for (const attribute of ["aria-controls", "aria-labelledby", "aria-describedby", "aria-activedescendant"]) {
      all(`[${attribute}]`).forEach((element) => {
        if (!document.getElementById(element.getAttribute(attribute))) found.push(`${attribute} leads nowhere`);
      });
    }
    all("[role=option]").forEach((element) => { if (!element.closest("[role=listbox]")) found.push("an option outside of a list"); });
    if (all("h1").length !== 1 || all("main").length !== 1 || !document.documentElement.lang) found.push("no heading, main part or language");
    return found;
  });
  assert.deepEqual(wrong, []);
  // Every control is reached by the tab key, and what has the focus can be seen to have it.
  const reached = new Set();
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const { activeElement: element } = document;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return `${element.getAttribute("role") || element.tagName}${outlineStyle === "none" || outlineWidth === "0px" ? " without an outline" : ""}`;
    }));
  }
  for (const control of ["INPUT", "SELECT", "listbox", "tab", "tabpanel", "BUTTON", "SUMMARY"]) assert.ok(reached.has(control), `${control} of ${[...reached]}`);
}));

test("without a script the steps are a table", () => open("blocks.html", async (page) => {
  assert.equal(await page.locator("table").first().locator("tbody tr").count(), 17);
  assert.ok((await page.locator("body").innerText()).includes("interloper replay"));
}, { javaScriptEnabled: false }));

test("a printed page has the first steps, and no empty sheets after them", () => open("long.html", async (page) => {
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator(".row").count(), 3000);
  const [canvas, last] = await page.evaluate(() => [".canvas", ".row:last-child"].map((name) => document.querySelector(name).getBoundingClientRect().bottom));
  assert.ok(Math.abs(canvas - last) < 2, `${canvas} and ${last}`);
  assert.ok((await page.locator(".rest").innerText()).includes("The first 3,000 of 100,000 steps are printed"));
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(await page.locator(".row").count() < 100);
  assert.equal(await page.locator(".rest").isVisible(), false);
}));

for (const javaScriptEnabled of [true, false]) {
  test(`links lead to the other findings of the run and back, ${javaScriptEnabled ? "with" : "without"} a script`, () => open("sev%20eral%23.html", async (page) => {
    const links = page.locator(".findings li a");
    const current = page.locator('.findings [aria-current="page"]');
    assert.equal(await page.locator(".findings summary").innerText(), "Finding 1 of 3 of this run");
    assert.equal(await links.count(), 2);
    const first = await current.innerText();
    const second = await links.first().innerText();
    await links.first().click();
    await page.waitForURL("**/sev%20eral%23-2.html");
    assert.equal(await current.innerText(), second);
    assert.equal(await page.title(), second.replace(/, ([^,]*)$/, ": $1"));
    assert.equal(await links.first().innerText(), first);
    await links.first().click();
    await page.waitForURL("**/sev%20eral%23.html");
    assert.equal(await current.innerText(), first);
  }, { javaScriptEnabled }));
}

test("a page of one finding has no links", () => open("blocks.html", async (page) => {
  assert.equal(await page.locator("a").count(), 0);
}));
