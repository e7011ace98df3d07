// Tests `histcheck serve` in a real browser: what readers do with it, and what they see.
//
//     node serve.mjs CHROMIUM HISTCHECK [SCREENSHOTS]
//
// Ends with `N passed, N failed`.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "../../../draw/tests/browser/chromium.mjs";
import { Store } from "./store.mjs";
import { waitUntil } from "./wait.mjs";

const [binary, histcheck, shots] = process.argv.slice(2);
if (!histcheck) {
  console.error("usage: serve.mjs CHROMIUM HISTCHECK [SCREENSHOTS]");
  process.exit(254);
}
const store = new Store(histcheck);
const base = await store.serve();
const browser = await Browser.start(binary);
const ask = (expression) => browser.ask(expression);
const complaints = () => browser.complaints.filter((complaint) => !complaint.startsWith(`asked for ${base}`) && !complaint.startsWith("asked for data:"));
/** Opens a page, and closes the previous one. */
const open = async (path, options) => {
  browser.session = undefined;
  const { targetInfos } = await browser.send("Target.getTargets");
  for (const { targetId, type, url } of targetInfos) if (type === "page" && url.startsWith(base)) await browser.send("Target.closeTarget", { targetId });
  await browser.open(base + path, options);
};
const until = (expression) => waitUntil(browser, expression);
const looks = [["light", {}], ["dark", { dark: true }], ["narrow", { width: 360, height: 800, mobile: true }]];

/** Returns the elements that a screen reader could not use, and other faults of the page. */
const unusable = () => ask(`(() => {
  const wrong = [];
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) if (!field.labels.length) wrong.push(field.outerHTML);
  for (const button of document.querySelectorAll("a[href], button, summary")) if (!button.textContent.trim()) wrong.push(button.outerHTML);
  for (const image of document.querySelectorAll("img:not([alt]), iframe:not([title])")) wrong.push(image.outerHTML);
  if (parseFloat(getComputedStyle(document.getElementById("main")).paddingLeft) < 8) wrong.push("text at the edge of the window");
  if (document.querySelectorAll("h1").length !== 1 || !document.documentElement.lang || !document.title) wrong.push("heading, language or title");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) wrong.push("two elements have one id");
  return wrong;
})()`);

const tests = {
  async "pages open without complaint, in light and dark, wide and narrow"() {
    await open("");
    await until("document.querySelectorAll('tbody tr').length === 18");
    for (const [path, name] of [["", "list"], ["runs/etcd-append/20260110T093012.123Z", "run"], ["runs/nothing", "nothing"]]) {
      for (const [look, options] of looks) {
        await open(path, options);
        await until("document.readyState === 'complete'");
        if (shots) await browser.shoot(join(shots, `${name}-${look}.png`));
        assert.deepEqual(complaints().filter((text) => !(name === "nothing" && /404/.test(text))), [], `${name}, ${look}`);
        assert.equal(await ask("document.documentElement.scrollWidth <= innerWidth"), true, `${name}, ${look}: wider than the window`);
        assert.deepEqual(await unusable(), [], `${name}, ${look}`);
      }
    }
  },

  async "names of runs are only text"() {
    await open("");
    assert.equal(await ask("document.querySelectorAll('img').length"), 0);
    assert.equal(await ask("[...document.querySelectorAll('td.name')].some((cell) => cell.textContent === '<img src=x onerror=alert(1)>.edn')"), true);
    assert.deepEqual(complaints(), []);
  },

  async "a filter is part of the address, and works without a script"() {
    await open("", { script: false });
    await browser.send("Emulation.setScriptExecutionDisabled", { value: false });
    await ask("document.querySelector('[name=verdict]').value = 'invalid', document.querySelector('form[role=search] button').click()");
    await until("location.search.includes('verdict=invalid') && document.readyState === 'complete'");
    assert.equal(await ask("[...document.querySelectorAll('td .badge')].every((badge) => badge.classList.contains('invalid'))"), true);
    assert.equal(await ask("document.querySelectorAll('tbody tr').length"), 6);
  },

  async "a run opens by the keyboard alone"() {
    await open("?name=etcd&sort=name");
    for (let step = 0; step < 40; step++) {
      await browser.send("Input.dispatchKeyEvent", { type: "keyDown", key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 });
      if (await ask("document.activeElement.matches('td.name a')")) break;
    }
    await browser.send("Input.dispatchKeyEvent", { type: "keyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\\r" });
    await until("location.pathname.startsWith('/runs/etcd-append/') && document.querySelector('h1')");
    assert.equal(await ask("document.querySelector('iframe').getAttribute('src')"), "/files/etcd-append/20260110T093012.123Z/report.html");
  },

  async "two runs stand side by side"() {
    await open("runs/etcd-append/20260110T093012.123Z");
    await ask("document.querySelector('[name=b]').value = 'etcd-append/20260112T093012.123Z', document.querySelector('form.beside button').click()");
    await until("location.pathname === '/compare' && document.querySelector('tr.differs') && document.readyState === 'complete'");
    assert.deepEqual([await unusable(), complaints()], [[], []]);
    if (shots) await browser.shoot(join(shots, "compare.png"));
  },

  async "the token is asked for once, and then the page that was wanted is there"() {
    const guarded = await store.serve("--read-only", "--token", "correct-horse-battery");
    await browser.open(`${guarded}runs/etcd-append/20260110T093012.123Z`);
    assert.equal(await ask("document.querySelector('h1').textContent"), "This server requires a token");
    assert.deepEqual(await unusable(), []);
    const enter = (token) => ask(`document.querySelector("[name=token]").value = ${JSON.stringify(token)}, document.querySelector("form.login button").click()`);
    await enter("not-the-right-token");
    await until("document.querySelector('[role=alert]')?.textContent === 'Wrong token.'");
    await enter("correct-horse-battery");
    await until("document.querySelector('h1')?.textContent === 'etcd-append/20260110T093012.123Z'");
    assert.equal(await ask("document.cookie"), "", "scripts do not see it");
  },

  async "a report reaches nothing of ours"() {
    await open("files/etcd-append/20260110T093012.123Z/report.html", { script: false });
    assert.deepEqual([await ask("origin"), complaints()], ["null", []]);
  },

  async "a new run appears without reloading"() {
    await open("?name=new");
    await until("document.readyState === 'complete'");
    await ask("window.same = true");
    writeFileSync(join(store.path, "new.edn"), store.fine);
    await until("document.querySelector('td.name')?.textContent === 'new.edn'");
    assert.equal(await ask("window.same"), true, "it is the same page");
  },

  async "a history that is pasted is checked, and becomes a run"() {
    await open("");
    await ask("document.querySelector('#drop summary').click()");
    if (shots) await browser.shoot(join(shots, "drop.png"));
    await ask(`(() => {
      const form = document.querySelector("#drop form");
      form.checker.value = "list-append";
      form.text.value = ${JSON.stringify(store.broken)};
      form.querySelector("button").click();
    })()`);
    await until("location.pathname.startsWith('/checks/') && document.querySelector('p .badge.invalid')");
    assert.match(await ask("document.querySelector('p[role=status]').textContent"), /G-single-item/);
    assert.deepEqual(await unusable(), []);
    if (shots) await browser.shoot(join(shots, "check.png"));
    await open("?name=dropped&verdict=invalid");
    await until("document.querySelector('td.name')?.textContent.startsWith('dropped/')");
  },

  async "what is wrong with a history is shown where it is"() {
    await open("");
    await ask(`(() => {
      const form = document.querySelector("#drop form");
      form.checker.value = "list-append";
      form.text.value = "{:process 0, :type :invoke}\\n{:process 0, :type :nope}\\n";
      form.querySelector("button").click();
    })()`);
    await until("location.pathname.startsWith('/checks/') && document.querySelector('[role=alert]')");
    assert.match(await ask("document.querySelector('[role=alert]').textContent"), /Line 2, column 1: the op's type is :nope/);
  },

  async "a run is checked again at another level"() {
    await open("runs/etcd-append/20260110T093012.123Z");
    await ask(`(() => {
      const form = document.querySelector("form[action='/check']");
      form.checker.value = "list-append";
      form.levels.value = "read-committed";
      form.querySelector("button").click();
    })()`);
    await until("location.pathname.startsWith('/checks/') && document.querySelector('p .badge.valid')");
  },

  async "a history is scrolled from its first row to its last"() {
    const ops = 400_000;
    let text = "";
    for (let op = 0; op < ops; op++) text += `{:index ${op}, :time ${op * 1000}, :process ${op % 5}, :type ${op % 10 < 5 ? ":invoke" : ":ok"}, :f :read, :value ${op}}\n`;
    writeFileSync(join(store.path, "long.edn"), text);
    await open("?name=long");
    await until("document.querySelector('td.name')?.textContent === 'long.edn'");
    await open("rows/long.edn");
    const rows = "[...document.querySelectorAll('.sheet .line')].map((line) => line.firstElementChild.textContent)";
    await until("document.querySelector('.view') && document.querySelector('.sheet .line a')");
    if (shots) await browser.shoot(join(shots, "rows.png"));
    assert.equal(await ask(`${rows}[0]`), "0");
    assert.deepEqual([await unusable(), complaints()], [[], []]);
    // Scrolls by the wheel, row by row; by the scroll bar, to the end and to the middle; and back by the keyboard.
    await ask("document.querySelector('.view').scrollTop = 280");
    await until(`${rows}.includes("10") && document.querySelector('.sheet .line a')`);
    await ask("document.querySelector('.view').scrollTop = 1e9");
    await until(`${rows}.includes("${ops - 1}")`);
    const bottom = await ask("(() => { const last = [...document.querySelectorAll('.sheet .line')].pop().getBoundingClientRect(), view = document.querySelector('.view').getBoundingClientRect(); return last.bottom - view.bottom; })()");
    assert.ok(Math.abs(bottom) <= 2, `the last row ends ${bottom} pixels from the end`);
    await ask("document.querySelector('.view').scrollTop = 4e6");
    await until("((index) => index > 100000 && index < 300000)(Number(document.querySelector('.sheet .line a')?.textContent))");
    await until(`Number(${rows}[20]) > 0`);
    const before = Number(await ask(`${rows}[20]`));
    await ask("document.querySelector('.view').scrollTop += 56");
    await until(`Number(${rows}[20]) === ${before + 2}`);
    await ask("document.querySelector('.view').focus()");
    await browser.send("Input.dispatchKeyEvent", { type: "keyDown", key: "Home", code: "Home", windowsVirtualKeyCode: 36 });
    await until(`${rows}[0] === "0"`);
    assert.ok(await ask("document.querySelectorAll('.sheet .line').length") < 120, "only what is on screen is drawn");
  },

  async "a row leads to its neighbours, and a search finds it"() {
    await open("rows/etcd-append/20260110T093012.123Z?type=ok&text=append");
    await until("document.querySelector('table.ops td a')");
    const index = await ask("document.querySelector('table.ops td a').textContent");
    await ask("document.querySelector('table.ops td a').click()");
    await until(`document.querySelector('section.chosen h2')?.textContent.startsWith("Op ${index}") && document.querySelector('.line[aria-current] a')`);
    assert.equal(await ask("document.querySelector('.line[aria-current] a').textContent"), index);
    if (shots) await browser.shoot(join(shots, "op.png"));
    for (const [look, options] of looks) {
      await open(`rows/etcd-append/20260110T093012.123Z?at=${index}`, options);
      await until("document.querySelector('.line[aria-current] a')");
      if (shots) await browser.shoot(join(shots, `op-${look}.png`));
      assert.deepEqual([await unusable(), complaints()], [[], []], look);
      assert.equal(await ask("document.documentElement.scrollWidth <= innerWidth"), true, `${look}: wider than the window`);
    }
  },

  async "an op of a report leads to its row"() {
    await open("files/etcd-append/20260110T093012.123Z/report.html", { script: false });
    const [href, target] = await ask("(() => { const link = document.querySelector('a.op'); return [link.getAttribute('href'), link.target]; })()");
    assert.match(href, /^\/rows\/etcd-append\/20260110T093012\.123Z\?at=\d+$/);
    assert.equal(target, "_top");
  },

  async "a checker is suggested for what is pasted"() {
    await open("");
    await ask(`(() => {
      const form = document.querySelector("#drop form");
      document.querySelector("#drop").open = true;
      form.text.value = ${JSON.stringify(store.fine)};
      form.querySelector("button").click();
    })()`);
    await until("document.querySelector('#drop form').checker.value === 'list-append'");
    assert.match(await ask("document.getElementById('dropped').textContent"), /looks like list-append/);
    await ask("document.querySelector('#drop form button').click()");
    await until("location.pathname.startsWith('/checks/') && document.querySelector('p .badge.valid')");
  },

  async "a history with keys is checked key by key"() {
    const ok = (f, value) => ["invoke", "ok"].map((type) => `{:process 0, :type :${type}, :f :${f}, :value ${value}}`);
    const history = [...ok("write", "[0 1]"), ...ok("write", "[1 2]"), ...ok("read", "[0 1]")].join("\n");
    await open("");
    await ask(`(() => {
      const form = document.querySelector("#drop form");
      document.querySelector("#drop").open = true;
      form.text.value = ${JSON.stringify(history)};
      form.querySelector("button").click();
    })()`);
    await until("document.querySelector('#drop form').checker.value");
    const chosen = (checker) => ask(`(() => {
      const form = document.querySelector("#drop form");
      form.checker.value = "${checker}";
      form.checker.dispatchEvent(new Event("change"));
      return form.keyed.value;
    })()`);
    assert.deepEqual([await chosen("linearizable-register"), await chosen("register")], ["no", "yes"]);
    await ask("document.querySelector('#drop form button').click()");
    await until("location.pathname.startsWith('/checks/') && document.querySelector('p .badge.valid')");
    assert.match(await ask("document.body.textContent"), /Checker: register, each key separately/);
  },

  async "a violation appears while the run goes on"() {
    const { child, address } = store.start(["watch", "-m", "list-append", "--keep-going", "--serve=127.0.0.1:0", "-"], "pipe");
    await browser.open(`${await address}live`);
    const complained = () => browser.complaints.filter((complaint) => !complaint.startsWith("asked for http://127.0.0.1"));
    const lines = store.broken.split("\n");
    child.stdin.write(`${lines.slice(0, 40).join("\n")}\n`);
    await until("document.querySelector('[data-figure=ops]').textContent === '40'");
    assert.match(await ask("document.getElementById('verdict').textContent"), /no violation so far/);
    const begin = Date.now();
    child.stdin.write(lines.slice(40).join("\n"));
    await until("document.querySelector('section.violation pre')");
    console.log(`  it appeared ${Date.now() - begin} ms after its ops were written`);
    assert.match(await ask("document.getElementById('verdict').textContent"), /invalid/);
    if (shots) await browser.shoot(join(shots, "live.png"));
    assert.deepEqual([await unusable(), complained()], [[], []]);
    // A page that is opened later shows everything.
    for (const [look, options] of looks) {
      await browser.open(`${await address}live`, options);
      await until("document.querySelector('section.violation pre') && document.querySelector('#plot-latency path')");
      if (shots) await browser.shoot(join(shots, `live-${look}.png`));
      assert.equal(await ask("document.documentElement.scrollWidth <= innerWidth"), true, `${look}: wider than the window`);
      assert.deepEqual([await unusable(), complained()], [[], []], look);
    }
    child.stdin.end();
    await until("document.getElementById('connection').textContent.startsWith('The run has ended.')");
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n  ${String(error.stack).replaceAll("\n", "\n  ")}`);
  }
}
await browser.close();
store.close();
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
