// Tests timelines in a real browser: what readers do with them, and what they see.
//
//     node timeline.mjs CHROMIUM DIRECTORY [SCREENSHOTS]
//
// DIRECTORY is the output of the example `timeline`. Ends with `N passed, N failed`.

import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./chromium.mjs";

const [binary, directory, shots] = process.argv.slice(2);
if (!directory) {
  console.error("usage: timeline.mjs CHROMIUM DIRECTORY [SCREENSHOTS]");
  process.exit(254);
}
const browser = await Browser.start(binary);
const open = (name, options) => browser.open(pathToFileURL(resolve(directory, `${name}.html`)).href, options);
const ask = (expression) => browser.ask(expression);

/** The position of the middle of a bar on the page. */
const middle = (bar) => ask(`(() => {
  const { left, width, top } = box(scene, ${bar}), at = canvas.getBoundingClientRect();
  return { x: at.left + left + width / 2, y: at.top + top + 10 };
})()`);
const tipText = () => ask("tip.hidden ? '' : tip.innerText");
const span = () => ask("view.to - view.from");

/** Returns true if a part of the canvas contains the colour of a variable. */
const hasColour = (name, x, y, width, height) => ask(`(() => {
  const wanted = scene.colours[${JSON.stringify(name)}].match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16));
  const ratio = window.devicePixelRatio, { data } = scene.ctx.getImageData(${x} * ratio, ${y} * ratio, ${width} * ratio, ${height} * ratio);
  for (let i = 0; i < data.length; i += 4) if (wanted.every((part, at) => data[i + at] === part)) return true;
  return false;
})()`);

const tests = {
  async "every sample opens without complaint, in light and dark, wide and narrow"() {
    for (const name of ["small", "positions", "many-rows", "large", "slivers", "late", "hostile", "empty"]) {
      for (const options of [{}, { dark: true, width: 400, height: 800, mobile: true }]) {
        await open(name, options);
        assert.deepEqual(browser.complaints, [], name);
        assert.equal(await ask("document.documentElement.scrollWidth <= innerWidth"), true, `${name} is as wide as the window`);
        if (shots) await browser.shoot(join(shots, `${name}${options.dark ? "-narrow" : ""}.png`));
      }
    }
  },

  async "the canvas shows placed bars, and the failure in its colour"() {
    await open("small");
    const at = await ask("box(scene, model.refused)");
    assert.equal(await hasColour("accent", at.left, at.top, at.width, 20), true);
    assert.equal(await hasColour("placed", 100, 60, 800, 150), true);
    await open("small", { dark: true });
    assert.equal(await hasColour("accent", at.left, at.top, at.width, 20), true, "in dark as well");
    assert.equal(await ask("scene.colours.ground"), "#0d1117");
  },

  async "hovering a bar tells its values and the states around its step"() {
    await open("small");
    const bar = await ask("model.order.bar[30]");
    const { x, y } = await middle(bar);
    await browser.mouse("mouseMoved", x, y);
    if (shots) await browser.shoot(join(shots, "hover.png"));
    const text = await tipText();
    const expected = await ask(`[model.texts[model.label[${bar}]], model.rows[model.row[${bar}]], "Step 31 of 52.", "before", "after", String(model.index[${bar}])]`);
    for (const part of expected) assert.ok(text.includes(part), `${part} in ${text}`);
    await browser.mouse("mouseMoved", x, 5);
    assert.equal(await tipText(), "", "and no more once the mouse has left");
  },

  async "hovering the lane of states tells the step that led there, and at its end what does not fit"() {
    await open("small");
    const at = await ask("(x(scene, model.order.at[17]) + x(scene, model.order.at[18])) / 2"), corner = await ask("canvas.getBoundingClientRect().toJSON()");
    await browser.mouse("mouseMoved", corner.left + at, corner.top + 50);
    assert.match(await tipText(), /Step 18 of 52/);
    await browser.mouse("mouseMoved", corner.right - 20, corner.top + 50);
    assert.match(await tipText(), /Does not fit/);
    await browser.mouse("mouseMoved", corner.left + await ask("scene.size.left") + 2, corner.top + 50);
    assert.equal(await tipText(), "", "nothing led to the first state");
  },

  async "the failing operation says why it does not fit, in each order"() {
    await open("small");
    await ask("byId('failure').click()");
    await browser.frame();
    assert.match(await tipText(), /Does not fit\. The register holds 4, and the read saw 8\./);
    const last = await ask("model.orders[1].bar.length");
    await ask("(byId('order').selectedIndex = 1, byId('order').dispatchEvent(new Event('change')))");
    assert.equal(await ask("model.order.bar.length"), last);
    assert.ok(last < await ask("model.orders[0].bar.length"));
    const left = await ask("model.orders[0].bar[model.orders[0].bar.length - 1]");
    assert.equal(await ask(`model.status[${left}]`), 1, "what the other order leaves out is not placed");
  },

  async "an operation that an order leaves out is shown in the longest one that has it"() {
    await open("small");
    const left = await ask("model.orders[0].bar[model.orders[0].bar.length - 1]");
    await ask("showOrder(1)");
    await ask(`select(${left})`);
    await browser.frame();
    assert.match(await tipText(), /not in this order\.\s+Order 1 has it \(O\)\./);
    if (shots) await browser.shoot(join(shots, "longest.png"));
    assert.equal(await ask("byId('longest').hidden"), false);
    await ask("canvas.focus()");
    await browser.key("o");
    assert.equal(await ask("model.order === model.orders[0] && byId('order').selectedIndex === 0"), true);
    assert.equal(await ask(`model.status[${left}]`), 0, "it is placed now");
    assert.equal(await ask("byId('longest').hidden"), true, "and there is no longer order");
    const nowhere = await ask("Array.from(model.given.keys()).find((bar) => model.given[bar] === PENDING && longestWith(model, bar) < 0)");
    if (nowhere !== undefined) {
      await ask(`select(${nowhere})`);
      assert.match(await tipText(), /None of the orders here has it\./);
    }
    await ask("select(model.refused)");
    assert.equal(await ask("byId('longest').hidden"), true, "what does not fit is in none");
  },

  async "wheel, keys and buttons zoom, and the view stays within the history"() {
    await open("small");
    const whole = await span(), { x, y } = await middle(await ask("model.refused"));
    await browser.mouse("mouseWheel", x, y, { deltaX: 0, deltaY: -200 });
    const nearer = await span();
    assert.ok(nearer < whole * 0.8, `${nearer} of ${whole}`);
    const moved = await middle(await ask("model.refused"));
    assert.ok(Math.abs(moved.x - x) < 2, "what is under the mouse stays there");
    await ask("canvas.focus()");
    await browser.key("+");
    assert.ok(await span() < nearer);
    await browser.key("-");
    await ask("byId('in').click()");
    await browser.frame();
    assert.ok(await span() < nearer);
    for (let i = 0; i < 60; i++) await ask("zoom(0.5)");
    assert.equal(await span(), await ask("closest"), "no closer than this");
    await browser.frame();
    for (let i = 0; i < 60; i++) await ask("zoom(2)");
    assert.ok(Math.abs(await span() - whole) < 1, "no farther than the whole");
    assert.deepEqual(browser.complaints, []);
  },

  async "by index each event has the same room, in the same order, and times are told as before"() {
    await open("small");
    const bar = await ask("model.order.bar[30]"), before = await ask("[Array.from(model.start), Array.from(model.end, String), view.from, view.to]");
    const hover = async () => {
      const { x, y } = await middle(bar);
      await browser.mouse("mouseMoved", x, y);
      return tipText();
    };
    const told = await hover();
    await ask("canvas.focus()");
    await browser.key("x");
    await browser.frame();
    if (shots) await browser.shoot(join(shots, "by-index.png"));
    assert.equal(await ask("byId('axis').value"), "index");
    assert.equal(await hover(), told);
    const rooms = await ask("Array.from(new Set([...model.start, ...model.end].filter(Number.isFinite))).sort((a, b) => a - b).map((at, i, all) => at - all[i - 1]).slice(1)");
    assert.deepEqual(new Set(rooms), new Set([1000]));
    for (const order of await ask("model.orders.map((order) => ({ at: Array.from(order.at), from: Array.from(order.bar, (bar) => model.start[bar]), to: Array.from(order.bar, (bar) => String(model.end[bar])) }))")) {
      order.at.forEach((at, step) => {
        assert.ok(step === 0 || at >= order.at[step - 1], `step ${step} comes after the one before`);
        assert.ok(order.from[step] <= at && at <= Number(order.to[step]), `step ${step} is within its operation`);
      });
    }
    assert.deepEqual(await ask("ticks(model, view, scene.size.plot).places.map((at) => Number(ticks(model, view, scene.size.plot).tell(at)) === model.even.index[at / 1000])").then((all) => new Set(all)), new Set([true]));
    await browser.key("x");
    assert.deepEqual(await ask("[Array.from(model.start), Array.from(model.end, String), view.from, view.to]"), before, "by time all is as it was");
  },

  async "slivers are shown by index"() {
    await open("slivers");
    assert.equal(await ask("byId('axis').value"), "index");
    const widths = await ask("Array.from(model.start.keys(), (bar) => box(scene, bar).width)");
    assert.ok(widths.every((width) => width >= 14), `${widths}`);
    await open("small");
    assert.equal(await ask("byId('axis').value"), "time");
    await open("positions");
    assert.equal(await ask("byId('choose-axis').hidden"), true, "positions are an index already");
  },

  async "dragging pans, and does not select"() {
    await open("large");
    const before = await ask("view.from"), wide = await span();
    await browser.mouse("mousePressed", 700, 300, { button: "left", clickCount: 1 });
    for (const x of [690, 650, 600]) await browser.mouse("mouseMoved", x, 300, { button: "left", buttons: 1 });
    await browser.mouse("mouseReleased", 600, 300, { button: "left", clickCount: 1 });
    const plot = await ask("scene.size.plot");
    const by = await ask("view.from") - before;
    assert.ok(Math.abs(by - (wide * 100) / plot) < wide * 0.02, `${by} of ${wide}`);
    assert.equal(await ask("scene.selected"), -1);
  },

  async "two fingers zoom, and a tap selects"() {
    await open("small", { width: 400, height: 800, mobile: true });
    const before = await span(), { top } = await ask("canvas.getBoundingClientRect().toJSON()");
    const y = top + 100, touch = (type, ...xs) => browser.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x, y, id })) });
    await touch("touchStart", 200, 240);
    await touch("touchMove", 180, 260);
    await touch("touchMove", 150, 290);
    await touch("touchEnd");
    await browser.frame();
    const after = await span();
    assert.ok(after < before * 0.6, `${after} of ${before}`);
    await ask("show(whole.from, whole.to)");
    await browser.frame();
    const bar = await ask("model.order.bar[20]"), at = await middle(bar);
    await browser.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [at] });
    await browser.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await browser.frame();
    assert.equal(await ask("scene.selected"), bar);
    assert.notEqual(await tipText(), "");
  },

  async "keys walk over operations and steps, and let go"() {
    await open("small");
    await ask("canvas.focus()");
    await browser.key("f");
    const refused = await ask("model.refused");
    assert.equal(await ask("scene.selected"), refused);
    await browser.key("ArrowLeft");
    const left = await ask("scene.selected");
    assert.equal(await ask(`model.row[${left}]`), await ask(`model.row[${refused}]`));
    assert.ok(await ask(`model.start[${left}]`) < await ask(`model.start[${refused}]`));
    await browser.key("ArrowDown");
    assert.equal(await ask("model.row[scene.selected]"), await ask(`model.row[${left}] + 1`));
    await browser.key("ArrowRight");
    await browser.key("]");
    const step = await ask("model.step[scene.selected]");
    await browser.key("]");
    assert.equal(await ask("model.step[scene.selected]"), step + 1);
    await browser.key("[");
    assert.equal(await ask("model.step[scene.selected]"), step);
    await browser.key("Escape");
    assert.equal(await tipText(), "");
  },

  async "search jumps to an index or to a text"() {
    await open("large");
    await ask("(query.value = '1234', byId('search').requestSubmit())");
    await browser.frame();
    const bar = await ask("scene.selected");
    assert.ok(await ask(`model.index[${bar}] === 1234 || model.completed[${bar}] === 1234`));
    assert.ok(await ask(`model.start[${bar}] >= view.from && model.start[${bar}] <= view.to`), "it is in sight");
    await ask("(query.value = 'TIMEOUT', byId('search').requestSubmit())");
    assert.equal(await ask("model.texts[model.detail[scene.selected]]"), "error: timeout");
    assert.match(await ask("found.textContent"), /^\d+ of \d+$/);
    const first = await ask("scene.selected");
    await ask("byId('search').requestSubmit()");
    assert.ok(await ask("scene.selected") > first, "once more, the next one");
    await ask("(query.value = 'no such thing', byId('search').requestSubmit())");
    assert.equal(await ask("found.textContent"), "none found");
  },

  async "many processes scroll while their names and the axis stay"() {
    await open("many-rows");
    assert.ok(await ask("scroller.scrollHeight > scroller.clientHeight + 100"));
    await ask("(scroller.scrollTop = 0)");
    await ask("byId('failure').click()");
    await browser.frame();
    assert.ok(await ask("(() => { const { top } = box(scene, model.refused); return top >= scene.size.top && top < scene.size.height; })()"), "the failure's row is in sight");
    const { x, y } = await middle(await ask("model.refused"));
    await browser.mouse("mouseMoved", x, y);
    assert.equal(await ask("scene.hover"), await ask("model.refused"), "what is hit is what is seen");
  },

  async "hostile texts are shown as they are and do nothing"() {
    await open("hostile");
    assert.equal(await ask("document.querySelectorAll('script').length"), 2);
    assert.equal(await ask("document.querySelectorAll('img').length"), 0);
    await ask("failure()");
    await browser.frame();
    assert.ok((await tipText()).includes("</script><script>alert(1)</script><!--<img src=x"));
    assert.ok((await ask("document.title")).startsWith("</script><script>alert(1)"));
    assert.deepEqual(browser.complaints, []);
  },

  async "without script the failure can be read"() {
    await open("small", { script: false });
    const { root } = await browser.send("DOM.getDocument", { depth: -1 });
    const { outerHTML } = await browser.send("DOM.getOuterHTML", { nodeId: root.nodeId });
    assert.match(outerHTML, /The register holds 4, and the read saw 8\./);
    assert.match(outerHTML, /<section id="timeline"[^>]* hidden/, "nothing is promised that does not work");
    if (shots) await browser.shoot(join(shots, "noscript.png"));
  },

  async "100,000 bars move smoothly"() {
    await open("large");
    assert.equal(await ask("model.count"), 100000);
    // Zooms from the whole to a few operations, a frame at a time. The times are printed and not checked, as machines differ.
    const frames = await ask(`new Promise((done) => {
      const scripts = [], frames = [], plain = draw;
      draw = (scene) => {
        const began = performance.now();
        plain(scene);
        scripts.push(performance.now() - began);
      };
      let step = 0, last = 0;
      const next = (now) => {
        if (step > 1) frames.push(now - last);
        last = now;
        if (step === 200) return done({ scripts, frames });
        const part = 0.9 ** (step++ % 100);
        const middle = model.start[model.refused], wide = (whole.to - whole.from) * part;
        show(middle - wide * 0.7, middle + wide * 0.3);
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    })`);
    for (const [name, times] of Object.entries(frames)) {
      times.sort((a, b) => a - b);
      const at = (part) => times[Math.floor((times.length - 1) * part)].toFixed(1);
      console.log(`  ${name}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, worst ${at(1)} ms`);
    }
    assert.deepEqual(browser.complaints, []);
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
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
