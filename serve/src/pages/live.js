// Shows a run in progress: draws the data that the server sends. A page that was hidden gets all data again.
"use strict";
(() => {
  const get = (id) => document.getElementById(id), figure = (name) => document.querySelector(`[data-figure="${name}"]`);
  const HEIGHT = 160, FOOT = 18;
  let known = null, news = null, shownViolations = "";
  const grouped = (number) => number.toLocaleString("en-US");
  const duration = (ns) => {
    if (ns === null || ns === undefined) return "\u2013";
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]]) if (ns >= size) return `${(ns / size).toPrecision(3)} ${unit}`;
    return `${ns} ns`;
  };
  const draw = (name, attributes, parent, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  /** Draws the bands of faults and the ticks of time; returns the plot and the function that places a column. */
  const begin = (id) => {
    const svg = get(`plot-${id}`), columns = known.columns.length, span = Math.max(columns, 20) * known.width_ms;
    const width = svg.clientWidth || 960;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const x = (ms) => ms / span * width;
    for (const fault of known.faults) {
      const from = x(fault.from_ms), until = x(fault.until_ms ?? columns * known.width_ms);
      const band = draw("rect", { class: "fault", x: from, y: 0, width: Math.max(until - from, 2), height: HEIGHT - FOOT }, svg);
      draw("title", {}, band, fault.what);
    }
    const step = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200, 36000].find((seconds) => span / 1000 / seconds <= 10) || 86400;
    for (let second = 0; second * 1000 < span; second += step) {
      draw("line", { class: "tick", x1: x(second * 1000), x2: x(second * 1000), y1: HEIGHT - FOOT, y2: HEIGHT - FOOT + 4 }, svg);
      draw("text", { x: x(second * 1000) + 3, y: HEIGHT - 4 }, svg, `${second} s`);
    }
    return { svg, at: (column) => x((column + .5) * known.width_ms) };
  };
  const scale = (id, text) => { document.querySelector(`[data-scale="${id}"]`).textContent = text; };
  const rates = () => {
    const { svg, at } = begin("rate"), seconds = known.width_ms / 1000;
    const sums = known.columns.map((column) => [column.ok, column.fail, column.info].map((count) => count / seconds));
    const most = Math.max(1, ...sums.map((parts) => parts[0] + parts[1] + parts[2])), y = (value) => (HEIGHT - FOOT) * (1 - value / most);
    const floor = sums.map(() => 0);
    ["ok", "fail", "info"].forEach((kind, part) => {
      const below = sums.map((_, column) => [at(column), y(floor[column])]);
      sums.forEach((parts, column) => { floor[column] += parts[part]; });
      const above = sums.map((_, column) => [at(column), y(floor[column])]);
      if (above.length > 1) draw("path", { class: `area ${kind}`, d: `${path(above.concat(below.reverse()))}Z` }, svg);
    });
    scale("rate", `; maximum ${grouped(Math.round(most))} per second`);
  };
  const lines = (id, parts, isLog, unit) => {
    const { svg, at } = begin(id), values = known.columns.flatMap((column) => parts.map((part) => column[part])).filter((value) => value > 0);
    if (!values.length) { scale(id, "; nothing yet"); return; }
    const most = Math.max(...values), least = isLog ? Math.min(...values, most / 2) : 0;
    const y = (value) => (HEIGHT - FOOT) * (1 - .95 * (isLog ? Math.log(Math.max(value, least) / least) / Math.log(most / least) : value / most));
    for (const part of parts) {
      const points = known.columns.map((column, index) => [column[part], index]).filter(([value]) => value !== null).map(([value, index]) => [at(index), y(value)]);
      if (points.length) draw("path", { class: `curve ${part}`, d: path(points.length > 1 ? points : [points[0], [points[0][0] + 2, points[0][1]]]) }, svg);
    }
    scale(id, isLog ? `; from ${unit(least)} to ${unit(most)}` : `; maximum ${unit(most)}`);
  };
  const violations = () => {
    const found = known.violations || [], key = `${found.length}/${known.violations_count}`;
    if (key === shownViolations) return;
    shownViolations = key;
    const add = (parent, name, text, kind) => { const element = document.createElement(name); if (kind) element.className = kind; if (text) element.textContent = text; parent.append(element); return element; };
    const place = get("violations"), wasOpen = place.querySelector("details")?.open, later = document.createElement("details");
    place.replaceChildren();
    later.open = wasOpen || false;
    // Violations after the first are collapsed, because they would push the plots out of view.
    for (const violation of found) {
      const block = add(violation === found[0] ? place : later, "section", "", "violation"), title = add(block, "h2", violation.anomaly_types.length ? violation.anomaly_types.join(", ") : "Violation");
      if (violation.index !== null) {
        title.append(": certain at op ");
        const isLinked = known.about && known.about.has_rows, op = add(title, isLinked ? "a" : "b", String(violation.index));
        if (isLinked) op.href = `/rows/.?at=${violation.index}`;
      }
      if (violation.explanation) { const text = add(block, "pre", violation.explanation); text.tabIndex = 0; }
    }
    if (known.violations_count > found.length) add(later, "p", `${grouped(known.violations_count - found.length)} more.`, "note");
    const rest = known.violations_count - 1;
    if (rest > 0) { const summary = document.createElement("summary"); summary.textContent = `${grouped(rest)} more violation${rest > 1 ? "s" : ""}`; later.prepend(summary); place.append(later); }
  };
  const show = () => {
    const words = { running: ["\u2026 no violation so far", "none"], "true": ["\u2713 valid", "valid"], "false": ["\u2715 invalid", "invalid"], unknown: ["? unknown", "unknown"], error: ["! no verdict", "error"] };
    const [word, kind] = words[known.verdict] || words.error, badge = get("verdict");
    if (badge.textContent !== word) { badge.textContent = word; badge.className = `badge ${kind}`; document.title = `${word} \u00b7 ${known.about.name}`; }
    get("about").textContent = [known.about.checkers.join(", "), known.about.details].filter(Boolean).join("; ");
    const last = known.columns.slice(-3, -1), seconds = Math.max(last.length, 1) * known.width_ms / 1000;
    figure("ops").textContent = grouped(known.ops);
    figure("per-second").textContent = known.end ? "\u2013" : grouped(Math.round(last.reduce((sum, column) => sum + column.ops, 0) / seconds));
    figure("in-flight").textContent = grouped(known.open);
    figure("p99").textContent = duration(known.columns.map((column) => column.p99_ns).filter((time) => time !== null).pop());
    figure("judged").textContent = known.checked === known.ops ? "all" : `${grouped(known.checked)}${known.configurations === null ? "" : `, ${grouped(known.configurations)} configurations`}`;
    figure("fault").textContent = known.faults.filter((fault) => fault.until_ms === null).map((fault) => fault.what).join(", ") || "none";
    violations();
    if (!document.hidden) { rates(); lines("latency", ["p50_ns", "p99_ns"], true, duration); lines("open", ["open"], false, grouped); }
    if (known.end) get("connection").textContent = ["The run has ended.", ...known.end.notes].join(" ");
  };
  const take = (piece) => {
    const columns = piece.about ? [] : known.columns.slice(0, piece.columns_from);
    known = { ...known, ...piece, columns: columns.concat(piece.columns) };
    show();
  };
  // A hidden tab keeps no connection, and gets all data when it is shown again.
  const follow = () => {
    if (document.hidden === !news || known?.end) return;
    if (news) { news.close(); news = null; return; }
    news = new EventSource("/api/live");
    news.addEventListener("live", (event) => {
      get("connection").textContent = "";
      take(JSON.parse(event.data));
      if (known.end) { news.close(); news = null; }
    });
    news.onerror = () => { get("connection").textContent = "The connection is lost; trying again."; };
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => { if (news) news.close(); news = null; });
  window.addEventListener("pageshow", follow);
  follow();
})();
