/**
 * Records a history of concurrent operations, as JSON Lines, for the command `histcheck -m CHECKER FILE`.
 *
 * This file has no dependencies: copy it into your tests. The order of the calls is the order of the history. A value is any value
 * that JSON can hold; for any other value, such as NaN, a BigInt or a Map, the recorder throws an error. Values are written when they
 * are passed, so later changes have no effect. `undefined` is null.
 */

// This code runs in Node 16 or later, Deno, and browsers.
declare const performance: { now(): number };

export type Completion = "ok" | "fail" | "info";

export class Recorder {
  private readonly lines: string[] = [];
  private readonly startMs = performance.now();
  private processes = 0;

  /** Returns a new client. It has at most one operation in flight: use one client for each sequence of requests. */
  client(): Client {
    return new Client(this, this.takeProcess());
  }

  /** Returns the history so far. */
  history(): string {
    return this.lines.join("");
  }

  /** Returns a process that no client has had before. */
  takeProcess(): number {
    return this.processes++;
  }

  /** Adds a line, with a value that is JSON. */
  add(type: string, client: number, f: string, value: string, error?: unknown): void {
    const time = Math.round((performance.now() - this.startMs) * 1e6);
    const reason = error === undefined ? "" : `,"error":${JSON.stringify(textOf(error))}`;
    this.lines.push(`{"type":"${type}","process":${client},"f":${toJson(f)},"value":${value},"time":${time}${reason}}\n`);
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
    const invoked = toJson(value);
    this.recorder.add("invoke", this.process, f, invoked);
    this.inFlight = true;
    return new Operation((type, result, error) => {
      this.recorder.add(type, this.process, f, type === "ok" ? toJson(result) : invoked, error);
      this.inFlight = false;
      if (type === "info") {
        this.process = this.recorder.takeProcess();
      }
    });
  }

  /**
   * Calls a function as an operation that returns what the function returns. If the function throws, or returns a value that
   * cannot be written, the operation completes as `info`.
   */
  async call<T>(f: string, value: unknown, does: () => Promise<T> | T): Promise<T> {
    const op = this.invoke(f, value);
    try {
      const result = await does();
      op.ok(result);
      return result;
    } catch (error) {
      op.info(error);
      throw error;
    }
  }
}

/** An operation in flight. It completes once: by `ok`, `fail` or `info`. */
export class Operation {
  private readonly complete: (type: Completion, result: unknown, error?: unknown) => void;
  private isComplete = false;

  constructor(complete: (type: Completion, result: unknown, error?: unknown) => void) {
    this.complete = complete;
  }

  /** Records that the operation took effect. The value is that of the invocation, or the returned one. */
  ok(result?: unknown): void {
    this.end("ok", result);
  }

  /** Records that the operation certainly did not take effect. */
  fail(error?: unknown): void {
    this.end("fail", undefined, error);
  }

  /**
   * Records that the outcome is unknown, as after a time-out: the operation may take effect at any time, or never. The client
   * continues as another process.
   */
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

/** Returns a value as JSON. Throws if JSON cannot hold the value, where `JSON.stringify` would write null, {} or nothing. */
function toJson(value: unknown): string {
  return JSON.stringify(value === undefined ? null : value, function (this: Record<string, unknown>, key: string, item: unknown) {
    const given = this[key];
    // An invalid Date is null as JSON, and undefined is null in an array.
    const isNothing = item === null || item === undefined;
    const isLost = isNothing ? item !== given || (item === undefined && Array.isArray(this)) : !isJson(item);
    if (isLost || !isJson(key)) {
      const lost = isLost ? given : key;
      const text = typeof lost === "string" ? JSON.stringify(lost) : textOf(lost);
      throw new TypeError(`${text} cannot be in a history; expected a value that JSON can hold`);
    }
    return item;
  });
}

/** Returns true if JSON can hold a value that is not null or undefined. It does not examine elements and properties. */
function isJson(value: unknown): boolean {
  if (typeof value === "string") {
    return !/\p{Surrogate}/u.test(value);
  }
  if (Array.isArray(value) || typeof value === "boolean") {
    return true;
  }
  if (typeof value !== "object" || value === null) {
    // Larger integers may be rounded: 2 ** 53 + 1 is 2 ** 53.
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  // The content of a Map, a Promise or an object with private fields is in no property.
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  const isObject = Object.prototype.toString.call(value) === "[object Object]";
  return isObject && (isPlain || Object.keys(value).length > 0);
}

/** Returns the text of an error, or of any other value. Some objects have no text. */
function textOf(value: unknown): string {
  try {
    return String(value).replace(/\p{Surrogate}/gu, "\ufffd");
  } catch {
    return "an object without text";
  }
}
