// Keeps a page up to date: the server says that something has changed, and the part that changes is fetched again.
"use strict";
(() => {
  const live = () => document.getElementById("live");
  if (!live() || !window.EventSource) return;
  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live"), old = live();
      if (!fresh || fresh.outerHTML === old.outerHTML) return;
      // Whoever stands on a link by the keyboard still stands on it afterwards, and a report that is read stays.
      const focus = document.activeElement, href = old.contains(focus) && focus.getAttribute("href");
      const before = old.querySelector("iframe"), after = fresh.querySelector("iframe");
      if (before && after && before.getAttribute("src") === after.getAttribute("src")) {
        old.dataset.generation = fresh.dataset.generation;
        return;
      }
      old.replaceWith(document.adoptNode(fresh));
      if (href) for (const link of live().querySelectorAll("a")) if (link.getAttribute("href") === href) { link.focus(); break; }
    } catch (error) {
      // The server is gone; the stream of news waits for it.
    } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  };
  const news = new EventSource("/events");
  news.addEventListener("runs", (event) => { if (event.data !== live().dataset.generation) refresh(); });
})();
