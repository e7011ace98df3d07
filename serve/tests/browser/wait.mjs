import { setTimeout as pause } from "node:timers/promises";

/** Whoever waits for longer waits in vain. */
const PATIENCE_MS = 60_000;

/** Waits until something holds on the page of a browser, through whatever pages it takes. It looks again and again: a promise that the
 *  page keeps is lost if the page is left meanwhile. */
export const waitUntil = async (browser, expression) => {
  for (const begin = Date.now(); Date.now() - begin < PATIENCE_MS; await pause(10)) {
    try {
      if (await browser.ask(`Boolean(${expression})`)) return;
    } catch (error) {
      // The page was left for another one meanwhile.
      if (!/navigated|context|Cannot find|null|undefined/i.test(error.message)) throw error;
    }
  }
  throw new Error(`this never came: ${expression}`);
};
