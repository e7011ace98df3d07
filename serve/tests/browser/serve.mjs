// `histcheck serve` in a real browser: what a reader does with it, and what they see.
//
//     node serve.mjs CHROMIUM HISTCHECK [SCREENSHOTS]
//
// Ends with `N passed, N failed`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "../../../draw/tests/browser/chromium.mjs";

const [binary, histcheck, shots] = process.argv.slice(2);
if (!histcheck) {
  console.error("usage: serve.mjs CHROMIUM HISTCHECK [SCREENSHOTS]");
  process.exit(254);
}
const folder = mkdtempSync(join(tmpdir(), "histcheck-serve-")), store = join(folder, "store");
const run = (...words) => {
  try {
    return execFileSync(histcheck, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    // An invalid history is not an error here.
    if (error.status === 1) return error.stdout;
    throw error;
  }
};

/** A store with runs of Jepsen's and of ours. */
const fill = () => {
  const broken = run("gen", "list-append", "--txns", "300", "--bug", "lost-update", "--seed", "1");
  const fine = run("gen", "list-append", "--txns", "300", "--seed", "2");
  const jepsen = (name, day, history, results) => {
    const place = join(store, name, `202601${day}T093012.123Z`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "history.edn"), history);
    writeFileSync(join(place, "results.edn"), results);
    return place;
  };
  for (const [at, name] of ["etcd-append", "redis-sentinel-append", "postgres-append", "mysql-galera-append"].entries()) {
    for (let day = 10; day < 14; day++) {
      const isBroken = (at + day) % 3 === 0;
      const workload = isBroken ? "{:valid? false, :anomaly-types [:G-single-item :lost-update], :not #{:snapshot-isolation}}" : "{:valid? true}";
      jepsen(name, day, isBroken ? broken : fine, `{:stats {:valid? true}, :workload ${workload}, :valid? ${!isBroken}}`);
    }
  }
  jepsen("zookeeper-cas", 14, fine, "{:valid? :unknown}");
  const place = join(store, "etcd-append", "20260110T093012.123Z");
  run("report", "-m", "list-append", "-d", place, join(place, "history.edn"));
  writeFileSync(join(store, "<img src=x onerror=alert(1)>.edn"), fine);
  return { broken, fine };
};

const histories = fill();
const children = [];
/** Starts a server; returns its address. */
const serve = (...words) => {
  const child = spawn(histcheck, ["serve", "--listen", "127.0.0.1:0", ...words, store], { stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  return new Promise((resolve) => child.stdout.setEncoding("utf8").once("data", (line) => resolve(line.trim())));
};
const base = await serve();
const browser = new Browser(binary);
const ask = (expression) => browser.ask(expression);
const complaints = () => browser.complaints.filter((complaint) => !complaint.startsWith(`asked for ${base}`) && !complaint.startsWith("asked for data:"));
/** Opens a page in place of the one before. */
const open = async (path, options) => {
  browser.session = undefined;
  const { targetInfos } = await browser.send("Target.getTargets");
  for (const { targetId, type, url } of targetInfos) if (type === "page" && url.startsWith(base)) await browser.send("Target.closeTarget", { targetId });
  await browser.open(base + path, options);
};
/** Waits until something holds on the page, through whatever pages it takes. */
const until = async (expression) => {
  for (let left = 200; ; left--) {
    try {
      if (await ask(`new Promise((done) => { const look = () => (${expression}) ? done(true) : requestAnimationFrame(look); look(); })`)) return;
    } catch (error) {
      // The page was left for another one meanwhile.
      if (!/navigated|context|Cannot find|null|undefined/i.test(error.message) || left === 0) throw error;
    }
  }
};
const looks = [["light", {}], ["dark", { dark: true }], ["narrow", { width: 360, height: 800, mobile: true }]];

/** What a reader with a screen reader could not use. */
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
    assert.equal(await ask("document.querySelectorAll('tbody tr').length"), 5);
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
    await until("location.pathname === '/compare' && document.querySelector('tr.differs')");
    assert.deepEqual([await unusable(), complaints()], [[], []]);
    if (shots) await browser.shoot(join(shots, "compare.png"));
  },

  async "the token is asked for once, and then the page that was wanted is there"() {
    const guarded = await serve("--read-only", "--token", "correct-horse-battery");
    await browser.open(`${guarded}runs/etcd-append/20260110T093012.123Z`);
    assert.equal(await ask("document.querySelector('h1').textContent"), "This server needs its token");
    assert.deepEqual(await unusable(), []);
    const enter = (token) => ask(`document.querySelector("[name=token]").value = ${JSON.stringify(token)}, document.querySelector("form.login button").click()`);
    await enter("not-the-right-token");
    await until("document.querySelector('[role=alert]')?.textContent === 'That is not the token.'");
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
    writeFileSync(join(store, "new.edn"), histories.fine);
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
      form.text.value = ${JSON.stringify(histories.broken)};
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
for (const child of children) child.kill();
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
