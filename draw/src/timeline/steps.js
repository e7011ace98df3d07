// Draws the chosen order: the lane of states above all rows, and the instants at which operations take effect.

/** Returns the range of steps in view, or of all steps if they are not sorted by time. */
function visibleSteps({ model, view }) {
  const { at, sorted } = model.order;
  if (!sorted) return { from: 0, to: at.length };
  const from = firstWhere(0, at.length, (i) => at[i] >= view.from);
  const to = firstWhere(from, at.length, (i) => at[i] > view.to);
  return { from, to };
}

/** With fewer pixels for each step, steps are not distinguishable and not drawn individually. */
const CROWDED = 4;

/** Returns the number of pixels for each step in view. */
function roomForSteps(scene, { from, to }) {
  return scene.size.plot / Math.max(1, to - from);
}

/** Draws a line from the lane of states down to each bar. Bars are drawn over these lines. */
function drawLines(scene) {
  const { ctx, model, size, colours } = scene;
  const steps = visibleSteps(scene), room = roomForSteps(scene, steps), lines = new Path2D();
  if (room < CROWDED) return;
  for (let step = steps.from; step < steps.to; step++) {
    const at = x(scene, model.order.at[step]);
    lines.moveTo(at, size.top);
    lines.lineTo(at, rowTop(scene, model.row[model.order.bar[step]]) + ROW / 2);
  }
  ctx.strokeStyle = colours.instant;
  ctx.lineWidth = 1;
  ctx.globalAlpha = Math.min(0.6, room / 30);
  ctx.stroke(lines);
  ctx.globalAlpha = 1;
}

/** Draws a diamond on the lower edge of each bar, at the instant at which the operation takes effect. */
function drawMarks(scene) {
  const { ctx, model, colours } = scene;
  const steps = visibleSteps(scene), room = roomForSteps(scene, steps), marks = new Path2D();
  if (room < CROWDED) return;
  const half = room > 9 ? 4.5 : 2;
  for (let step = steps.from; step < steps.to; step++) {
    const at = x(scene, model.order.at[step]), edge = rowTop(scene, model.row[model.order.bar[step]]) + (ROW + BAR) / 2 - 0.5;
    marks.moveTo(at, edge - half);
    marks.lineTo(at + half, edge);
    marks.lineTo(at, edge + half);
    marks.lineTo(at - half, edge);
    marks.closePath();
  }
  ctx.fillStyle = colours.instant;
  ctx.fill(marks);
  drawInstant(scene, scene.hover >= 0 ? scene.hover : scene.selected);
}

/** Draws the line of one step, thicker than the other lines and opaque. */
function drawInstant(scene, bar) {
  const { ctx, model, size, colours } = scene;
  if (bar < 0 || model.step[bar] < 0) return;
  const at = x(scene, model.order.at[model.step[bar]]);
  ctx.strokeStyle = colours.instant;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(at, size.top);
  ctx.lineTo(at, rowTop(scene, model.row[bar]) + (ROW + BAR) / 2);
  ctx.stroke();
}

/**
 * Draws the lane above all rows: the numbers of the steps, and the state after each step. Equal consecutive states are
 * drawn once.
 */
function drawLane(scene) {
  const { ctx, size, colours } = scene;
  const top = AXIS, steps = visibleSteps(scene);
  ctx.save();
  ctx.beginPath();
  ctx.rect(size.left, top, size.plot, LANE);
  ctx.clip();
  ctx.fillStyle = colours.ground;
  ctx.fillRect(size.left, top, size.plot, LANE);
  if (roomForSteps(scene, steps) >= CROWDED) {
    drawStates(scene, steps);
    drawTicks(scene, steps);
  } else {
    drawManyStates(scene, steps);
  }
  drawNumbers(scene, steps);
  ctx.restore();
  ctx.fillStyle = colours.line;
  ctx.fillRect(0, size.top - 1, size.width, 1);
}

function drawTicks(scene, steps) {
  const { ctx, colours, model: { order } } = scene, top = AXIS + 13;
  ctx.fillStyle = colours.instant;
  for (let step = steps.from; step < steps.to; step++) {
    // The tick of a step that does not change the state must not cut through the state's text.
    const changes = order.state[step] !== (step > 0 ? order.state[step - 1] : order.before);
    ctx.fillRect(Math.round(x(scene, order.at[step])) - 0.5, changes ? top : AXIS + LANE - 5, 1, LANE);
  }
}

/** Draws the number of a step wherever there is room. */
function drawNumbers(scene, steps) {
  const { ctx, colours, model: { order } } = scene;
  ctx.font = SMALL;
  ctx.fillStyle = colours.instant;
  const tell = (step) => String(order.skipped + step + 1);
  const widest = ctx.measureText(tell(steps.to)).width + 5;
  // If steps are sorted, visits only those that are far enough from the last number drawn.
  for (let step = steps.from; step < steps.to;) {
    const at = x(scene, order.at[step]), number = tell(step);
    ctx.fillText(number, at - ctx.measureText(number).width / 2, AXIS + 7);
    const free = scene.view.from + (at + widest - scene.size.left) / scene.scale;
    step = order.sorted ? firstWhere(step + 1, steps.to, (i) => order.at[i] >= free) : step + 1;
  }
}

/**
 * Draws one box in place of individual states: the number of steps, and the last state if it is in view and an operation
 * does not fit it.
 */
function drawManyStates(scene, steps) {
  const { ctx, model, size, colours } = scene;
  const { order } = model, last = order.at.length - 1;
  const left = Math.max(size.left, x(scene, order.at[steps.from])), right = Math.min(size.width, x(scene, order.at[steps.to - 1]));
  ctx.fillStyle = colours["lane-b"];
  ctx.fillRect(left, AXIS + 14, right - left, LANE - 15);
  ctx.fillStyle = colours.calm;
  ctx.font = FONT;
  ctx.fillText(fit(`${steps.to - steps.from} steps`, right - left - 8, size.letter), left + 5, AXIS + 14 + (LANE - 15) / 2 + 0.5);
  if (steps.to > last && model.refused >= 0) drawEnd(scene, right, right, order.state[last]);
}

/** Draws a box for each run of consecutive equal states. */
function drawStates(scene, steps) {
  const { ctx, model, size, colours } = scene;
  const { order } = model, count = order.at.length, top = AXIS + 14, high = LANE - 15;
  let at = steps.from - 1;
  // Goes back to the step at which the state at the left edge began, at most 1000 steps.
  for (let back = 0; back < 1000 && at > 0 && order.state[at - 1] === order.state[at]; back++) at--;
  let shade = at;
  ctx.font = FONT;
  while (at < steps.to) {
    const state = at < 0 ? order.before : order.state[at];
    let next = at + 1;
    while (next < steps.to && order.state[next] === state) next++;
    const left = at < 0 ? size.left : Math.max(size.left, x(scene, order.at[at]));
    const end = next < count ? x(scene, order.at[next]) : size.width;
    shade++;
    if (next >= count && model.refused >= 0) {
      drawEnd(scene, left, count ? x(scene, order.at[count - 1]) : left, state);
    } else if (end - left >= 1) {
      ctx.fillStyle = shade % 2 ? colours["lane-a"] : colours["lane-b"];
      ctx.fillRect(left, top, end - left, high);
      ctx.fillStyle = colours.ink;
      const shown = fit(model.texts[state], end - left - 8, size.letter);
      if (shown) ctx.fillText(shown, left + 5, top + high / 2 + 0.5);
    }
    at = next;
  }
}

/** Draws the last state, and next to it the operation that does not fit it. */
function drawEnd(scene, left, last, state) {
  const { ctx, model, size, colours } = scene;
  const top = AXIS + 14, high = LANE - 15, middle = top + high / 2 + 0.5;
  const shown = fit(model.texts[state], size.plot / 3, size.letter);
  const end = Math.max(left, last) + ctx.measureText(shown).width + 14;
  ctx.fillStyle = colours["lane-a"];
  ctx.fillRect(left, top, end - left, high);
  ctx.fillStyle = colours.ink;
  ctx.fillText(shown, left + 5, middle);
  ctx.globalAlpha = 0.14;
  ctx.fillStyle = colours.accent;
  ctx.fillRect(end, top, size.width, high);
  ctx.globalAlpha = 1;
  ctx.font = `bold ${FONT}`;
  const text = fit(`\u2715 no place for ${model.texts[model.label[model.refused]]}`, size.width - end - 10, size.letter);
  ctx.fillText(text, end + 7, middle);
  ctx.font = FONT;
}
