// Draws the visible part of the model on the canvas. Narrow bars at the same pixel are drawn once.

const ROW = 32, BAR = 20, AXIS = 26, LANE = 38;
const TINY = 3; // bars narrower than this have no frame
const PLAIN = 14; // bars narrower than this have neither text nor round corners, which are slow to draw
const FONT = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SMALL = "10.5px system-ui, -apple-system, 'Segoe UI', sans-serif";
const NAMES = "12px system-ui, -apple-system, 'Segoe UI', sans-serif";

/** Returns the colours of the style sheet, which alone defines them for light and dark mode. */
function readColours(element) {
  const style = getComputedStyle(element);
  const names = ["ground", "ink", "calm", "line", "band", "strong", "accent", "accent-ink", "placed", "placed-edge", "pending-edge", "after", "lane-a", "lane-b", "instant", "fault", "fault-edge", "note", "note-edge"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Returns the widths and heights that do not change while the view moves. */
function measure(ctx, model, width, height) {
  ctx.font = NAMES;
  let names = ctx.measureText("position").width;
  for (const name of model.rows) names = Math.max(names, ctx.measureText(name).width);
  ctx.font = FONT;
  const left = Math.round(Math.min(names + 20, Math.max(64, width * 0.28)));
  const lane = model.order ? LANE : 0;
  return { width, height, left, plot: Math.max(1, width - left), letter: ctx.measureText("0").width, lane, top: AXIS + lane };
}

/** Returns true if a letter takes two columns: East Asian scripts and pictographs. Approximate: only the look depends on it. */
function isWide(c) {
  return c >= "\u2e80" || (c >= "\u1100" && c <= "\u115f");
}

/** Returns a text, shortened to a width. Each letter counts as one or two columns. */
function fit(text, width, letter) {
  const columns = Math.floor(width / letter);
  if (columns < 1) return "";
  let used = 0, at = 0;
  for (const c of text) {
    used += isWide(c) ? 2 : 1;
    if (used > columns) return columns < 3 ? "" : `${text.slice(0, Math.max(0, at - 1))}\u2026`;
    at += c.length;
  }
  return text;
}

/** Draws the whole canvas. `scene` is {ctx, model, view, size, scroll, colours, hover, selected}. */
function draw(scene) {
  const { ctx, size, colours } = scene;
  scene.scale = size.plot / (scene.view.to - scene.view.from);
  ctx.fillStyle = colours.ground;
  ctx.fillRect(0, 0, size.width, size.height);
  const rows = visibleRows(scene);
  drawBands(scene, rows);
  drawAxis(scene);
  ctx.save();
  ctx.beginPath();
  ctx.rect(size.left, size.top, size.plot, size.height - size.top);
  ctx.clip();
  drawFaults(scene);
  drawFailureBand(scene);
  if (scene.model.order) drawLines(scene);
  for (let row = rows.from; row < rows.to; row++) drawRow(scene, row);
  if (scene.model.order) drawMarks(scene);
  drawRefused(scene);
  drawRing(scene, scene.selected, 2.5);
  if (scene.hover !== scene.selected) drawRing(scene, scene.hover, 1.5);
  ctx.restore();
  if (scene.model.order) drawLane(scene);
  drawNames(scene, rows);
}

function x(scene, at) {
  return scene.size.left + (at - scene.view.from) * scene.scale;
}

function rowTop(scene, row) {
  return scene.size.top + row * ROW - scene.scroll;
}

function visibleRows({ model, size, scroll }) {
  const from = Math.max(0, Math.floor(scroll / ROW));
  return { from, to: Math.min(model.rows.length, Math.ceil((scroll + size.height - size.top) / ROW)) };
}

function drawBands(scene, rows) {
  const { ctx, size, colours } = scene;
  ctx.fillStyle = colours.band;
  for (let row = rows.from; row < rows.to; row++) {
    if (row % 2 === 1) ctx.fillRect(0, rowTop(scene, row), size.width, ROW);
  }
}

/** Returns the smallest step of 1, 2 or 5 times a power of ten that is at least `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((times) => times * power >= least * 0.999);
}

/** Returns the places of ticks and the function for their texts: in one unit, counted from `zero` if that makes them short. */
function ticks(model, view, plot) {
  const places = [];
  const step = Math.max(model.parts, niceStep(((view.to - view.from) * 96) / plot));
  for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) places.push(n * step);
  if (model.isEven) return { places: places.filter((at) => model.even.index[at / EVENT] !== undefined), zero: "", tell: (at) => String(model.even.index[at / EVENT]) };
  if (model.unit === "position") return { places, zero: "", tell: (at) => String(Math.round(at / model.parts)) };
  const [size, name] = unitOf(view.to - view.from);
  // Far from zero, the digits that all ticks share are shown once.
  const zero = Math.abs(view.from) / size >= 1e5 ? Math.floor(view.from / (1e3 * size)) * 1e3 * size : 0;
  const tell = (at) => `${zero ? "+" : ""}${decimal((at - zero) / size, 3)} ${name}`;
  return { places, zero: zero ? moment(model, zero) : "", tell };
}

function drawAxis(scene) {
  const { ctx, model, view, size, colours } = scene;
  const { places, zero, tell } = ticks(model, view, size.plot);
  ctx.textBaseline = "middle";
  ctx.font = SMALL;
  ctx.fillStyle = colours.line;
  for (const at of places) ctx.fillRect(Math.round(x(scene, at)), AXIS - 5, 1, size.height);
  ctx.fillStyle = colours.calm;
  for (const at of places) {
    const text = tell(at), left = x(scene, at) + 4;
    if (left + ctx.measureText(text).width < size.width) ctx.fillText(text, left, AXIS / 2);
  }
  scene.corner = zero || (model.isEven ? "index" : model.unit === "position" ? "position" : "time");
}

/** Draws the times of faults as bands across all rows. */
function drawFaults(scene) {
  const { ctx, model, size, view, colours } = scene;
  ctx.globalAlpha = 0.12;
  ctx.fillStyle = colours["fault-edge"];
  for (const bar of model.faults) {
    if (model.start[bar] > view.to || model.end[bar] < view.from) continue;
    const from = Math.max(x(scene, model.start[bar]), size.left), to = Math.min(x(scene, model.end[bar]), size.width);
    ctx.fillRect(from, size.top, Math.max(to - from, 1), size.height);
  }
  ctx.globalAlpha = 1;
}

/** Draws the time of the first operation that does not fit as a band across all rows. */
function drawFailureBand(scene) {
  const { ctx, model, size, colours } = scene;
  if (model.refused < 0) return;
  const from = x(scene, model.start[model.refused]), to = x(scene, Math.min(model.until[model.refused], model.extent[1]));
  ctx.globalAlpha = 0.1;
  ctx.fillStyle = colours.accent;
  ctx.fillRect(from, size.top, Math.max(to - from, 1), size.height);
  ctx.globalAlpha = 1;
}

/** Returns a bar's rectangle. A bar without an end extends to the next bar of its row, or to the right edge. */
function box(scene, bar) {
  const { model, size } = scene;
  const from = x(scene, model.start[bar]), to = x(scene, model.until[bar]);
  const left = Math.max(from, size.left - 40), right = Math.min(to, size.width + 40);
  return { left, width: Math.max(right - left, 1.5), top: rowTop(scene, model.row[bar]) + (ROW - BAR) / 2, from };
}

/** Draws the bars of a row: narrow bars as one stroke for each pixel, other bars with a frame and their text. */
function drawRow(scene, row) {
  const { ctx, model, view, colours } = scene;
  const top = rowTop(scene, row) + (ROW - BAR) / 2;
  const drawn = [-1, -1, -1, -1, -1, -1, -1];
  const tiny = [new Path2D(), new Path2D(), null, new Path2D(), new Path2D(), new Path2D(), new Path2D()];
  const wide = [], overlaid = [];
  eachInRow(model, row, view.from, view.to, (bar) => {
    const status = model.status[bar];
    if (status === REFUSED) return;
    if (status >= FAULT) overlaid.push(bar);
    const from = x(scene, model.start[bar]);
    const width = (model.until[bar] - model.start[bar]) * scene.scale;
    if (width >= TINY) {
      wide.push(bar);
      return;
    }
    const pixel = Math.floor(from);
    if (pixel <= drawn[status]) return;
    drawn[status] = pixel + Math.max(0, Math.ceil(width) - 1);
    tiny[status].rect(pixel, top, Math.max(1, Math.ceil(width)), BAR);
  });
  const fills = [colours["placed-edge"], colours["pending-edge"], "", colours.calm, colours.calm, colours["fault-edge"], colours["note-edge"]];
  for (const status of [AFTER, FAILED, PENDING, PLACED, FAULT, ANNOTATION]) {
    ctx.globalAlpha = status === AFTER || status === FAILED ? 0.4 : 0.75;
    ctx.fillStyle = fills[status];
    ctx.fill(tiny[status]);
  }
  ctx.globalAlpha = 1;
  for (const bar of wide) drawBar(scene, bar);
  drawBeside(scene, overlaid, top);
}

/** Writes the texts of narrow faults and annotations to the right of them, up to the next fault or annotation. */
function drawBeside(scene, bars, top) {
  const { ctx, model, size, colours } = scene;
  ctx.font = SMALL;
  ctx.fillStyle = colours.calm;
  bars.forEach((bar, at) => {
    const right = x(scene, model.until[bar]) + 4, next = at + 1 < bars.length ? x(scene, model.start[bars[at + 1]]) : size.width;
    if ((model.until[bar] - model.start[bar]) * scene.scale >= PLAIN || right < size.left) return;
    const shown = fit(model.texts[model.label[bar]], next - right - 4, 6);
    if (shown) ctx.fillText(shown, right, top + BAR / 2 + 0.5);
  });
}

function drawBar(scene, bar) {
  const { ctx, model, size, colours } = scene;
  const status = model.status[bar], { left, width, top, from } = box(scene, bar);
  const fill = [colours.placed, colours.band, "", colours.after, colours.after, colours.fault, colours.note][status];
  const edge = [colours["placed-edge"], colours["pending-edge"], "", colours.line, colours.line, colours["fault-edge"], colours["note-edge"]][status];
  if (width < PLAIN) {
    ctx.fillStyle = edge;
    ctx.fillRect(left, top, width, BAR);
    ctx.fillStyle = fill;
    ctx.fillRect(left + 1, top + 1, width - 2, BAR - 2);
    return;
  }
  ctx.beginPath();
  ctx.roundRect(left + 0.5, top + 0.5, width - 1, BAR - 1, 4);
  const open = model.end[bar] === Infinity;
  ctx.fillStyle = open ? fading(ctx, fill, left, width) : fill;
  ctx.fill();
  ctx.strokeStyle = open ? fading(ctx, edge, left, width) : edge;
  ctx.setLineDash(status === PENDING ? [5, 3] : status === FAILED ? [2, 2] : []);
  ctx.lineWidth = 1;
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = FONT;
  ctx.fillStyle = status === PLACED || status >= FAULT ? colours.ink : colours.calm;
  label(scene, model.texts[model.label[bar]], Math.max(from, size.left) + 6, left + width - 4, top);
}

/** Returns a gradient from a colour, given as #rrggbb, to transparent at the right. */
function fading(ctx, colour, left, width) {
  const gradient = ctx.createLinearGradient(left, 0, left + width, 0);
  gradient.addColorStop(0, colour);
  gradient.addColorStop(0.35, colour);
  gradient.addColorStop(1, `${colour}00`);
  return gradient;
}

/**
 * Writes as much of a text as fits: all of it, or the start of its first word and its last word, which is usually the
 * value, or only its start.
 */
function label(scene, text, left, right, top) {
  const { letter } = scene.size, room = right - left;
  let shown = fit(text, room, letter);
  if (shown !== text) {
    const last = text.slice(text.lastIndexOf(" ") + 1), first = text.slice(0, Math.max(0, text.indexOf(" ")));
    const short = `${first.slice(0, Math.max(1, Math.floor(room / letter) - 1 - last.length))}\u2026${last}`;
    if (first && fit(short, room, letter) === short) shown = short;
  }
  if (shown) scene.ctx.fillText(shown, left, top + BAR / 2 + 0.5);
}

/**
 * Draws the operations that do not fit, with a strong colour, a thick frame and a cross. `drawArrow` also points to the
 * first of them.
 */
function drawRefused(scene) {
  const { ctx, model, size, colours, view } = scene;
  for (let bar = model.refused; bar >= 0; bar = model.given.indexOf(REFUSED, bar + 1)) {
    if (model.start[bar] > view.to || model.until[bar] < view.from) continue;
    const { left, width, top, from } = box(scene, bar);
    const wide = Math.max(width, 8);
    ctx.fillStyle = colours.accent;
    ctx.beginPath();
    ctx.roundRect(left, top - 2, wide, BAR + 4, 4);
    ctx.fill();
    ctx.strokeStyle = colours.strong;
    ctx.lineWidth = 2;
    ctx.stroke();
    ctx.fillStyle = colours["accent-ink"];
    ctx.font = `bold ${FONT}`;
    const text = `\u2715 ${model.texts[model.label[bar]]}`, begin = Math.max(from, size.left) + 5;
    if (fit(text, left + wide - 3 - begin, size.letter) === text) {
      label(scene, text, begin, left + wide - 3, top);
    } else {
      if (wide >= 2 * size.letter) ctx.fillText("\u2715", left + (wide - size.letter) / 2, top + BAR / 2 + 0.5);
      drawTag(scene, text.slice(2), left, wide, top);
    }
  }
}

/** Writes a text that does not fit into its bar beside the bar, over other bars, if there is room on one side. */
function drawTag(scene, text, left, wide, top) {
  const { ctx, size, colours } = scene;
  const shown = fit(text, size.plot / 3, size.letter), width = ctx.measureText(shown).width + 8;
  const right = left + wide + 3, isRight = right + width <= size.width;
  const at = isRight ? right : left - 3 - width;
  if (at < size.left) return;
  ctx.fillStyle = colours.ground;
  ctx.globalAlpha = 0.9;
  ctx.fillRect(at, top - 1, width, BAR + 2);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colours.accent;
  ctx.fillText(shown, at + 4, top + BAR / 2 + 0.5);
}

function drawRing(scene, bar, width) {
  if (bar < 0) return;
  const { ctx, colours } = scene;
  const { left, width: wide, top } = box(scene, bar);
  ctx.strokeStyle = colours.strong;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.roundRect(left - 2, top - 3, Math.max(wide, 4) + 4, BAR + 6, 5);
  ctx.stroke();
}

function drawNames(scene, rows) {
  const { ctx, model, size, colours } = scene;
  ctx.fillStyle = colours.ground;
  ctx.fillRect(0, 0, size.left, size.height);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, size.top, size.left, size.height);
  ctx.clip();
  drawBands(scene, rows);
  ctx.font = NAMES;
  ctx.fillStyle = colours.ink;
  for (let row = rows.from; row < rows.to; row++) {
    ctx.fillText(fit(model.rows[row], size.left - 12, 6.4), 8, rowTop(scene, row) + ROW / 2);
  }
  ctx.restore();
  ctx.fillStyle = colours.calm;
  ctx.font = SMALL;
  ctx.fillText(scene.corner, 8, AXIS / 2, size.left - 12);
  if (model.order) {
    ctx.fillText("step", 8, AXIS + 7);
    ctx.font = NAMES;
    ctx.fillStyle = colours.ink;
    ctx.fillText("state", 8, AXIS + 14 + (LANE - 15) / 2);
  }
  ctx.fillStyle = colours.line;
  ctx.fillRect(size.left - 1, 0, 1, size.height);
  ctx.fillRect(0, size.top - 1, size.left, 1);
  drawArrow(scene);
}

/** Draws an arrow on the axis that points to the failure; at the edge if the failure is out of view. */
function drawArrow(scene) {
  const { ctx, model, size, colours } = scene;
  if (model.refused < 0) return;
  const from = x(scene, model.start[model.refused]), to = x(scene, Math.min(model.until[model.refused], model.extent[1]));
  const at = (Math.max(from, size.left) + Math.min(to, size.width)) / 2;
  ctx.fillStyle = colours.accent;
  ctx.beginPath();
  if (to < size.left) triangle(ctx, size.left + 3, 9, 0);
  else if (from > size.width) triangle(ctx, size.width - 3, 9, 2);
  else triangle(ctx, at, AXIS - 2, 1);
  ctx.fill();
}

/** Adds a triangle whose tip points left (0), down (1) or right (2). */
function triangle(ctx, tipX, tipY, towards) {
  const [dx, dy] = [[9, 6], [6, -9], [-9, 6]][towards];
  ctx.moveTo(tipX, tipY);
  ctx.lineTo(tipX + dx, tipY + dy);
  if (towards === 1) ctx.lineTo(tipX - dx, tipY + dy); else ctx.lineTo(tipX + dx, tipY - dy);
  ctx.closePath();
}
