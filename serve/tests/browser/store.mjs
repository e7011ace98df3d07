// A store with runs of Jepsen and of histcheck, and servers for it, for the tests in a browser.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Store {
  constructor(histcheck) {
    this.histcheck = histcheck;
    this.folder = mkdtempSync(join(tmpdir(), "histcheck-serve-"));
    this.path = join(this.folder, "store");
    this.children = [];
    this.broken = this.run("gen", "list-append", "--txns", "300", "--bug", "lost-update", "--seed", "1");
    this.fine = this.run("gen", "list-append", "--txns", "300", "--seed", "2");
    this.fill();
  }

  run(...words) {
    try {
      return execFileSync(this.histcheck, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
    } catch (error) {
      // An invalid history is not an error here.
      if (error.status === 1) return error.stdout;
      throw error;
    }
  }

  fill() {
    const jepsen = (name, day, history, results) => {
      const place = join(this.path, name, `202601${day}T093012.123Z`);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "history.edn"), history);
      writeFileSync(join(place, "results.edn"), results);
      return place;
    };
    for (const [at, name] of ["etcd-append", "redis-sentinel-append", "postgres-append", "mysql-galera-append"].entries()) {
      for (let day = 10; day < 14; day++) {
        const isBroken = (at + day) % 3 === 0;
        const workload = isBroken ? "{:valid? false, :anomaly-types [:G-single-item :lost-update], :not #{:snapshot-isolation}}" : "{:valid? true}";
        jepsen(name, day, isBroken ? this.broken : this.fine, `{:stats {:valid? true}, :workload ${workload}, :valid? ${!isBroken}}`);
      }
    }
    jepsen("zookeeper-cas", 14, this.fine, "{:valid? :unknown}");
    const place = join(this.path, "etcd-append", "20260110T093012.123Z");
    writeFileSync(join(place, "history.edn"), this.broken);
    this.run("report", "-m", "list-append", "-d", place, join(place, "history.edn"));
    writeFileSync(join(this.path, "<img src=x onerror=alert(1)>.edn"), this.fine);
  }

  /** Starts a command that prints its address, on standard output or as a note on standard error; returns the address. */
  start(words, stdin = "ignore") {
    const child = spawn(this.histcheck, words, { stdio: [stdin, "pipe", "pipe"] });
    this.children.push(child);
    const address = new Promise((resolve) => {
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => {
        const found = /http:\/\/[^/]+\//.exec(text);
        if (found) resolve(found[0]);
      });
    });
    return { child, address };
  }

  serve(...words) {
    return this.start(["serve", "--listen", "127.0.0.1:0", ...words, this.path]).address;
  }

  close() {
    for (const child of this.children) child.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
