// Keeps a page up to date: after a notice of the server or a delay, fetches the page again and replaces the part that changes.
"use strict";
(() => {
  // Selects the likeliest checker, and whether it checks each key separately. Returns all suggested checkers that the form
  // offers, or null if there are none.
  const choose = (form, said) => {
    const known = [...form.checker.options].map((option) => option.value);
    const names = said.checkers.filter((checker) => known.includes(checker));
    if (!names.length) return null;
    const keyed = () => { form.keyed.value = said.keyed.includes(form.checker.value) ? "yes" : "no"; };
    form.checker.onchange = keyed;
    form.checker.value = names[0];
    keyed();
    return names;
  };
  const drop = document.getElementById("drop");
  if (drop) {
    const form = drop.querySelector("form"), status = document.getElementById("dropped");
    const say = (text) => { drop.open = true; status.textContent = text; };
    let held = null;
    const suggest = async (body, name) => {
      held = { body, name };
      try {
        const answer = await fetch("/api/suggest", { method: "POST", body: body.slice(0, 262144), credentials: "same-origin" }), said = await answer.json();
        const names = answer.ok && choose(form, said);
        if (names) {
          const others = names.length > 1 ? ` (or ${names.slice(1).join(", ")})` : "";
          say(`${name} looks like ${names[0]}${others}: press Check, or choose another checker.`);
          form.querySelector("button").focus();
          return;
        }
        say(answer.ok ? `${name}: no checker accepts its first ops: choose a checker, then press Check.` : `${name}: ${said.error.message}`);
      } catch (error) {
        say("The server cannot be reached.");
      }
      form.checker.focus();
    };
    const send = async (body, name) => {
      if (!form.checker.value && !form.checker.required) return suggest(body, name);
      if (!form.checker.value) { held = { body, name }; say(`${name}: choose a checker, then press Check.`); form.checker.focus(); return; }
      if (body.size > Number(drop.dataset.bytesMax)) { say(`${name} is too large.`); return; }
      say(`Sending ${name} to this server.`);
      const query = new URLSearchParams({ checker: form.checker.value, levels: form.levels.value, keyed: form.keyed.value, name });
      try {
        const answer = await fetch(`/api/check?${query}`, { method: "POST", body, credentials: "same-origin" });
        const said = await answer.json();
        if (answer.ok) location.assign(said.page); else say(said.error.message);
      } catch (error) {
        say("The server cannot be reached.");
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const file = form.file.files[0], text = form.text.value;
      if (file) send(file, file.name); else if (text.trim()) send(new Blob([text]), "pasted.edn"); else if (held) send(held.body, held.name); else say("Choose a file, or paste a history.");
    });
    for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files[0]) send(event.dataTransfer.files[0], event.dataTransfer.files[0].name);
    });
  }
  const recheck = document.querySelector("form[data-suggest]");
  if (recheck) (async () => {
    const answer = await fetch(`/api/suggest?run=${recheck.dataset.suggest}`, { method: "POST", credentials: "same-origin" }).catch(() => null);
    if (!answer || !answer.ok || recheck.checker.value) return;
    const names = choose(recheck, await answer.json());
    if (names) recheck.querySelector("[role=status]").textContent = `The history looks like ${names.join(", ")}.`;
  })();
  const live = () => document.getElementById("live");
  if (!live()) return;
  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live"), old = live();
      // The awaited content is ready. Its page has a script of its own, so the browser must load it.
      if (!fresh) { location.reload(); return; }
      if (fresh.outerHTML === old.outerHTML) return;
      // The link that has the keyboard focus keeps it. If the report is the same, nothing is replaced, because the reader may
      // be reading it.
      const focus = document.activeElement, href = old.contains(focus) && focus.getAttribute("href");
      const before = old.querySelector("iframe"), after = fresh.querySelector("iframe");
      if (before && after && before.getAttribute("src") === after.getAttribute("src")) {
        old.dataset.generation = fresh.dataset.generation;
        return;
      }
      old.replaceWith(document.adoptNode(fresh));
      if (href) for (const link of live().querySelectorAll("a")) if (link.getAttribute("href") === href) { link.focus(); break; }
    } catch (error) {
      // The server is unreachable. The event stream reconnects when it is reachable again.
    } finally {
      busy = false;
      if (again) { again = false; refresh(); }
      lookAgain();
    }
  };
  const lookAgain = () => { if (live().dataset.lookAgain) setTimeout(refresh, Number(live().dataset.lookAgain)); };
  lookAgain();
  if (!live().dataset.follow) return;
  // Browsers allow six connections to a server, for all tabs together. A hidden tab therefore keeps none, and is updated when
  // it is shown again.
  let news = null;
  const follow = () => {
    if (document.hidden === !news) return;
    if (news) { news.close(); news = null; return; }
    news = new EventSource("/events");
    news.addEventListener("runs", (event) => { if (event.data !== live().dataset.generation) refresh(); });
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => { if (news) news.close(); news = null; });
  window.addEventListener("pageshow", follow);
  follow();
})();
