/** Waits until something holds on the page of a browser, through whatever pages it takes. */
export const waitUntil = async (browser, expression) => {
  for (let left = 200; ; left--) {
    try {
      if (await browser.ask(`new Promise((done) => { const look = () => (${expression}) ? done(true) : requestAnimationFrame(look); look(); })`)) return;
    } catch (error) {
      // The page was left for another one meanwhile.
      if (!/navigated|context|Cannot find|null|undefined/i.test(error.message) || left === 0) throw error;
    }
  }
};
