// Asserts that axe-core finds nothing serious on the pages of `histcheck serve`, on reports and on timelines.
//
//     node axe.mjs CHROMIUM HISTCHECK AXE TIMELINES
//
// AXE is axe-core's `axe.min.js`; TIMELINES the directory that the example `timeline` wrote. Ends with `N passed, N failed`.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "../../../draw/tests/browser/chromium.mjs";
import { Store } from "./store.mjs";
import { waitUntil } from "./wait.mjs";

const [binary, histcheck, axe, timelines] = process.argv.slice(2);
if (!timelines) {
  console.error("usage: axe.mjs CHROMIUM HISTCHECK AXE TIMELINES");
  process.exit(254);
}
const source = readFileSync(axe, "utf8"), store = new Store(histcheck), browser = await Browser.start(binary);
const base = await store.serve(), run = "etcd-append/20260110T093012.123Z";
const watched = store.start(["watch", "-m", "list-append", "--keep-going", "--serve=127.0.0.1:0", "-"], "pipe");
watched.child.stdin.write(store.broken);
const file = (path) => pathToFileURL(resolve(path)).href;
const pages = {
  "the list": [base, "document.querySelectorAll('tbody tr').length >= 18"],
  "a filter that finds nothing": [`${base}?name=none`, "true"],
  "a run": [`${base}runs/${run}`, "document.querySelector('iframe')"],
  "two runs": [`${base}compare?a=${run}&b=zookeeper-cas/20260114T093012.123Z`, "true"],
  "rows": [`${base}rows/${run}?at=9`, "document.querySelector('.line[aria-current] a')"],
  "rows that are searched": [`${base}rows/${run}?type=ok`, "document.querySelector('table.ops')"],
  "a run that goes on": [`${await watched.address}live`, "document.querySelector('section.violation pre')"],
  "nothing": [`${base}none`, "true"],
  "a report": [file(join(store.path, run, "report.html")), "true"],
  "a timeline": [file(join(timelines, "small.html")), "true"],
};
const serious = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .map(({ id, impact, help, nodes }) => impact + " " + id + ": " + help + "\\n    " + nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join("\\n    ")))`;

let [passed, failed] = [0, 0];
for (const [name, [address, isReady]] of Object.entries(pages)) {
  for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["narrow", { width: 360, height: 800, mobile: true }]]) {
    let wrong;
    try {
      await browser.open(address, options);
      await waitUntil(browser, `(${isReady}) && document.readyState === "complete"`);
      await browser.ask(`${source}; 0`);
      wrong = await browser.ask(serious);
    } catch (error) {
      wrong = [error.message];
    }
    if (wrong.length) failed += 1; else passed += 1;
    console.log(wrong.length ? `FAILED ${name}, ${look}\n  ${wrong.join("\n  ")}` : `ok ${name}, ${look}`);
  }
}
await browser.close();
store.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
