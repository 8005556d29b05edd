// A board in a notebook: draws what Python says, sends what a person does. It follows board.js in one module.
const LOOKS = { none: "Board", N: "Visits", P: "Prior", Q: "Q", V: "Network" };

function render({ model, el }) {
  const add = (parent, tag, more) => {
    const made = Object.assign(parent.appendChild(document.createElement(tag)), more);
    made.setAttribute("data-lm-suppress-shortcuts", "true"); // keys here are the board's: Jupyter asks what has the focus
    return made;
  };
  const send = (what) => model.send({ ...what, ply: model.get("ply") });
  el.classList.add("board-widget");
  const left = add(el, "div", { className: "left" });
  const stage = add(left, "div", { className: "stage", tabIndex: 0 });
  stage.setAttribute("aria-label", "board: arrows move, Enter plays");
  const others = add(left, "div", { className: "deeds" });
  const deeds = add(left, "div", { className: "deeds" });
  for (const [name, text] of [["undo", "Undo"], ["new", "New"], ["swap", "Swap sides"]])
    add(deeds, "button", { textContent: text, onclick: () => send({ deed: name }) });
  const right = add(el, "div", { className: "right" });
  const status = add(right, "b");
  status.setAttribute("role", "status");
  const words = add(right, "div");
  const looks = add(right, "div", { className: "deeds looks" });
  for (const [kind, text] of Object.entries(LOOKS))
    add(looks, "button", { textContent: text, value: kind, onclick: () => send({ deed: "look", kind }) });
  const table = add(right, "div");

  const draw = {
    svg: () => (stage.innerHTML = model.get("svg")),
    status: () => (status.textContent = model.get("status")),
    words: () => (words.innerHTML = model.get("words")),
    table: () => (table.innerHTML = model.get("table")),
    look: () => looks.childNodes.forEach((b) => b.setAttribute("aria-pressed", b.value === model.get("look"))),
    others: () => {
      others.replaceChildren();
      for (const [action, name] of model.get("others"))
        add(others, "button", { textContent: name, onclick: () => send({ deed: "play", action }) });
    },
  };
  for (const [name, show] of Object.entries(draw)) {
    model.on(`change:${name}`, show);
    show();
  }
  stage.addEventListener("click", (e) => {
    const point = e.target.closest("[data-action]");
    if (point) send({ deed: "play", action: Number(point.dataset.action) });
  });
  liveBoard(el);
  return () => Object.entries(draw).forEach(([name, show]) => model.off(`change:${name}`, show));
}

export default { render };
