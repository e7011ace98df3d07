// The axis. It shows times to scale, or the indices of events, each with the same width.

/** The number of parts of the even axis that each event gets. */
const EVENT = 1000;

/** Returns the distinct moments at which bars start or end, and the lowest index of an op at each. */
function momentsOf(model) {
  const { count, times: { start, end }, index, completed } = model, events = [];
  for (let i = 0; i < count; i++) {
    events.push([start[i], index[i]]);
    if (end[i] !== Infinity) events.push([end[i], completed[i] < 0 ? index[i] : completed[i]]);
  }
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const first = events.filter((event, i) => i === 0 || events[i - 1][0] !== event[0]);
  return { at: Float64Array.from(first, (event) => event[0]), index: Float64Array.from(first, (event) => event[1]) };
}

/** Returns the position of a time on the even axis: linear between two moments. Later times are never farther left. */
function evenly({ at }, time) {
  if (time === Infinity || !at.length) return time;
  const next = firstWhere(0, at.length, (i) => at[i] > time);
  if (next === 0) return 0;
  const part = next === at.length || at[next - 1] === time ? 0 : (time - at[next - 1]) / (at[next] - at[next - 1]);
  return (next - 1 + part) * EVENT;
}

/** Gives intervals a width in proportion to their time, or each event the same width. The order of times is kept. */
function setAxis(model, isEven) {
  const { times } = model;
  model.even ??= momentsOf(model);
  const place = isEven ? (time) => evenly(model.even, time) : (time) => time;
  model.isEven = isEven;
  model.parts = isEven ? EVENT : times.parts;
  model.extent = isEven ? [0, Math.max(0, model.even.at.length - 1) * EVENT] : times.extent;
  model.start = times.start.map(place);
  model.end = times.end.map(place);
  for (const order of model.orders) order.at = order.times.map(place);
  indexRows(model);
}

/**
 * Returns true if most bars in view are too narrow for their texts, and would be wide enough if each event had the same
 * width.
 */
function hasSlivers() {
  const seen = Array.from(model.start.keys()).filter((bar) => model.start[bar] <= view.to && model.until[bar] >= view.from);
  const narrow = seen.filter((bar) => (Math.min(model.until[bar], view.to) - model.start[bar]) * scene.size.plot < PLAIN * (view.to - view.from));
  return narrow.length > seen.length / 2 && seen.length * 2 * PLAIN < scene.size.plot;
}

/** Changes the axis and keeps the same bars in view. */
function changeAxis(isEven) {
  if (isEven === model.isEven) return;
  const seen = [view.from, view.to].map((edge) => firstWhere(0, model.count - 1, (bar) => model.start[bar] >= edge));
  const isWhole = view.to - view.from >= (whole.to - whole.from) * 0.999;
  setAxis(model, isEven);
  measureWhole();
  byId("axis").selectedIndex = isEven ? 1 : 0;
  if (isWhole) show(whole.from, whole.to);
  else show(model.start[seen[0]], model.start[seen[1]]);
  if (scene.selected >= 0) goTo(scene.selected, show);
  // After the change, a different bar may be under the mouse.
  scene.hover = -1;
  tellBar(scene.selected);
}
