import { setTimeout as pause } from "node:timers/promises";

/** The maximum wait in milliseconds. */
const PATIENCE_MS = 60_000;

/** Waits until an expression is true on the page of a browser, which may change its page meanwhile. The expression is evaluated
 *  repeatedly, because a promise in the page would be lost with the page. */
export const waitUntil = async (browser, expression) => {
  for (const begin = Date.now(); Date.now() - begin < PATIENCE_MS; await pause(10)) {
    try {
      if (await browser.ask(`Boolean(${expression})`)) return;
    } catch (error) {
      // The browser has opened another page meanwhile.
      if (!/navigated|context|Cannot find|null|undefined/i.test(error.message)) throw error;
    }
  }
  throw new Error(`this never came: ${expression}`);
};
