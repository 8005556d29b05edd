// Parts of every page: buttons, choices, cards, dialogs.

function swapIn(place, ...children) {
  // keeps the focus on the part of the same name
  const key = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  place.replaceChildren(...children.filter(Boolean));
  if (key) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
function button(name, label, onclick, { key = null, title = null, main = false, off = false, bare = false } = {}) {
  return h(
    `button.button${main ? ".main" : ""}${bare ? ".bare" : ""}`,
    {
      type: "button",
      onclick,
      title: title ?? (bare ? label : null),
      "aria-label": bare ? label : null,
      "data-key": key,
      disabled: off,
    },
    name ? icon(name) : null,
    bare ? null : h("span", {}, label),
  );
}
function choice(label, options, now, pick) {
  return h(
    "div.choice",
    { role: "group", "aria-label": label },
    options.map(([key, text]) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(String(key) === String(now)),
          "data-key": `${label}${key}`,
          onclick: () => pick(key),
        },
        text,
      ),
    ),
  );
}
function select(label, options, now, pick) {
  const pressed = (is) => box.toggleAttribute("data-pressed", is); // whether its list may be open
  const box = h(
    "select",
    {
      "aria-label": label,
      "data-key": label,
      onpointerdown: () => pressed(true),
      onkeydown: ({ key }) => pressed(key !== "Escape" && key !== "Tab"),
      onblur: () => pressed(false),
      onchange: () => {
        pressed(false);
        pick(box.value);
      },
    },
    options.map(([key, text]) => h("option", { value: key, selected: String(key) === String(now) }, text)),
  );
  return box;
}
const card = (name, title, parts) =>
  h(`section.card.${name}`, { "aria-label": title ?? tr(name) }, title ? h("h2", {}, title) : null, parts);

function dialog(title, ...parts) {
  const box = h(
    "dialog",
    { "aria-label": title },
    h(
      "div.dialog-head",
      {},
      h("h2", {}, title),
      button("close", tr("Close"), () => box.close(), { bare: true }),
    ),
    ...parts.flat(),
  );
  box.addEventListener("click", (e) => {
    if (e.target === box) box.close();
  });
  box.addEventListener("close", () => box.remove());
  document.querySelector("dialog[open]")?.close();
  document.body.append(box);
  box.showModal();
  return box;
}
function ask(question, yes, then, { more = "", parts = [] } = {}) {
  const box = dialog(
    question,
    more ? h("p.soft", {}, more) : null,
    parts,
    h(
      "div.row.answers",
      {},
      button(
        null,
        yes,
        () => {
          then();
          box.close();
        },
        { main: true },
      ),
      button(null, tr("Cancel"), () => box.close()),
    ),
  );
  return box;
}
