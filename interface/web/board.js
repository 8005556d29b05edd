// What a board does without asking Python, in the page and in a notebook: a cursor for the keyboard, and lines of moves
// on hover. root: what holds one `.stage` with a board's SVG, and perhaps rows with `data-hover`; or the document.
function liveBoard(root) {
  const stage = () => root.querySelector(".stage");

  function show(action) {
    for (const g of root.querySelectorAll(".stage .line"))
      g.setAttribute("visibility", g.dataset.line === action ? "visible" : "hidden");
    const shown = [...root.querySelectorAll(".stage .line")].some((g) => g.dataset.line === action);
    for (const g of root.querySelectorAll(".stage .mark")) g.setAttribute("opacity", shown ? "0" : "1");
  }
  root.addEventListener("mousemove", (e) => {
    if (!e.movementX && !e.movementY) return; // a board that is drawn anew under a mouse at rest
    const row = e.target.closest && e.target.closest("[data-hover]");
    const overlaid = root.querySelector(".stage .mark, .stage .line[visibility=visible]");
    const point = !row && overlaid && e.target.closest && e.target.closest(".stage [data-action]");
    show(row ? row.dataset.hover : point ? point.dataset.action : null);
  });
  root.addEventListener("focusin", (e) => {
    const over = e.target.closest && e.target.closest("[data-hover]");
    if (over) show(over.dataset.hover);
  });

  let held = null; // [element, selector] of the move or row with the focus: it is drawn anew under the hand
  root.addEventListener("focusin", (e) => {
    const one = e.target.closest && e.target.closest("button[data-ply], tr[data-hover]:not([data-hover=''])");
    const named = one && ["ply", "hover"].find((name) => one.dataset[name] !== undefined);
    held = one ? [one, `${one.localName}[data-${named}="${CSS.escape(one.dataset[named])}"]`] : null;
  });
  root.addEventListener("focusout", () => setTimeout(() => {
    if (held && held[0].isConnected && document.activeElement !== held[0]) held = null;
  }));
  new MutationObserver(() => {
    if (!held || held[0].isConnected || ![null, document.body].includes(document.activeElement)) return;
    const again = root.querySelector(held[1]);
    if (again) again.focus();
  }).observe(root, { childList: true, subtree: true });

  let at = null; // index of the point under the keyboard's cursor
  const points = () => [...root.querySelectorAll(".stage .point")];
  function cursor() {
    for (const p of points()) p.classList.remove("cursor");
    const p = points()[at];
    if (p && document.activeElement === stage()) p.classList.add("cursor");
  }
  new MutationObserver(cursor).observe(root, { childList: true, subtree: true });
  root.addEventListener("focusin", cursor);
  root.addEventListener("focusout", () => setTimeout(cursor));

  root.addEventListener("keydown", (e) => {
    if (e.target !== stage() || e.ctrlKey || e.altKey || e.metaKey) return;
    const all = points();
    if (!all.length) return;
    const columns = all.filter((p) => p.getAttribute("y") === all[0].getAttribute("y")).length;
    const rows = all.length / columns;
    if (at === null || at >= all.length) {
      at = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
      if (!e.key.startsWith("Arrow") && e.key !== "Enter" && e.key !== " ") { at = null; return; }
      e.preventDefault();
      e.stopPropagation();
      cursor();
      return;
    }
    if (e.key === "ArrowLeft") at -= at % columns ? 1 : 0;
    else if (e.key === "ArrowRight") at += at % columns < columns - 1 ? 1 : 0;
    else if (e.key === "ArrowUp") at -= at >= columns ? columns : 0;
    else if (e.key === "ArrowDown") at += at < all.length - columns ? columns : 0;
    if (e.key === "Enter" || e.key === " ") all[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    else if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
    e.stopPropagation();
    cursor();
  }, true);
}
