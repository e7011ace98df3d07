/**
 * Tests of the recorder: compile this file and recorder.ts, and run the result in Node. It exits with 1 at the first failure.
 */
import { Client, Recorder } from "./recorder";

// An exception in this block ends Node with exit code 1.
function check(isRight: boolean, what: string): void {
  if (!isRight) {
    throw new Error(what);
  }
}

function refuses(does: () => unknown, what: string): void {
  let isRefused = false;
  try {
    does();
  } catch (error) {
    isRefused = String(error).includes("cannot be in a history");
  }
  check(isRefused, `refuses ${what}`);
}

/** Returns the ops of a history, each as "TYPE PROCESS VALUE". */
function ops(recorder: Recorder): string {
  const lines = recorder.history().trim().split("\n");
  return lines.map((line) => JSON.parse(line)).map((op) => `${op.type} ${op.process} ${JSON.stringify(op.value)}`).join(", ");
}

class Hidden {
  #value = 1;
  read(): number {
    return this.#value;
  }
}

class Shown {
  value = 1;
}

function refusesWhatJsonCannotHold(): void {
  const refused: unknown[] = [
    NaN, Infinity, -Infinity, BigInt(1), Symbol("a"), () => 1, new Map([[1, 2]]), new Set([1]), Promise.resolve(1), new Hidden(),
    new Date(NaN), new Number(NaN), /a/, "\ud800", "\udc00\ud800", { "\ud800": 1 }, [undefined], [1, , 2], [[NaN]], { a: { b: NaN } },
    { a: () => 1 }, { a: { toJSON: () => undefined } }, { toJSON: () => NaN },
    2 ** 53, -(2 ** 53), [2 ** 60],
  ];
  const recorder = new Recorder();
  const client = recorder.client();
  refused.forEach((value, at) => refuses(() => client.invoke("write", value), `value ${at}`));
  refuses(() => client.invoke("\ud800"), "the name of an operation");
  check(recorder.history() === "", "nothing is recorded");
  client.invoke("write", 1).ok(1);
  check(ops(recorder) === "invoke 0 1, ok 0 1", `the client goes on: ${ops(recorder)}`);
}

function writesWhatJsonCanHold(): void {
  const written: [unknown, string][] = [
    [undefined, "null"], [null, "null"], [false, "false"], [-1.5, "-1.5"], [2 ** 53 - 1, "9007199254740991"], ["\ud83d\ude00\n\"", '"\ud83d\ude00\\n\\""'],
    [[1, [null, {}]], "[1,[null,{}]]"], [{ a: 1, b: undefined }, '{"a":1}'], [Object.create(null), "{}"], [new Shown(), '{"value":1}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ];
  for (const [value, json] of written) {
    const recorder = new Recorder();
    recorder.client().invoke("write", value);
    check(recorder.history().includes(`"value":${json},`), `${json}: ${recorder.history()}`);
  }
}

function keepsTheInvocation(): void {
  const recorder = new Recorder();
  const client = recorder.client();
  for (const end of ["info", "fail"] as const) {
    const value = [1];
    const op = client.invoke("write", value);
    value.push(2);
    op[end](`${end}: \ud800`);
  }
  check(ops(recorder) === "invoke 0 [1], info 0 [1], invoke 1 [1], fail 1 [1]", ops(recorder));
  check(recorder.history().includes('"error":"info: \ufffd"'), "half a surrogate pair in an error does no harm");
}

async function thrown(client: Client, does: () => unknown): Promise<unknown> {
  return client.call("read", null, does).then(
    () => undefined,
    (error) => error,
  );
}

async function callsEnd(): Promise<void> {
  const recorder = new Recorder();
  const client = recorder.client();
  const bare = Object.create(null);
  check((await thrown(client, () => Promise.reject(bare))) === bare, "the error is the function's own");
  check(String(await thrown(client, () => BigInt(1))).includes("1 cannot be in a history"), "a result that cannot be written");
  check((await client.call("read", null, () => 7)) === 7, "the client goes on");
  const expected = "invoke 0 null, info 0 null, invoke 1 null, info 1 null, invoke 2 null, ok 2 7";
  check(ops(recorder) === expected, ops(recorder));
}

refusesWhatJsonCannotHold();
writesWhatJsonCanHold();
keepsTheInvocation();
callsEnd().then(() => console.log("4 passed"));
