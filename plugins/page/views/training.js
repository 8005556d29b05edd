// Runs: what is trained now with figures each second, the run that is displayed with its curves and newest game, and the
// start of a new one.

const shown = {
  name: new URLSearchParams(location.search).get("run") ?? "",
  compare: "",
  more: false,
};
const STAGES = {
  "self-play": () => tr("self-play"),
  retrain: () => tr("retraining"),
  tournament: () => tr("tournament"),
  score: () => tr("scoreboard"),
};
let runs = [],
  closeEvents = null,
  playing = null; // {game, ply, timer} of the newest game

const named = () => runs.filter(({ name }) => name);
// The run that is displayed at first: one at work, else one of the person's own.
const askedGame = new URLSearchParams(location.search).get("game");
const firstOf = (all) =>
  (
    all.find((one) => one.name && askedGame && one.game === askedGame) ??
    all.find((one) => one.name && one.process) ??
    all.find((one) => one.name && !one.ships) ??
    all.find((one) => one.name)
  )?.name ?? "";
function figures(now) {
  // the live numbers of a run at work
  const list = [
    [tr("iteration"), number(now.iteration)],
    [tr("stage"), (STAGES[now.stage]?.() ?? now.stage) + (now.share === null ? "" : ` ${percentOf(now.share)}`)],
    [tr("games in this iteration"), now.games === null ? "" : number(now.games)],
    [tr("evaluations a second"), now.evaluations_per_second ? number(now.evaluations_per_second) : ""],
    [tr("running for"), now.minutes === null || now.minutes === undefined ? "" : minutesOf(60 * now.minutes)],
    [tr("still to go, about"), now.seconds_left === null ? "" : minutesOf(now.seconds_left)],
  ];
  return h(
    "dl.figures",
    {},
    list.filter(([, value]) => value).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))),
  );
}

view(() => {
  const parts = {
    choose: h("div.filters"),
    words: h("p.status.left", { role: "status" }),
    live: h("div.live"),
    facts: h("dl.figures.still"),
    curves: h("div.curves"),
    work: h("div.jobs"),
    start: h("div.start-form"),
    newest: h("div.newest"),
    log: h("pre.log", { tabindex: 0, "aria-label": tr("Log") }),
    watch: h("section.card.watch", { "aria-label": tr("Watch it learn") }),
  };
  closeEvents?.();
  clearInterval(playing?.timer);
  playing = null;
  let latest = null; // the latest answer about the run

  // ---- the run that is displayed

  function chooseRun(name) {
    Object.assign(shown, { name, compare: "" });
    history.replaceState(null, "", name ? `/training?run=${encodeURIComponent(name)}` : "/training");
    listen();
    read();
    parts.curves[name.startsWith("early/") ? "before" : "after"](parts.watch); // what early versions are there for
    watchRun(parts.watch, name);
  }
  function showChoice() {
    const now = runs.find(({ name }) => name === shown.name);
    const field = (label, part) => h("label.field", {}, h("span", {}, label), part);
    swapIn(
      parts.choose,
      field(
        tr("run"),
        select(
          tr("run"),
          named().map(({ name, label }) => [name, label ?? name]),
          shown.name,
          chooseRun,
        ),
      ),
      field(
        tr("compare with"),
        select(
          tr("compare with"),
          [
            ["", tr("none")],
            ...named()
              .filter(({ name, game }) => name !== shown.name && game === now?.game)
              .map(({ name, label }) => [name, label ?? name]),
          ],
          shown.compare,
          (name) => {
            shown.compare = name;
            read();
          },
        ),
      ),
      now && !now.ships && !now.finished && !now.process && !now.busy
        ? button("again", tr("Resume"), () => begin({ game: now.game, resume: now.name.split("/").pop() }), {
            key: "resume",
            title: tr("continue this run"),
          })
        : null,
      now ? h("a.button", { href: `/games?run=${encodeURIComponent(now.name)}` }, tr("Games")) : null,
    );
  }
  async function read() {
    const { name, compare } = shown;
    showChoice();
    if (!name) {
      parts.words.textContent = tr("There is no run yet.");
      return;
    }
    const found = await tried(() => server.get("run", { name, compare }));
    if (!found || name !== shown.name) return;
    latest = found;
    parts.words.textContent = found.words;
    parts.facts.replaceChildren(
      ...Object.entries(found.facts).map(([label, value]) =>
        h("div", {}, h("dt", {}, label), h("dd", {}, typeof value === "number" ? number(value) : value)),
      ),
    );
    showCurves();
    parts.log.textContent = found.log || tr("nothing yet");
    parts.log.scrollTop = parts.log.scrollHeight;
    showNewest(found);
    parts.watch.refresh?.();
  }
  function showCurves() {
    const all = latest.curves,
      first = all.filter(({ more }) => !more),
      folded = all.filter(({ more }) => more);
    const one = (curve) => {
      const box = h("figure.curve-card", {
        class: `curve-card${curve.first ? " first" : ""}`,
        "data-curve": curve.key,
      });
      box.append(drawnByUs(curve.svg));
      return box;
    };
    swapIn(
      parts.curves,
      ...(shown.more ? all : first).map(one),
      folded.length
        ? button(
            null,
            shown.more ? tr("Fewer curves") : tr("More curves"),
            () => {
              shown.more = !shown.more;
              showCurves();
            },
            { key: "more" },
          )
        : null,
    );
  }
  function showNewest({ newest, board }) {
    if (newest && playing?.key === JSON.stringify(newest.moves)) return;
    if (playing && newest && playing.ply < playing.game.positions.length && playing.name === shown.name) {
      playing.next = newest; // the game that is played ends first
      return;
    }
    clearInterval(playing?.timer);
    playing = null;
    if (!newest) {
      parts.newest.replaceChildren(h("p.soft", {}, tr("none yet")));
      return;
    }
    playing = { game: newest, key: JSON.stringify(newest.moves), ply: 0, name: shown.name };
    const box = h("div.newest-board"),
      said = h("p.soft.centre");
    parts.newest.replaceChildren(box, said);
    const step = () => {
      const { positions, values, moves, players } = newest,
        ply = Math.min(playing.ply, moves.length);
      box.replaceChildren(picture(board.drawing, positions[ply], { last: changedPoint(positions, ply) }));
      const value = values[ply];
      said.textContent =
        `${players.join(", ")}: ${tr("move {ply} of {count}", { ply, count: moves.length })}` +
        (value === undefined
          ? ""
          : `, ${tr("value for who began {value}", { value: (value > 0 ? "+" : "") + value.toFixed(2) })}`);
      playing.ply++;
      if (playing.ply > moves.length + 5) {
        const { next } = playing;
        playing.ply = 0;
        if (next) {
          playing.key = "";
          playing.ply = positions.length;
          showNewest({ newest: next, board });
        }
      }
    };
    step();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playing.timer = setInterval(step, 600);
    else {
      playing.ply = newest.moves.length;
      step();
    }
  }
  const changedPoint = (positions, ply) => {
    const now = positions[ply],
      before = positions[ply - 1];
    return before ? now.findIndex((cell, p) => cell && !before[p]) : -1;
  };

  // ---- what is trained now

  let atWork = {}; // {name: the latest standing}
  function listen() {
    closeEvents?.();
    closeEvents = server.events(shown.name, {
      runs: ({ runs: found }) => {
        const known = new Set(runs.map(({ name }) => name)),
          fresh = found.find((one) => one.name && !known.has(one.name) && one.mine);
        runs = found;
        if (fresh && known.size) chooseRun(fresh.name);
        else if (!found.some(({ name }) => name === shown.name)) chooseRun(firstOf(found));
        else showChoice();
        showWork();
      },
      standing: (now) => {
        atWork[now.name] = now;
        if (now.name && now.name === shown.name) {
          parts.live.replaceChildren(figures(now));
          parts.words.textContent = now.words;
        }
        showWork();
      },
      iteration: read,
    });
    parts.live.replaceChildren();
  }
  function showWork() {
    const isBusy = (one) => one.process || !one.name, // a training that has no run yet has no name
      busy = runs.filter(isBusy);
    for (const one of runs.filter((each) => !isBusy(each))) delete atWork[one.name];
    if (!busy.some(({ name }) => name === shown.name)) parts.live.replaceChildren();
    if (!busy.length) {
      parts.work.replaceChildren(h("p.soft", {}, tr("Nothing is being trained.")));
      return;
    }
    swapIn(
      parts.work,
      ...busy.map((one) => {
        const now = atWork[one.name];
        return h(
          "div.job",
          {},
          h("b", {}, one.label ?? one.name),
          h(
            "p.soft",
            { "aria-live": "off" },
            now?.words ?? (one.name ? tr("at work") : tr("{game}: starting ...", { game: one.game })),
          ),
          h("progress", { max: 1, value: now?.share ?? null, "aria-label": one.name }),
          h(
            "div.row",
            {},
            one.name === shown.name || !one.name
              ? null
              : button("look", tr("Show"), () => chooseRun(one.name), { key: `show${one.name}` }),
            one.mine
              ? button("stop", tr("Stop"), () => stop(one), {
                  key: `stop${one.name}`,
                  title: tr("end at the next commit; nothing is lost"),
                })
              : h("span.soft", {}, tr("process {number}, not of this page", { number: one.process })),
          ),
        );
      }),
    );
  }
  async function stop(one) {
    if (await tried(() => server.post("stop", { game: one.game })))
      say(tr("stopping at the next commit ... (press again to stop at once)"));
  }
  async function begin(wanted) {
    if (await tried(() => server.post("train", wanted))) {
      say(tr("{game}: starting ...", { game: wanted.game }));
      startButton?.focus();
    }
  }

  // ---- the start of a run

  const wanted = { game: new URLSearchParams(location.search).get("game") ?? "", preset: "", minutes: "" };
  let startButton = null;
  async function showStart() {
    const { games } = (await tried(() => server.get("options"))) ?? { games: [] };
    if (!wanted.game || !games.some(({ spec }) => spec === wanted.game)) wanted.game = games[0]?.spec ?? "";
    const fit = async () => {
      const { game } = wanted,
        found = wanted.game && (await tried(() => server.get("options", { game, minutes: wanted.minutes })));
      if (!found || game !== wanted.game) return;
      wanted.preset = found.presets.find(({ suits }) => suits)?.key ?? found.presets[0].key;
      wanted.minutes ||= found.minutes ?? "";
      form(games, found);
    };
    await fit();
    function sizes(lines) {
      return lines.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)));
    }
    function form(all, options) {
      const figures = h("dl.figures.still", {}, sizes(options.estimate));
      const about = h("p.soft", {}, options.presets.find(({ key }) => key === wanted.preset)?.about ?? "");
      const minutes = h("input", {
        type: "number",
        min: 1,
        step: 1,
        value: wanted.minutes,
        placeholder: tr("no limit"),
        oninput: async () => {
          wanted.minutes = minutes.value;
          if (!minutes.validity.valid) return;
          const found = await tried(() => server.get("options", { game: wanted.game, minutes: minutes.value }));
          if (found && figures.isConnected && wanted.minutes === minutes.value) swapIn(figures, ...sizes(found.estimate));
        },
      });
      const field = (label, part) => h("label.field", {}, h("span", {}, label), part);
      startButton = button(
        "on",
        tr("Start"),
        () =>
          begin({
            game: wanted.game,
            preset: wanted.preset,
            minutes: minutes.value ? Number(minutes.value) : null,
            resume: null,
          }),
        { key: "start", main: true, title: tr("start a new run") },
      );
      swapIn(
        parts.start,
        field(
          tr("game"),
          select(
            tr("game"),
            all.map(({ spec, name }) => [spec, inLanguage(name) || spec]),
            wanted.game,
            (spec) => {
              wanted.game = spec;
              fit();
            },
          ),
        ),
        h(
          "div.presets",
          { role: "group", "aria-label": tr("preset") },
          options.presets.map((one) =>
            h(
              "button.tile",
              {
                type: "button",
                "aria-pressed": String(one.key === wanted.preset),
                "data-key": `preset${one.key}`,
                onclick: () => {
                  wanted.preset = one.key;
                  form(all, options);
                },
              },
              h("b", {}, one.name ?? one.key),
              one.suits ? h("span", {}, tr("suits this game")) : null,
            ),
          ),
        ),
        about,
        figures,
        h("div.row", {}, field(tr("minutes at most"), minutes), startButton),
      );
    }
  }

  tried(() => server.get("runs")).then((found) => {
    runs = found?.runs ?? [];
    if (!runs.some(({ name }) => name === shown.name)) shown.name = firstOf(runs);
    showWork();
    chooseRun(shown.name);
  });
  showStart();
  return [
    h(
      "div.column",
      {},
      h("section.card.displayed", { "aria-label": tr("run") }, parts.choose, parts.words, parts.live, parts.facts),
      parts.curves,
      parts.watch,
    ),
    h(
      "div.column.narrow",
      {},
      h("section.card", { "aria-label": tr("Running now") }, h("h2", {}, tr("Running now")), parts.work),
      h("section.card", { "aria-label": tr("Start a run") }, h("h2", {}, tr("Start a run")), parts.start),
      h(
        "section.card",
        { "aria-label": tr("The newest self-play game") },
        h("h2", {}, tr("The newest self-play game")),
        parts.newest,
      ),
      h("details.card", {}, h("summary", {}, tr("Log")), parts.log),
    ),
  ];
});

// A picture that the server drew. Its texts were escaped there; a script would not run, by the page's policy.
function drawnByUs(svg) {
  const found = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return document.importNode(found, true);
}
