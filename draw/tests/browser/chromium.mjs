// Controls a browser: Chromium's debugging protocol over a pipe, so that neither a port nor a package is needed.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The maximum wait for a response of the browser, in milliseconds. */
const PATIENCE_MS = 60_000;

/** The maximum number of starts: a browser may crash when it starts, before the first request. */
const STARTS_MAX = 3;

export class Browser {
  /** Starts a browser, and waits until it responds. */
  static async start(binary) {
    for (let left = STARTS_MAX - 1; ; left--) {
      const browser = new Browser(binary);
      try {
        await browser.send("Browser.getVersion");
        return browser;
      } catch (error) {
        browser.child.kill("SIGKILL");
        await browser.ended;
        browser.forget();
        if (left === 0) throw error;
        console.log(`the browser did not start: ${error.message}`);
      }
    }
  }

  constructor(binary) {
    this.profile = mkdtempSync(join(tmpdir(), "histcheck-browser-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`];
    this.child = spawn(binary, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.waiting = new Map();
    this.last = 0;
    this.listen = () => {};
    // Rejects all pending requests, which will get no response.
    const gone = (why) => { for (const { reject } of this.waiting.values()) reject(new Error(`the browser is gone: ${why}`)); };
    this.child.once("exit", (code, signal) => gone(signal ?? code));
    for (const end of this.child.stdio.slice(3)) end.on("error", (error) => gone(error.code));
    let text = "";
    this.child.stdio[4].setEncoding("utf8").on("data", (chunk) => {
      const messages = (text + chunk).split("\0");
      text = messages.pop();
      for (const message of messages) this.take(JSON.parse(message));
    });
  }

  take(message) {
    if (!message.id) {
      // A page that was opened before may still send messages.
      if (!message.sessionId || message.sessionId === this.session) this.listen(message);
      return;
    }
    const { resolve, reject } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message)); else resolve(message.result);
  }

  send(method, params = {}) {
    const id = ++this.last;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), PATIENCE_MS);
      const once = (act) => (value) => { clearTimeout(timer); act(value); };
      this.waiting.set(id, { resolve: once(resolve), reject: once(reject) });
    });
  }

  /** Opens a page of this size and waits until it is loaded. Its errors and other complaints go to `complaints`. */
  async open(url, { width = 1280, height = 800, dark = false, mobile = false, script = true } = {}) {
    this.session = undefined;
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    this.session = sessionId;
    this.complaints = [];
    const loaded = new Promise((resolve) => {
      this.listen = ({ method, params }) => {
        if (method === "Page.loadEventFired") resolve();
        if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
        if (method === "Runtime.consoleAPICalled") this.complaints.push(`console.${params.type}`);
        if (method === "Log.entryAdded") this.complaints.push(params.entry.text);
        if (method === "Network.requestWillBeSent" && params.request.url !== url) this.complaints.push(`asked for ${params.request.url}`);
        if (method === "Page.javascriptDialogOpening") this.complaints.push(`dialog: ${params.message}`);
      };
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(`${domain}.enable`);
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }] });
    await this.send("Emulation.setTouchEmulationEnabled", { enabled: mobile });
    await this.send("Emulation.setScriptExecutionDisabled", { value: !script });
    await this.send("Page.navigate", { url });
    await loaded;
    if (script) await this.frame();
  }

  /** Evaluates an expression, and awaits the result if it is a promise. */
  async ask(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  /** Waits until pending changes are drawn. */
  frame() {
    return this.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
  }

  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, ...more });
    await this.frame();
  }

  async key(key) {
    const text = key.length === 1 ? { text: key } : {};
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, ...text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
    await this.frame();
  }

  async shoot(path) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async close() {
    this.session = undefined;
    await this.send("Browser.close");
    await this.ended;
    this.forget();
  }

  forget() {
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
