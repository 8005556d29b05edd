// The head of a view and its place; what all views do with runs, boards and faults.

const VIEW_NAMES = [
  ["home", "/", () => tr("Play")],
  ["games", "/games", () => tr("Games")],
  ["training", "/training", () => tr("Training")],
];
const place = h("main.sheet", { class: `sheet ${facts.view}` }),
  note = h("p.note", { role: "status", hidden: true });
let say = (text) => {
  note.textContent = text;
  note.hidden = !text;
};
// Does something that may fail; what fails is one line on the page.
async function tried(deed) {
  try {
    say("");
    return await deed();
  } catch (error) {
    console.warn(error);
    say(error instanceof ServerFault ? error.message : tr("This did not work: {reason}", { reason: error.message }));
    return null;
  }
}
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  say(String(event.reason?.message ?? event.reason));
});

function masthead(show) {
  document.documentElement.lang = language;
  const [, , title] = VIEW_NAMES.find(([key]) => key === facts.view);
  document.title = `${title()} · AlphaZero`;
  return h(
    "header.masthead.wide",
    {},
    h("a.name", { href: "/" }, "AlphaZero"),
    h(
      "nav",
      { "aria-label": tr("views") },
      VIEW_NAMES.map(([key, href, name]) =>
        h("a", { href, "aria-current": key === facts.view ? "page" : null }, name()),
      ),
    ),
    button(
      "theme",
      tr("light or dark"),
      () => {
        kept.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
        showTheme();
      },
      { bare: true },
    ),
    languageButton(show),
  );
}
// Puts a view's parts on the page, and again when the language changes; show: returns the parts, and begins to read.
function view(show) {
  const all = () => {
    document.body.className = "view";
    document.body.replaceChildren(masthead(all), note, place);
    say("");
    place.replaceChildren(...show());
  };
  all();
}

const inOne = (count, one, many) => tr(count === 1 ? one : many, { count: number(count) });
const percentOf = (share) => `${Math.round(100 * share)}\u00a0%`;
const minutesOf = (seconds) =>
  seconds >= 3600
    ? `${Math.floor(seconds / 3600)}:${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`
    : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
