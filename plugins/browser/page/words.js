// The facts in the page, texts in the person's language, what the browser keeps, and elements made by one call.

const facts = JSON.parse(document.getElementById("facts").textContent);

// What the browser keeps between visits; where it keeps nothing (a sandbox, a private window) or nothing more (its store
// is full), the page works as well.
const kept = {
  here: new Map(), // what it did not keep, until the page is left
  get(name) {
    if (this.here.has(name)) return this.here.get(name);
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    this.here.delete(name);
    try {
      localStorage.setItem(name, value);
    } catch {
      this.here.set(name, String(value));
    }
  },
};

function wanted() {
  // the language: the one that was chosen, else the browser's first one that there is
  const all = [kept.get("language"), ...(navigator.languages ?? [navigator.language])];
  return all.map((one) => String(one ?? "").split("-")[0]).find((one) => one in facts.languages) ?? "en";
}
let language = wanted();
document.documentElement.lang = language;

function tr(text, values = {}) {
  const found = (facts.texts[language]?.[text] ?? text).replace(/ %/g, "\u00a0%");
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}
const said = (text) => text; // marks a text that is translated by its name where it is shown
// Sentences one after the other: no space follows a full stop that has its own, as in Chinese.
const sentences = (...all) => all.join(" ").replace(/([。！？]) /g, "$1");
const inLanguage = (texts) => texts?.[language] ?? texts?.en ?? "";
const gameName = ({ title }) => inLanguage(title).replace(/ \(.*\)$/, ""); // its parameters are said in the rules
const number = (value) => Math.round(value).toLocaleString(language);

// h("button.tile", {onclick, "aria-pressed": true}, "text", other): an element with classes, attributes, children.
function h(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split("."),
    element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

// Icons: strokes on a field of 24 x 24.
const ICONS = {
  undo: "M9 5 4 10l5 5M4 10h10a5 5 0 0 1 0 10h-4",
  hint: "M9 18h6M10 21h4M8.5 15a6 6 0 1 1 7 0c-.8.6-1 1.4-1 3h-5c0-1.6-.2-2.4-1-3z",
  flag: "M6 21V4M6 4c4-2 7 2 12 0v9c-5 2-8-2-12 0",
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h16",
  first: "M18 6l-7 6 7 6M7 6v12",
  back: "M15 6l-7 6 7 6",
  on: "M9 6l7 6-7 6",
  last: "M6 6l7 6-7 6M17 6v12",
  deepen: "M12 4v12M7 12l5 5 5-5M5 21h14",
  stop: "M7 7h10v10H7z",
  swap: "M7 4v14M7 4 3.5 8M7 4l3.5 4M17 20V6M17 20l3.5-4M17 20l-3.5-4",
  look: "M4 19V9M10 19V5M16 19v-7M21 19H3",
  close: "M6 6l12 12M18 6 6 18",
  again: "M5 12a7 7 0 1 0 2.5-5.4M8 3v4H4",
  eye: "M2 12s3.6-6 10-6 10 6 10 6-3.6 6-10 6S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6",
  home: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  tree: "M3 10h4v4H3zM16 4h5v4h-5zM16 16h5v4h-5zM7 12h4M16 6h-2q-3 0-3 3v6q0 3 3 3h2",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
};
function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24",
    width: 22,
    height: 22,
    fill: "none",
    "aria-hidden": "true",
    stroke: "currentColor",
    "stroke-width": 1.8,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  }))
    svg.setAttribute(key, value);
  svg.classList.add("icon");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

// Light or dark: as the system has it, until somebody chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
function showTheme() {
  const theme = kept.get("theme") ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  document.querySelector("meta[name=theme-color]").content = theme === "dark" ? "#14171b" : "#f3f4f6";
  return theme;
}
dark.addEventListener("change", showTheme);
showTheme();

// The button that changes to the other language; then `shown` draws the page again.
function languageButton(shown) {
  const other = Object.keys(facts.languages).find((one) => one !== language);
  if (!other) return null;
  const change = () => {
    language = other;
    kept.set("language", other);
    shown();
  };
  return h("button.button.bare.word", { type: "button", lang: other, onclick: change }, facts.languages[other]);
}
