// The stored games of runs as small boards, with filters; "mine" are those that this browser keeps.

const KINDS = { "self-play": () => tr("Self-play"), tournament: () => tr("Tournament"), mine: () => tr("Mine") };
const RESULTS = {
  "": said("any result"),
  1: said("first won"),
  0: said("draw"),
  "-1": said("second won"),
  left: said("not finished"),
};
const PAGE = 24;
const asked = new URLSearchParams(location.search);
const chosen = {
  kind: asked.get("kind") in KINDS ? asked.get("kind") : "self-play",
  name: asked.get("run") ?? "",
  iteration: "",
  result: "",
  version: "",
  least: "",
  most: "",
  from: 0,
};
// The games that the game's page keeps (page.js), each with its board.
function ownGames() {
  const boards = {};
  const board = (spec) => (boards[spec] ??= JSON.parse(kept.get(`mine:${spec}`)));
  try {
    const found = JSON.parse(kept.get("mine") ?? "[]");
    return found
      .filter((one) => Array.isArray(one?.moves) && Array.isArray(one.cells) && board(one.board))
      .map((one) => ({ ...one, board: board(one.board) }))
      .reverse();
  } catch {
    return []; // nothing is kept, or nothing of ours
  }
}

const outcome = (result, names) =>
  result === null || result === undefined
    ? tr("not finished")
    : result === 0
      ? tr("draw")
      : tr("{side} won", { side: inLanguage(names)[result > 0 ? 0 : 1] });
function smallBoard(one, board, href) {
  const length = inOne(one.length ?? one.moves.length, said("1 move"), said("{count} moves"));
  const lines = [outcome(one.result, board.sideNames), one.who, length].filter(Boolean);
  return h(
    "a.stored",
    { href, title: lines.join(", ") },
    picture(board.drawing, one.cells, { last: one.last ?? -1 }),
    lines.map((text, i) => h(i ? "span.soft" : "b", {}, text)),
  );
}
const mineOf = () =>
  ownGames()
    .map((one, number) => ({ ...one, number }))
    .filter(
      (one) =>
        (chosen.result === "" || (one.result === null ? "left" : String(one.result)) === chosen.result) &&
        (!chosen.least || one.moves.length >= chosen.least) &&
        (!chosen.most || one.moves.length <= chosen.most),
    );

view(() => {
  const filters = h("div.filters"),
    words = h("p.soft", { role: "status" }, tr("Loading ...")),
    boards = h("div.stored-games"),
    pages = h("div.row.walk");
  let runs = [],
    answer = null;

  const field = (label, part) => h("label.field", {}, h("span", {}, label), part);
  const count = (key) => {
    const box = h("input", {
      type: "number",
      min: 0,
      value: chosen[key],
      onchange: () => {
        chosen[key] = box.value;
        chosen.from = 0;
        read();
      },
    });
    return box;
  };
  const set = (key) => (value) => {
    Object.assign(chosen, { from: 0, [key]: value }, key === "name" ? { iteration: "", version: "" } : {});
    read();
  };
  function showFilters() {
    const mine = chosen.kind === "mine";
    const parts = [
      choice(
        tr("kind of games"),
        Object.entries(KINDS).map(([key, name]) => [key, name()]),
        chosen.kind,
        set("kind"),
      ),
      mine
        ? null
        : field(
            tr("run"),
            select(
              tr("run"),
              runs.map(({ name, label }) => [name, label ?? name]),
              chosen.name,
              set("name"),
            ),
          ),
      mine
        ? null
        : field(
            tr("iteration"),
            select(
              tr("iteration"),
              [["", tr("all")], ...(answer?.iterations ?? []).map((one) => [one, one])],
              chosen.iteration,
              set("iteration"),
            ),
          ),
      field(
        tr("result"),
        select(
          tr("result"),
          Object.entries(RESULTS).map(([key, text]) => [key, tr(text)]),
          chosen.result,
          set("result"),
        ),
      ),
      mine || !answer?.versions?.length
        ? null
        : field(
            tr("version"),
            select(
              tr("version"),
              [["", tr("any")], ...answer.versions.map((one) => [one, one])],
              chosen.version,
              set("version"),
            ),
          ),
      field(tr("moves from"), count("least")),
      field(tr("to"), count("most")),
      mine && ownGames().length
        ? button(null, tr("Delete all"), () =>
            ask(tr("Delete all your games from this browser?"), tr("Delete"), () => {
              kept.set("mine", "[]");
              read();
            }),
          )
        : null,
    ];
    swapIn(filters, ...parts);
  }
  const show = (all, ofBoard, href, total) => {
    boards.replaceChildren(...all.map((one) => smallBoard(one, ofBoard(one), href(one))));
    words.textContent =
      total > PAGE
        ? tr("{count} games, {first} to {end} shown", {
            count: number(total),
            first: chosen.from + 1,
            end: chosen.from + all.length,
          })
        : inOne(total, said("1 game"), said("{count} games"));
    const step = (name, label, to) =>
      button(
        name,
        label,
        () => {
          chosen.from = to;
          read();
        },
        { bare: true, key: name, off: to < 0 || to >= total },
      );
    swapIn(
      pages,
      ...(total > PAGE
        ? [
            step("back", tr("games before these"), chosen.from - PAGE),
            step("on", tr("games after these"), chosen.from + PAGE),
          ]
        : []),
    );
  };
  async function read() {
    if (chosen.kind === "mine") {
      answer = null;
      showFilters();
      const all = mineOf();
      show(
        all.slice(chosen.from, chosen.from + PAGE),
        (one) => one.board,
        (one) => `${one.url}#own=${one.key}`,
        all.length,
      );
      if (!ownGames().length) words.textContent = tr("Games that you play are kept here, in this browser.");
      return;
    }
    if (!chosen.name) {
      showFilters();
      boards.replaceChildren();
      words.textContent = tr("There is no run with games yet: Training starts one.");
      return;
    }
    const { kind, ...rest } = chosen;
    const found = await tried(() => server.get("games", { ...rest, kind, iteration: rest.iteration || "all" }));
    if (kind !== chosen.kind) return; // another kind was chosen meanwhile
    answer = found;
    showFilters();
    if (found)
      show(
        found.games,
        (one) => found.boards[one.board],
        (one) => one.url,
        found.count ?? found.games.length,
      );
    else boards.replaceChildren();
    if (found && !found.games.length) words.textContent = tr("no games");
  }
  tried(() => server.get("runs")).then((found) => {
    runs = (found?.runs ?? []).filter((one) => !one.ships || one.games);
    if (!runs.some(({ name }) => name === chosen.name)) chosen.name = runs[0]?.name ?? "";
    const named = asked.has("kind") || asked.has("run"),
      trained = runs.some((one) => !one.ships);
    if (!named && !trained && (ownGames().length || !runs.length)) chosen.kind = "mine";
    read();
  });
  return [h("section.card", { "aria-label": tr("Games") }, filters, words, boards, pages)];
});
