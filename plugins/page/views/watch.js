// Watch it learn: one position as the versions of a run see it, without search; milestones; a version to play against.

const BOARDS = 8;
function watchRun(box, name) {
  const state = {
    name,
    versions: [],
    games: {}, // {version: games before it}
    known: { shares: {}, kinds: {} }, // what each version can
    positions: [],
    position: "start",
    at: 0,
    looks: new Map(),
    playing: null,
  };
  const row = h("div.versions"),
    look = h("div.look"),
    bar = h("div.row.slider"),
    miles = h("div.milestones"),
    choose = h("div.row"),
    words = h("p.soft", { role: "status" });
  box.onpause?.();
  const alive = () => box.contains(row) && state.name === name;
  const pause = () => {
    clearInterval(state.playing);
    state.playing = null;
  };
  box.onpause = pause;
  box.replaceChildren(
    h("h2", {}, tr("Watch it learn")),
    h("p.soft", {}, tr("One position, as each version sees it before any search.")),
    choose,
    words,
    row,
    bar,
    look,
    miles,
  );
  if (!name) {
    box.hidden = true;
    return;
  }
  box.hidden = false;

  const spread = () => {
    // the versions of the row: the first, the last, and some between, closer together at the start, where most is learned
    const { versions } = state,
      last = versions.length - 1;
    if (last < BOARDS) return [...versions.keys()];
    return [...new Set([...Array(BOARDS).keys()].map((i) => Math.round(last * (i / (BOARDS - 1)) ** 1.7)))];
  };
  const asked = new URLSearchParams(location.search),
    moves = asked.get("moves") ?? "";
  async function lookOf(version) {
    const key = `${state.position} ${version}`;
    if (!state.looks.has(key))
      state.looks.set(
        key,
        server.get("look", {
          name,
          version,
          position: state.position,
          moves: state.position === "moves" ? moves : "",
        }),
      );
    return state.looks.get(key);
  }
  const marksOf = (found) => {
    const most = Math.max(...Object.values(found.policy), 1e-9);
    return Object.entries(found.policy)
      .filter(([action, p]) => Math.round(100 * p) >= 1 && (found.points?.[action] ?? -1) >= 0)
      .map(([action, p]) => [found.points[action], Math.round(100 * p), p / most]);
  };
  const shareRow = (name, p) => {
    const share = h("span.share", { "aria-hidden": "true" });
    share.style.width = `${Math.max(120 * p, 1)}px`;
    return h("tr", {}, h("td", {}, name), h("td", {}, share, percentOf(p)));
  };
  const abilities = (shares) =>
    shares && Object.keys(shares).length
      ? h(
          "table.found.abilities",
          {},
          h("caption", {}, tr("It alone, in positions made from the rules")),
          h(
            "tbody",
            {},
            Object.entries(shares).map(([kind, p]) => shareRow(state.known.kinds[kind], p)),
          ),
        )
      : null;
  const signedOf = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(2);

  async function showRow() {
    const places = spread();
    row.replaceChildren(
      ...places.map((i) =>
        h(
          "button.version",
          { type: "button", "data-at": i, "data-key": `v${i}`, onclick: () => go(i) },
          h("span.picture"),
          h("span", {}, tr("version {number}", { number: state.versions[i] })),
        ),
      ),
    );
    for (const i of places) {
      const found = await tried(() => lookOf(state.versions[i]));
      if (!found || !alive()) return;
      const one = row.querySelector(`[data-at="${i}"]`);
      one?.firstElementChild.replaceWith(
        picture(found.drawing, [...found.position.cells], { marks: marksOf(found) }),
      );
      if (one && one.childElementCount === 2) one.append(h("b", {}, signedOf(found.value)));
    }
    mark();
  }
  const mark = () => {
    for (const one of row.children) one.setAttribute("aria-pressed", String(Number(one.dataset.at) === state.at));
  };
  async function go(at) {
    state.at = Math.min(Math.max(at, 0), state.versions.length - 1);
    mark();
    showBar();
    const version = state.versions[state.at],
      found = await tried(() => lookOf(version));
    if (!found || !alive() || version !== state.versions[state.at]) return;
    const liked = Object.entries(found.policy)
      .sort(([, a], [, b]) => b - a)
      .slice(0, 5);
    swapIn(
      look,
      picture(found.drawing, [...found.position.cells], {
        marks: marksOf(found),
        label: tr("version {number}", { number: version }),
      }),
      h(
        "div.said",
        {},
        h("h3", {}, tr("version {number}", { number: version })),
        version in state.games
          ? h("p.soft", {}, tr("after {count} games against itself", { count: number(state.games[version]) }))
          : null,
        h("p", {}, tr("value for the side to move {value}", { value: signedOf(found.value) })),
        h(
          "table.found",
          {},
          h("caption.voice", {}, tr("the moves that it likes best")),
          h(
            "tbody",
            {},
            liked.map(([action, p]) => shareRow(found.names?.[action] ?? action, p)),
          ),
        ),
        found.right?.length
          ? h("p", {}, tr("Right: {moves}", { moves: found.right.map((action) => found.names[action]).join(", ") }))
          : null,
        abilities(state.known.shares[version]),
        found.url
          ? h(
              "a.button",
              { href: found.url, "data-key": "against" },
              tr("Play version {number}", { number: version }),
            )
          : null,
      ),
    );
  }
  function showBar() {
    if (bar.firstChild) {
      bar.querySelector("input").value = state.at;
      return;
    }
    const slider = h("input", {
      type: "range",
      min: 0,
      max: Math.max(state.versions.length - 1, 0),
      value: state.at,
      "aria-label": tr("version"),
      oninput: () => {
        pause();
        go(Number(slider.value));
      },
    });
    const toggle = button(
      "on",
      tr("one version after the other, or pause"),
      () => {
        if (state.playing) return pause();
        if (state.at === state.versions.length - 1) go(0);
        state.playing = setInterval(
          () => (alive() && state.at < state.versions.length - 1 ? go(state.at + 1) : pause()),
          700,
        );
      },
      { bare: true },
    );
    bar.replaceChildren(toggle, slider);
  }
  async function begin() {
    const found = await tried(() => server.get("versions", { name }));
    if (!found || !alive()) return;
    const newest = state.at === state.versions.length - 1, // what is new is shown to who looks at the newest
      first = !state.versions.length;
    if (!first && found.versions.length === state.versions.length) return;
    const own = moves && runs.some((one) => one.name === name && one.game === asked.get("game"));
    const positions = own
      ? [{ key: "moves", name: tr("the position on the board") }, ...found.positions]
      : found.positions;
    Object.assign(state, {
      versions: found.versions,
      games: found.games ?? {},
      positions,
      position: first ? (positions[0]?.key ?? "start") : state.position,
    });
    if (!found.versions.length) {
      words.textContent = tr("There is no version yet.");
      return;
    }
    words.textContent = found.versions.length === 1 ? tr("This run has its last version only.") : "";
    const showChoice = () =>
      swapIn(
        choose,
        h(
          "label.field",
          {},
          h("span", {}, tr("position")),
          select(
            tr("position"),
            positions.map((one) => [one.key ?? one, one.name ?? one]),
            state.position,
            (key) => {
              state.position = key;
              pause();
              showRow();
              go(state.at);
            },
          ),
        ),
      );
    showChoice();
    bar.hidden = row.hidden = found.versions.length < 2;
    if (newest || first) state.at = found.versions.length - 1;
    bar.replaceChildren();
    go(state.at);
    if (!row.hidden) await showRow();
    const known = await server.get("milestones", { name }).catch(() => null);
    if (!alive() || !known) return;
    state.known = known;
    go(state.at);
    if (!known.words.length) return;
    miles.replaceChildren(
      h("h3", {}, tr("Milestones")),
      h(
        "ol",
        {},
        known.words.map((one) => {
          const { text, version } = typeof one === "string" ? { text: one, version: null } : one;
          const at = state.versions.indexOf(version);
          return h("li", {}, at < 0 ? text : h("button.link", { type: "button", onclick: () => go(at) }, text));
        }),
      ),
      h(
        "p.soft",
        {},
        tr(
          "By the network alone, on positions made from the rules: right in more than nine of ten, from that version on.",
        ),
      ),
    );
  }
  box.refresh = begin;
  begin();
}
