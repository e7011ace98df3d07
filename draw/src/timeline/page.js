// The page: the reader moves the view with mouse, fingers and keys, and the page draws the view.

const byId = (id) => document.getElementById(id);
const canvas = byId("canvas"), scroller = byId("scroll"), tip = byId("tip"), query = byId("query"), found = byId("found");
const model = decode(JSON.parse(byId("data").textContent));
const view = { from: 0, to: 1 };
const scene = { ctx: canvas.getContext("2d", { alpha: false }), model, view, size: null, scroll: 0, colours: null, hover: -1, selected: -1 };

// The interval of the whole history with margins on both sides, and the length of the shortest view.
let whole, closest;

function measureWhole() {
  closest = 4 * model.parts;
  const [from, to] = model.extent, span = Math.max(to - from, closest);
  whole = { from: from - span * 0.02, to: to + span * 0.04 };
}
measureWhole();

let asked = false;

function drawNow() {
  asked = false;
  scene.scroll = scroller.scrollTop;
  draw(scene);
  if (!tip.hidden) placeTip();
}

/** Requests one drawing before the next frame, however often the view moves. */
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(drawNow);
}

function resize() {
  const rows = model.rows.length * ROW + AXIS + (model.order ? LANE : 0);
  scroller.style.height = `${Math.min(rows + 1, Math.max(220, window.innerHeight * 0.7))}px`;
  const width = scroller.clientWidth, height = scroller.clientHeight, ratio = window.devicePixelRatio || 1;
  byId("tall").style.height = `${rows}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  scene.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  scene.size = measure(scene.ctx, model, width, height);
  // Draws immediately, because a resized canvas is black.
  drawNow();
}

/** Shows an interval, limited to the whole history and to the length of the shortest view. */
function show(from, to) {
  const wide = Math.min(Math.max(to - from, closest), whole.to - whole.from);
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - wide / 2, whole.from), whole.to - wide);
  view.to = view.from + wide;
  redraw();
}

let moving = 0;

/** Moves the view to an interval with a short animation, unless the reader prefers reduced motion. */
function glide(from, to) {
  cancelAnimationFrame(moving);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return show(from, to);
  const first = { ...view }, began = performance.now();
  const frame = (now) => {
    const part = Math.min(1, Math.max(0, (now - began) / 160)), eased = 1 - (1 - part) ** 3;
    show(first.from + (from - first.from) * eased, first.to + (to - first.to) * eased);
    if (part < 1) moving = requestAnimationFrame(frame);
  };
  moving = requestAnimationFrame(frame);
}

function timeAt(pixel) {
  return view.from + ((pixel - scene.size.left) / scene.size.plot) * (view.to - view.from);
}

/** Multiplies the length of the view by `times`. The time at `pixel` stays there. */
function zoom(times, pixel = scene.size.left + scene.size.plot / 2, how = show) {
  const wide = view.to - view.from, next = Math.min(Math.max(wide * times, closest), whole.to - whole.from);
  const at = timeAt(pixel), part = (at - view.from) / wide;
  how(at - part * next, at + (1 - part) * next);
}

function pan(part) {
  const by = (view.to - view.from) * part;
  show(view.from + by, view.to + by);
}

/**
 * Brings a bar into view. If the view is crowded or shorter than the bar, the new view also has some of the bars that
 * start before the bar.
 */
function goTo(bar, how = glide) {
  const start = model.start[bar], end = Math.min(model.until[bar], model.extent[1]);
  const wide = Math.max(end - start, closest);
  const near = model.start[Math.max(0, bar - Math.round(scene.size.plot / 45))];
  const crowded = firstWhere(0, model.count, (i) => model.start[i] > view.to) - firstWhere(0, model.count, (i) => model.start[i] >= view.from) > scene.size.plot / 14;
  if (crowded || wide > view.to - view.from) {
    const from = Math.max(Math.min(near, start - wide), start - 40 * wide);
    how(from, Math.max(end, start) + Math.max(wide * 0.6, (end - from) * 0.25));
  } else if (start < view.from || end > view.to) {
    const half = (view.to - view.from) / 2, middle = (start + end) / 2;
    how(middle - half, middle + half);
  }
  const top = model.row[bar] * ROW, room = scene.size.height - scene.size.top;
  if (top < scroller.scrollTop || top + ROW > scroller.scrollTop + room) scroller.scrollTop = top - room / 2;
}

function select(bar, { go = true } = {}) {
  scene.selected = bar;
  scene.hover = -1;
  tellBar(bar);
  tellLongest();
  if (bar >= 0 && go) goTo(bar);
  redraw();
}

/**
 * Returns the bar at a point of the canvas, or the nearest bar within `reach` pixels; of several at the same distance, the
 * one that started last.
 */
function barAt(px, py, reach) {
  const { size } = scene;
  if (px < size.left || py < AXIS) return -1;
  if (py < size.top) return barOfState(model, timeAt(px));
  const row = Math.floor((py - size.top + scroller.scrollTop) / ROW), near = (view.to - view.from) / size.plot;
  if (row >= model.rows.length) return -1;
  const at = timeAt(px);
  let best = -1, least = Infinity;
  eachInRow(model, row, at - reach * near, at + reach * near, (bar) => {
    const away = Math.max(model.start[bar] - at, at - model.until[bar], 0);
    if (away <= least) [best, least] = [bar, away];
  });
  return best;
}

/** Returns the outcome of a bar's operation as a sentence. */
function fate(bar) {
  const { order, step } = model, steps = order ? order.skipped + order.bar.length : 0;
  switch (model.status[bar]) {
    case REFUSED: return order && model.texts[order.refusal] ? `Does not fit. ${model.texts[order.refusal]}` : "Does not fit.";
    case PENDING: return order ? "May have happened; not in this order." : "May have happened.";
    case AFTER: return "Not looked at: it comes after the failure.";
    case FAILED: return "Known not to have happened.";
    case FAULT: return ended(bar) ? "A fault." : "A fault without an end.";
    case ANNOTATION: return "An annotation.";
    default:
      if (!order) return "";
      return step[bar] === EARLIER ? "Placed before the steps shown." : `Step ${order.skipped + step[bar] + 1} of ${steps}.`;
  }
}

/** Returns a sentence that names the longest order that places a bar, unless that order is shown. */
function otherOrder(bar) {
  const { order, orders, status } = model;
  if (orders.length < 2 || status[bar] > PENDING) return "";
  const longest = longestWith(model, bar);
  if (longest < 0) return "None of the orders here has it.";
  if (orders[longest] === order) return "";
  return `Order ${longest + 1} ${status[bar] === PENDING ? "has it" : "has it and more steps"} (O).`;
}

/** Shows the longest order that places the selected bar. */
function showLongest() {
  if (scene.selected < 0) return;
  const longest = longestWith(model, scene.selected);
  if (longest >= 0) showOrder(longest);
}

function ended(bar) {
  return model.end[bar] !== Infinity;
}

function tellBar(bar) {
  tip.hidden = bar < 0;
  if (bar < 0) return;
  const { texts, order, step } = model, lines = [];
  const line = (name, text) => { if (text) lines.push([name, text]); };
  const done = model.completed[bar], isOperation = model.status[bar] < FAULT;
  line("row", model.rows[model.row[bar]]);
  line("index", done < 0 ? `${model.index[bar]}` : `${model.index[bar]} \u2192 ${done}`);
  const from = model.times.start[bar], to = model.times.end[bar];
  if (!ended(bar)) line("from", `${moment(model, from)}${isOperation ? ", never completed" : ""}`);
  else if (model.unit === "ns") line("time", `${moment(model, from)} \u2013 ${moment(model, to)} (${duration(model, to - from)})`);
  line("", fate(bar));
  line("", otherOrder(bar));
  if (order && step[bar] >= 0) {
    line("before", stateBefore(model, step[bar]));
    line("after", stateBefore(model, step[bar] + 1));
  } else if (order && model.status[bar] === REFUSED) {
    line("state", stateBefore(model, order.bar.length));
  }
  line("", texts[model.detail[bar]]);
  const title = document.createElement("b"), list = document.createElement("dl");
  title.textContent = `${model.status[bar] === REFUSED ? "\u2715 " : ""}${texts[model.label[bar]]}`;
  for (const [name, text] of lines) {
    const value = document.createElement("dd");
    value.textContent = text;
    if (name) {
      const term = document.createElement("dt");
      term.textContent = name;
      list.append(term);
    } else {
      value.className = "whole";
    }
    list.append(value);
  }
  tip.replaceChildren(title, list);
  placeTip();
}

/** Puts the tip below its bar, or above the bar if there is no room below, and within the page. */
function placeTip() {
  const bar = scene.hover >= 0 ? scene.hover : scene.selected;
  if (bar < 0 || !scene.scale) return;
  const { left, width, top: topOfBar } = box(scene, bar), { size } = scene;
  // While the mouse is over the lane of states, the tip stays at the lane, wherever the bar is.
  const top = scene.hover >= 0 && pointer.y < size.top ? size.top - BAR - 4 : topOfBar;
  const seen = Math.max(left, size.left), anchor = top !== topOfBar ? pointer.x - 30 : scene.hover >= 0 ? Math.max(seen, Math.min(pointer.x - 30, left + width)) : seen;
  const room = canvas.getBoundingClientRect(), below = room.top + top + BAR + 8;
  const fits = below + tip.offsetHeight < window.innerHeight || room.top + top - 8 < tip.offsetHeight;
  tip.style.left = `${Math.max(4, Math.min(anchor, size.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${fits ? Math.min(top + BAR + 8, size.height + 6) : Math.max(top, 0) - tip.offsetHeight - 8}px`;
}

// Mouse and fingers: one drags, two pinch, and a press without a move selects.
const pointer = { x: 0, y: 0, moved: 0 };
const held = new Map();

function place(event) {
  const corner = canvas.getBoundingClientRect();
  return { x: event.clientX - corner.left, y: event.clientY - corner.top };
}

canvas.addEventListener("pointerdown", (event) => {
  held.set(event.pointerId, place(event));
  canvas.setPointerCapture(event.pointerId);
  pointer.moved = 0;
  cancelAnimationFrame(moving);
});

canvas.addEventListener("pointermove", (event) => {
  const now = place(event), before = held.get(event.pointerId);
  Object.assign(pointer, now);
  if (!before) return hover(event.pointerType === "touch" ? -1 : barAt(now.x, now.y, 3));
  held.set(event.pointerId, now);
  const others = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
  pointer.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
  if (others.length === 1) {
    const was = Math.abs(before.x - others[0].x), is = Math.abs(now.x - others[0].x);
    if (was > 8 && is > 8) zoom(was / is, (now.x + others[0].x) / 2);
  } else if (pointer.moved > 4) {
    canvas.classList.add("held");
    pan((before.x - now.x) / scene.size.plot);
    // The browser itself scrolls when a finger moves.
    if (event.pointerType !== "touch") scroller.scrollTop += before.y - now.y;
  }
});

function release(event) {
  if (!held.delete(event.pointerId)) return;
  canvas.classList.remove("held");
  if (event.type === "pointerup" && held.size === 0 && pointer.moved <= 4) {
    const at = place(event);
    select(barAt(at.x, at.y, event.pointerType === "touch" ? 12 : 3), { go: false });
  }
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => hover(-1));

function hover(bar) {
  canvas.classList.toggle("over", bar >= 0);
  if (bar === scene.hover) return;
  scene.hover = bar;
  tellBar(bar >= 0 ? bar : scene.selected);
  redraw();
}

canvas.addEventListener("wheel", (event) => {
  const at = place(event), lines = event.deltaMode === 1 ? 16 : 1;
  // Over the names, the wheel scrolls as on any page.
  if (at.x < scene.size.left && !event.ctrlKey) return;
  // Zooming out has no effect if the whole history is in view: the page scrolls instead.
  const isWhole = view.to - view.from >= (whole.to - whole.from) * 0.999;
  if (isWhole && !event.ctrlKey && event.deltaY > 0 && Math.abs(event.deltaX) < event.deltaY) return;
  event.preventDefault();
  cancelAnimationFrame(moving);
  const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
  if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) pan((dx || dy) / scene.size.plot);
  else zoom(Math.exp(Math.min(Math.max(dy, -240), 240) * (event.ctrlKey ? 0.01 : 0.0022)), at.x);
}, { passive: false });

/**
 * Returns the bar next to the selected one, in its row or in the next row that has bars. Without a selection, returns the
 * failure, or the first bar in view.
 */
function beside(key) {
  const bar = scene.selected, { place, inRow, first, row, start } = model;
  if (bar < 0) return model.refused >= 0 ? model.refused : firstWhere(0, model.count - 1, (i) => start[i] >= view.from);
  const along = { ArrowLeft: -1, ArrowRight: 1 }[key], down = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (along) {
    const next = place[bar] + along;
    return next >= first[row[bar]] && next < first[row[bar] + 1] ? inRow[next] : bar;
  }
  for (let r = row[bar] + down; r >= 0 && r < model.rows.length; r += down) {
    if (first[r] === first[r + 1]) continue;
    const next = firstWhere(first[r], first[r + 1] - 1, (p) => start[inRow[p]] >= start[bar]);
    return inRow[next];
  }
  return bar;
}

/**
 * Returns the bar of the step after (1) or before (-1) the selected bar's step; after the last step, the failure. If the
 * selected bar has no step, returns the bar of the last step.
 */
function stepFrom(by) {
  const { order, step } = model;
  if (!order || !order.bar.length) return scene.selected;
  const now = scene.selected >= 0 ? step[scene.selected] : -1;
  if (now < 0) return order.bar[order.bar.length - 1];
  if (now + by >= order.bar.length && model.refused >= 0) return model.refused;
  return order.bar[Math.min(Math.max(now + by, 0), order.bar.length - 1)];
}

const KEYS = {
  "+": () => zoom(0.6, undefined, glide), "=": () => zoom(0.6, undefined, glide), "-": () => zoom(1.7, undefined, glide),
  "[": () => select(stepFrom(-1)), "]": () => select(stepFrom(1)),
  f: () => failure(), o: showLongest, x: () => { if (model.unit === "ns") changeAxis(!model.isEven); }, a: () => glide(whole.from, whole.to), "/": () => query.focus(), Escape: () => select(-1),
  PageUp: () => { scroller.scrollTop -= 5 * ROW; }, PageDown: () => { scroller.scrollTop += 5 * ROW; },
};

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow")) {
    if (event.shiftKey) pan({ ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key] || 0);
    else if (model.count) select(beside(event.key));
  } else if (KEYS[event.key]) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
});

function failure() {
  if (model.refused >= 0) select(model.refused);
}

/** Selects the next bar after the selected one that matches the query, or else the first match. */
function search(event) {
  event.preventDefault();
  const all = findBars(model, query.value.trim());
  found.textContent = all.length ? "" : "none found";
  if (!all.length) return;
  const next = Math.max(0, all.findIndex((bar) => bar > scene.selected));
  if (all.length > 1) found.textContent = `${next + 1} of ${all.length}`;
  select(all[next]);
}

/** Builds the legend, which lists only what the page contains. */
function buildLegend() {
  const names = ["placed", "may have happened, not placed", "\u2715 does not fit", "not looked at", "did not happen", "a fault was on", "annotation"];
  const items = names.filter((_, status) => model.given.includes(status) || model.status.includes(status));
  const add = (name, className) => {
    const item = document.createElement("li"), swatch = document.createElement("i");
    swatch.className = className;
    item.append(swatch, name);
    byId("legend").append(item);
  };
  for (const name of items) add(name, ["is-placed", "is-pending", "is-refused", "is-after", "is-failed", "is-fault", "is-note"][names.indexOf(name)]);
  if (model.order) add("the instant at which an operation takes effect", "is-instant");
  if (model.base) add(`times are counted from ${model.base}`, "none");
}

function buildChoice() {
  const choose = byId("order");
  model.orders.forEach((order, at) => {
    const last = model.texts[order.state.length ? order.state[order.state.length - 1] : order.before];
    const option = document.createElement("option");
    option.textContent = `${at + 1} of ${model.orders.length}: ${order.skipped + order.bar.length} steps, ends in ${fit(last, 40, 1)}`;
    choose.append(option);
  });
  byId("choose").hidden = model.orders.length < 2;
  choose.addEventListener("change", () => showOrder(choose.selectedIndex));
}

function showOrder(which) {
  chooseOrder(model, which);
  byId("order").selectedIndex = which;
  tellBar(scene.selected);
  tellLongest();
  redraw();
}

/** Shows the button for the longest order only if that order is another one. */
function tellLongest() {
  const longest = scene.selected < 0 || model.status[scene.selected] > PENDING ? -1 : longestWith(model, scene.selected);
  byId("longest").hidden = longest < 0 || model.orders[longest] === model.order;
}

function recolour() {
  scene.colours = readColours(document.documentElement);
  redraw();
}

byId("timeline").hidden = false;
chooseOrder(model, 0);
buildLegend();
buildChoice();
byId("failure").hidden = model.refused < 0;
byId("failure").addEventListener("click", failure);
byId("longest").addEventListener("click", showLongest);
byId("whole").addEventListener("click", () => glide(whole.from, whole.to));
byId("in").addEventListener("click", () => zoom(0.6, undefined, glide));
byId("out").addEventListener("click", () => zoom(1.7, undefined, glide));
byId("search").addEventListener("submit", search);
byId("choose-axis").hidden = model.unit !== "ns" || !model.count;
byId("axis").addEventListener("change", () => changeAxis(byId("axis").selectedIndex === 1));
scroller.addEventListener("scroll", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
new ResizeObserver(resize).observe(byId("view"));
window.addEventListener("resize", resize);
scene.colours = readColours(document.documentElement);
resize();
show(whole.from, whole.to);
if (model.refused >= 0 && model.count > scene.size.plot / 14) goTo(model.refused, show);
if (model.unit === "ns" && model.count && hasSlivers()) changeAxis(true);
drawNow();
