"use strict";
// The model: columns decoded from the data, and the status and step of each bar in the chosen order. It has no pixels.

const PLACED = 0, PENDING = 1, REFUSED = 2, AFTER = 3, FAILED = 4, FAULT = 5, ANNOTATION = 6;

/** The step of a bar that the order places among earlier steps, which the page does not have. */
const EARLIER = -2;

/** Returns the running sums of differences. */
function summed(differences) {
  const out = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < out.length; i++) out[i] = sum += differences[i];
  return out;
}

/**
 * Returns the first number from `low` for which `is` is true, or `high`, by binary search: `is` must also be true for
 * all later numbers.
 */
function firstWhere(low, high, is) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

function decode(data) {
  const count = data.row.length;
  const start = summed(data.start);
  const end = start.map((from, i) => (data.length[i] < 0 ? Infinity : from + data.length[i]));
  const index = summed(data.index);
  const completed = index.map((at, i) => (data.completed[i] === 0 ? -1 : at + data.completed[i]));
  const model = {
    unit: data.unit, parts: data.parts, base: data.base, extent: data.extent, rows: data.rows, texts: data.texts,
    count, row: Uint32Array.from(data.row), start, end, index, completed, given: Uint8Array.from(data.status),
    label: data.label, detail: data.detail, orders: data.orders.map(decodeOrder),
    // The times that texts show, whatever the axis is. `even` is computed when the axis is first changed.
    times: { start, end, extent: data.extent, parts: data.parts }, even: null, isEven: false,
    // Set by `chooseOrder`.
    order: null, status: Uint8Array.from(data.status), step: new Int32Array(count).fill(-1),
  };
  model.refused = model.given.indexOf(REFUSED);
  model.faults = Array.from(model.given.keys()).filter((bar) => model.given[bar] === FAULT);
  indexRows(model);
  return model;
}

function decodeOrder(order) {
  const at = summed(order.at);
  // An order that contradicts the times is also drawn, but cannot be searched by time.
  const sorted = at.every((instant, i) => i === 0 || at[i - 1] <= instant);
  const bar = Int32Array.from(summed(order.bar));
  return { skipped: order.skipped, before: order.before, refusal: order.refusal, earlier: order.earlier, state: order.state, bar, at, sorted, times: at };
}

/** Sorts bars into their rows, and computes the end of each bar on the page. */
function indexRows(model) {
  const { row, count, start, end } = model;
  const first = new Uint32Array(model.rows.length + 1);
  for (let i = 0; i < count; i++) first[row[i] + 1]++;
  for (let r = 0; r < model.rows.length; r++) first[r + 1] += first[r];
  const next = first.slice(), inRow = new Uint32Array(count), place = new Uint32Array(count);
  for (let i = 0; i < count; i++) inRow[place[i] = next[row[i]]++] = i;
  // A bar without an end extends to the next bar of its row. The greatest end so far never decreases, so the first bar
  // in view can be found by binary search.
  const until = new Float64Array(count), reach = new Float64Array(count);
  for (let r = 0; r < model.rows.length; r++) {
    let greatest = -Infinity;
    for (let p = first[r]; p < first[r + 1]; p++) {
      const bar = inRow[p], following = p + 1 < first[r + 1] ? start[inRow[p + 1]] : Infinity;
      until[bar] = end[bar] === Infinity ? following : end[bar];
      reach[p] = greatest = Math.max(greatest, until[bar]);
    }
  }
  Object.assign(model, { first, inRow, place, until, reach });
}

/** Chooses an order, which determines the bars that are placed. */
function chooseOrder(model, which) {
  const order = model.orders[which];
  if (!order) return;
  model.order = order;
  model.step.fill(-1);
  for (const bar of order.earlier) model.step[bar] = EARLIER;
  order.bar.forEach((bar, step) => { model.step[bar] = step; });
  for (let i = 0; i < model.count; i++) {
    const given = model.given[i];
    model.status[i] = given > PENDING ? given : model.step[i] === -1 ? PENDING : PLACED;
  }
}

/**
 * Returns the order with the most steps among those that place a bar, or -1. Of several such orders, it is the chosen
 * one if that is among them.
 */
function longestWith(model, bar) {
  let best = -1, most = -1;
  model.orders.forEach((order, at) => {
    const steps = order.skipped + order.bar.length;
    if (steps < most || (steps === most && order !== model.order)) return;
    if (order.bar.includes(bar) || order.earlier.includes(bar)) [best, most] = [at, steps];
  });
  return best;
}

/** Returns the text of the state before a step, or of the last state if `step` is the number of steps. */
function stateBefore(model, step) {
  return model.texts[step === 0 ? model.order.before : model.order.state[step - 1]];
}

/** Calls `look(bar)` for each bar of a row that overlaps an interval. */
function eachInRow(model, row, from, to, look) {
  const { first, inRow, reach, until, start } = model;
  const last = first[row + 1];
  for (let p = firstWhere(first[row], last, (p) => reach[p] >= from); p < last; p++) {
    const bar = inRow[p];
    if (start[bar] > to) return;
    if (until[bar] >= from) look(bar);
  }
}

/**
 * Returns the bar for a time in the lane of states: the bar of the step that led to the state, or the operation that does
 * not fit the last state. Returns -1 if there is none.
 */
function barOfState(model, at) {
  const { order } = model;
  if (!order || !order.sorted) return -1;
  const step = firstWhere(0, order.at.length, (i) => order.at[i] > at) - 1;
  if (step === order.at.length - 1 && model.refused >= 0) return model.refused;
  return step < 0 ? -1 : order.bar[step];
}

/** Returns the bars that match a query: those with this index, or else those whose texts contain the query. */
function findBars(model, query) {
  const found = [];
  if (/^\d+$/.test(query)) {
    const index = Number(query);
    for (let i = 0; i < model.count; i++) if (model.index[i] === index || model.completed[i] === index) found.push(i);
  }
  if (found.length || !query) return found;
  const wanted = query.toLowerCase();
  const holds = model.texts.map((text) => text.toLowerCase().includes(wanted));
  for (let i = 0; i < model.count; i++) if (holds[model.label[i]] || holds[model.detail[i]]) found.push(i);
  return found;
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

/** Returns the largest unit that is not longer than a length of time, or nanoseconds. */
function unitOf(length) {
  return UNITS.find(([size]) => Math.abs(length) >= size) || UNITS[3];
}

/** Returns a number with at most this many digits after the point, without trailing zeros. */
function decimal(number, digits) {
  return number.toFixed(Math.min(digits, 9)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** Returns the exact text of a time or position. */
function moment(model, at) {
  if (model.unit === "position") return `position ${Math.round(at / model.parts)}`;
  const [size, name] = unitOf(at);
  return `${decimal(at / size, Math.round(Math.log10(size)))} ${name}`;
}

/** Returns the text of a length of time with three significant digits, or of a number of positions. */
function duration(model, span) {
  if (model.unit === "position") return `${Math.round(span / model.parts)} positions`;
  const [size, name] = unitOf(span);
  return `${Number((span / size).toPrecision(3))} ${name}`;
}
