/**
 * Records a history of concurrent operations, as JSON Lines, for the command `histcheck -m CHECKER FILE`.
 *
 * One file without dependencies: copy it into your tests. The order of the calls is the order of the history. Values are what
 * `JSON.stringify` takes; they are written when they are passed, so changing one later changes nothing. `undefined` is null.
 */

// In Node from version 16 on, in Deno and in browsers.
declare const performance: { now(): number };

export type Completion = "ok" | "fail" | "info";

export class Recorder {
  private readonly lines: string[] = [];
  private readonly startMs = performance.now();
  private processes = 0;

  /** A new client. It has one operation in flight at a time: use one for each sequence of requests. */
  client(): Client {
    return new Client(this, this.takeProcess());
  }

  /** The history so far. */
  history(): string {
    return this.lines.join("");
  }

  /** The next process that no client has had. */
  takeProcess(): number {
    return this.processes++;
  }

  /** Adds a line; throws if the value cannot be written. */
  add(type: string, client: number, f: string, value: unknown, error?: unknown): void {
    const time = Math.round((performance.now() - this.startMs) * 1e6);
    const op: Record<string, unknown> = { type, process: client, f, value: value === undefined ? null : value, time };
    if (error !== undefined) {
      op["error"] = String(error);
    }
    this.lines.push(`${JSON.stringify(op)}\n`);
  }
}

/** Invokes operations, one at a time. */
export class Client {
  private readonly recorder: Recorder;
  private process: number;
  private inFlight = false;

  constructor(recorder: Recorder, process: number) {
    this.recorder = recorder;
    this.process = process;
  }

  /** Records that this client invokes `f` with a value. */
  invoke(f: string, value?: unknown): Operation {
    if (this.inFlight) {
      throw new Error("this client has an operation in flight; complete it first");
    }
    this.recorder.add("invoke", this.process, f, value);
    this.inFlight = true;
    return new Operation((type, result, error) => {
      this.recorder.add(type, this.process, f, type === "ok" ? result : value, error);
      this.inFlight = false;
      if (type === "info") {
        this.process = this.recorder.takeProcess();
      }
    });
  }

  /** Calls a function as an operation that returns what the function returns. If it throws, it may have taken effect. */
  async call<T>(f: string, value: unknown, does: () => Promise<T> | T): Promise<T> {
    const op = this.invoke(f, value);
    let result: T;
    try {
      result = await does();
    } catch (error) {
      op.info(error);
      throw error;
    }
    op.ok(result);
    return result;
  }
}

/** An operation in flight. It completes once: by `ok`, `fail` or `info`. */
export class Operation {
  private readonly complete: (type: Completion, result: unknown, error?: unknown) => void;
  private isComplete = false;

  constructor(complete: (type: Completion, result: unknown, error?: unknown) => void) {
    this.complete = complete;
  }

  /** It took effect. The value is that of the invocation, or what it returned. */
  ok(result?: unknown): void {
    this.end("ok", result);
  }

  /** It certainly did not take effect. */
  fail(error?: unknown): void {
    this.end("fail", undefined, error);
  }

  /** It may or may not have taken effect, now or later: a time-out. The client goes on as another process. */
  info(error?: unknown): void {
    this.end("info", undefined, error);
  }

  private end(type: Completion, result: unknown, error?: unknown): void {
    if (this.isComplete) {
      throw new Error("an operation completes once");
    }
    this.complete(type, result, error);
    this.isComplete = true;
  }
}
