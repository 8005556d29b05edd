// The first view: games as pictures, in groups.

const GROUPS = { now: () => tr("Play now"), sizes: () => tr("More sizes"), yours: () => tr("Yours") };

function stands({ elo, size, yours }) {
  if (yours) {
    const version = tr("yours, version {version}", { version: yours.version });
    const [, sims] = String(yours.stronger_than ?? "").split(":");
    if (!yours.stronger_than) return version;
    const than = sims ? tr("rollouts of {sims}", { sims: number(Number(sims)) }) : yours.stronger_than;
    return `${version}, ${tr("stronger than {player}", { player: than })}`;
  }
  return [elo === null ? "" : `Elo ${number(elo)}`, size ? `${(size / 1e6).toFixed(1)} MB` : ""]
    .filter(Boolean)
    .join(" · ");
}
// A game's name with its parameters as words: "Go 5x5, komi 24.5".
const PARAMETERS = {
  komi: (value) => tr("komi {value}", { value }),
  swap: () => tr("swap"),
  rule: (value) => ({ renju: tr("renju"), exact: tr("exactly five") })[value] ?? value,
  rows: (value) => tr("{value} rows", { value }),
  columns: (value) => tr("{value} columns", { value }),
};
function titleOf(texts) {
  const [, name, given] = /^(.*?)(?: \((.*)\))?$/.exec(inLanguage(texts));
  const words = (given ?? "")
    .split(/, ?/)
    .filter((one) => one.includes("="))
    .map((one) => one.split("="))
    .map(([key, value]) => PARAMETERS[key]?.(value) ?? `${key} ${value}`);
  return [name, ...words].join(", ");
}
const SHOWN = 8; // tiles of a group of sizes before the rest is unfolded
const gameTile = (tile) =>
  h(
    "a.game",
    { href: tile.url },
    picture(tile.drawing, tile.start.cells ?? tile.start),
    h("b", {}, titleOf(tile.name)),
    h("span.soft.small", {}, stands(tile)),
    unfinishedIn(tile.spec) ? h("span.badge", {}, tr("a game is waiting")) : null,
  );
// Whether the browser keeps a game that is not over.
const unfinishedIn = (spec) => Boolean(kept.get(`game:${spec}`));

function atWork(training) {
  if (!training.length) return null;
  return h(
    "section.card.working",
    { "aria-label": tr("Running now") },
    h("h2", {}, tr("Running now")),
    training.map((one) =>
      h(
        "a.job",
        { href: `/training?run=${encodeURIComponent(one.name)}` },
        h("b", {}, one.label),
        h("span.soft", {}, one.words),
      ),
    ),
  );
}

function tilesOf(key, tiles) {
  const folds = key === "sizes" && tiles.length > SHOWN + 2,
    box = h("div.games", {}, (folds ? tiles.slice(0, SHOWN) : tiles).map(gameTile));
  if (!folds) return [box];
  const more = button(null, tr("All {count}", { count: number(tiles.length) }), () => {
    box.replaceChildren(...tiles.map(gameTile));
    box.children[SHOWN].focus();
    more.remove();
  });
  return [box, more];
}
view(() => {
  const groups = h("div.groups", { "aria-busy": "true" }, h("p.soft", {}, tr("Loading ...")));
  tried(() => server.get("home")).then((found) => {
    groups.removeAttribute("aria-busy");
    if (!found) {
      groups.replaceChildren();
      return;
    }
    const parts = found.groups
      .filter(({ tiles }) => tiles.length)
      .map(({ key, tiles }) =>
        h(
          "section.group",
          { class: `group ${key}`, "aria-label": GROUPS[key]() },
          h("h2", {}, GROUPS[key]()),
          ...tilesOf(key, tiles),
        ),
      );
    groups.replaceChildren(...[atWork(found.training), ...parts].filter(Boolean));
  });
  return [groups];
});
