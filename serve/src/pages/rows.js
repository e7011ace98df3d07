// Shows the rows of a history as one list that scrolls from the first to the last. Only the rows on the screen, and some above
// and below, are requested and drawn.
"use strict";
(() => {
  const place = document.getElementById("rows");
  if (!place || !place.dataset.total) return;
  const total = Number(place.dataset.total), chosen = place.dataset.at === undefined ? -1 : Number(place.dataset.at);
  const { api, page } = place.dataset;
  // ROW, HEIGHT_MAX and END are heights in pixels: of a row, of the whole list (browsers limit it), and of each end of the list,
  // in which each row takes ROW pixels. CHUNK is the number of rows of a request, CHUNKS_MAX the number of chunks in memory, and
  // SPARE the number of rows drawn above and below the screen.
  const ROW = 28, HEIGHT_MAX = 8e6, END = 1e6, CHUNK = 100, CHUNKS_MAX = 60, SPARE = 12, COLUMNS = ["Index", "Time (s)", "Process", "Type", "Function", "Value"];
  const make = (name, role, parent) => {
    const element = document.createElement("div");
    element.className = name;
    if (role) element.setAttribute("role", role);
    if (parent) parent.append(element);
    return element;
  };
  const table = make("grid", "table"), top = make("line head", "row", make("heads", "rowgroup", table));
  table.setAttribute("aria-label", "Rows");
  table.setAttribute("aria-rowcount", String(total + 1));
  top.setAttribute("aria-rowindex", "1");
  for (const title of COLUMNS) make("", "columnheader", top).textContent = title;
  const view = make("view", "rowgroup", table);
  view.tabIndex = 0;
  view.setAttribute("aria-label", "Rows; scroll with the arrow keys, Page Up, Page Down, Home and End");
  const space = make("space", "none", view), sheet = make("sheet", "none", space);
  const height = Math.min(total * ROW, HEIGHT_MAX), isWhole = total * ROW <= HEIGHT_MAX;
  space.style.height = `${height}px`;
  place.replaceChildren(table);
  const status = make("note", "status", place);
  const rest = () => Math.max(height - view.clientHeight, 0), last = () => Math.max(total - view.clientHeight / ROW, 0);
  // The top row for a position of the scroll bar: pixel by pixel near both ends, in proportion between them.
  const rowAt = (y) => {
    if (isWhole || y <= END) return y / ROW;
    if (y >= rest() - END) return last() - (rest() - y) / ROW;
    return END / ROW + (y - END) / (rest() - 2 * END) * (last() - 2 * END / ROW);
  };
  const placeOf = (row) => {
    if (isWhole || row <= END / ROW) return row * ROW;
    if (row >= last() - END / ROW) return rest() - (last() - row) * ROW;
    return END + (row - END / ROW) / (last() - 2 * END / ROW) * (rest() - 2 * END);
  };
  let first = 0, before = 0, origin = 0, drawn = new Map(), timer = 0;
  const chunks = new Map(), asked = new Map();
  const fill = (line, row) => {
    const chunk = chunks.get(Math.floor(row / CHUNK)), op = chunk?.ops.get(row), isKnown = chunk && row < chunk.to;
    if (line.dataset.done || (!isKnown && line.childElementCount)) return;
    line.replaceChildren();
    const cells = COLUMNS.map(() => make("", "cell", line));
    if (!isKnown) { cells[0].textContent = "\u2026"; return; }
    line.dataset.done = "1";
    if (!op) { cells[5].textContent = "too long to be shown"; return; }
    line.className = `line ${op.type}`;
    const link = document.createElement("a");
    link.href = `${page}?at=${op.index}`;
    link.textContent = op.index;
    cells[0].append(link);
    cells[1].textContent = op.time_ns === null ? "" : (op.time_ns / 1e9).toFixed(6);
    [op.process, op.type, op.f, op.more ? `${op.value}  ${op.more}` : op.value].forEach((text, at) => { cells[at + 2].textContent = text; });
    cells[5].title = op.value;
  };
  const ask = async (chunk) => {
    const begin = chunk * CHUNK, end = Math.min(begin + CHUNK, total);
    if ((chunks.get(chunk)?.to ?? begin) >= end || asked.has(chunk)) return;
    const control = new AbortController();
    asked.set(chunk, control);
    try {
      // If rows are long, a response has fewer than requested: then the rest is requested.
      for (let { ops, to } = chunks.get(chunk) ?? { ops: new Map(), to: begin }; to < end;) {
        const answer = await fetch(`${api}?from=${to}&count=${end - to}`, { credentials: "same-origin", signal: control.signal });
        const said = await answer.json();
        if (said.complete === false) {
          // The history has changed, and the server is reading it again.
          setTimeout(draw, 500);
          return;
        }
        if (!said.ops || said.total !== total) {
          status.textContent = said.ops ? "The history has changed: reload the page." : said.error.message;
          return;
        }
        for (const op of said.ops) ops.set(op.row, op);
        to = said.to > to ? said.to : end;
        chunks.set(chunk, { ops, to });
        status.textContent = "";
        if (chunks.size > CHUNKS_MAX) chunks.delete([...chunks.keys()].sort((a, b) => Math.abs(b - chunk) - Math.abs(a - chunk))[0]);
        for (const [row, line] of drawn) fill(line, row);
      }
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = "The server cannot be reached.";
    } finally {
      if (asked.get(chunk) === control) asked.delete(chunk);
    }
  };
  const draw = () => {
    const from = Math.max(Math.floor(first) - SPARE, 0), to = Math.min(Math.ceil(first + view.clientHeight / ROW) + SPARE, total);
    for (const [row, line] of drawn) if (row < from || row >= to) { line.remove(); drawn.delete(row); }
    let behind = sheet.firstElementChild;
    for (let row = from; row < to; row++) {
      let line = drawn.get(row);
      if (!line) {
        line = make("line", "row");
        line.setAttribute("aria-rowindex", String(row + 2));
        if (row === chosen) line.setAttribute("aria-current", "true");
        drawn.set(row, line);
        sheet.insertBefore(line, behind);
      }
      behind = line.nextElementSibling;
      fill(line, row);
    }
    sheet.style.transform = `translateY(${origin + from * ROW}px)`;
    const low = Math.floor(from / CHUNK), high = Math.floor(Math.max(to - 1, 0) / CHUNK);
    for (const [chunk, control] of asked) if (chunk < low - 1 || chunk > high + 1) { control.abort(); asked.delete(chunk); }
    for (let chunk = low; chunk <= high; chunk++) ask(chunk);
  };
  // Sets the position of row 0 in the list. Rows move with the list as long as the reader only scrolls.
  const anchor = () => { origin = view.scrollTop - first * ROW; };
  const settle = () => {
    // Between the ends, scrolling by pixels moves the scroll bar to another position than that of the first row. This moves it
    // to the position of the first row.
    const y = Math.round(placeOf(first));
    if (Math.abs(y - view.scrollTop) > 1) { view.scrollTop = y; before = view.scrollTop; anchor(); draw(); }
  };
  view.addEventListener("scroll", () => {
    const y = view.scrollTop, moved = y - before;
    if (!moved) return;
    const isNear = !isWhole && Math.abs(moved) < 3 * view.clientHeight && y > 0 && y < rest() - 1;
    first = Math.min(Math.max(isNear ? first + moved / ROW : rowAt(y), 0), last());
    before = y;
    if (!isNear) anchor();
    draw();
    clearTimeout(timer);
    timer = setTimeout(settle, 200);
  }, { passive: true });
  const go = (row) => {
    first = Math.min(Math.max(row, 0), last());
    view.scrollTop = Math.round(placeOf(first));
    before = view.scrollTop;
    anchor();
    draw();
  };
  window.addEventListener("resize", () => go(first));
  go(Number(place.dataset.from));
})();
