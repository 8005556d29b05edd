// After two passes: stones that the network expects to be taken are marked as dead, and all who play confirm them, or
// play on. The result stays that of the rules, which count the board as it stands; the other count is shown with it.

const counting = {
  can: Boolean(facts.ownership && facts.resumes && facts.setsUp),
  at: null, // {position, owned, dead: Set(points), agreed: Set(sides), count: {score, owners} without the dead stones}
  // What is counted on the board that is shown, null where nothing is.
  get now() {
    return view === "play" && !table.result && this.at?.position === here() ? this.at : null;
  },
  // Begins where two passes have ended a game of people; returns whether it has.
  async begins() {
    const { moves, positions } = table,
      position = ending();
    if (!this.can || !people().length || !moves.slice(-2).every((action) => pointOfAction(action) < 0)) return false;
    const at = { position, dead: new Set(), agreed: new Set() };
    at.owned = (await territory.of(moves.slice(0, -2), positions.at(-3)))?.owned;
    if (!at.owned) return false;
    for (const group of groupsOf(position.cells))
      if (this.expectedDead(at, group)) group.forEach((point) => at.dead.add(point));
    await this.count(at);
    this.at = at;
    return true;
  },
  // Whether the other is likelier to own its points.
  expectedDead: ({ position: { cells }, owned }, group) =>
    group.reduce((sum, point) => sum + owned[point] * cells[point], 0) < 0,
  async count(at) {
    at.count = await engine.call("count", { cells: at.position.cells.map((cell, p) => (at.dead.has(p) ? 0 : cell)) });
  },
  // A group is dead or alive: the other than before.
  async tap(point) {
    const at = this.now,
      group = groupOf(at.position.cells, point);
    for (const one of group) at.dead.has(one) ? at.dead.delete(one) : at.dead.add(one);
    at.agreed.clear();
    await this.count(at);
    render();
  },
  // Whether the machine sees a group otherwise than it is marked, to its harm.
  get disputed() {
    const { cells } = this.at.position;
    return (
      me() !== null &&
      groupsOf(cells).some((group) => {
        const dead = this.at.dead.has(group[0]);
        return dead !== this.expectedDead(this.at, group) && dead === (cells[group[0]] !== me());
      })
    );
  },
  agree(one) {
    const { agreed, dead, count } = this.at;
    agreed.add(one);
    if (people().every((other) => agreed.has(other)))
      finish({ winner: ending().result, why: "rules", dead: [...dead], count });
    else render();
  },
  // Takes the passes back, as far as it is a person's turn then.
  playOn() {
    stopThinking();
    const last = me() !== null && table.positions.at(-3).player !== me() ? 1 : 2;
    table.moves.splice(-last);
    table.positions.splice(-last);
    table.ply = table.moves.length;
    lastValue.clear();
    clock.press(null, ending().player);
    render();
  },
  // What the board shows: dead stones, and who owns which point without them.
  shown() {
    const at = this.now ?? (!side && table.ply === table.moves.length && table.result?.dead ? table.result : null);
    return at ? { dead: new Set(at.dead), counted: { ...here(), owners: at.count.owners } } : {};
  },
  statusText() {
    const { size } = this.at.dead;
    return sentences(
      size === 1 ? tr("1 dead stone.") : tr("{count} dead stones.", { count: size }),
      this.disputed
        ? tr("{side} does not agree: play on to settle it.", { side: nameOf(-me()) })
        : tr("Tap a group to change it."),
    );
  },
  buttons() {
    const yes = (one) =>
      button(null, me() === null ? tr("{side} agrees", { side: sideName(one) }) : tr("Count"), () => this.agree(one), {
        key: `count${one}`,
        main: true,
        off: this.disputed || this.at.agreed.has(one),
      });
    return [...people().map(yes), button("on", tr("Play on"), () => this.playOn(), { key: "play-on" })];
  },
  // Both counts, {winner, points}: as the board stands, and without the dead stones.
  table({ dead, count }) {
    const row = (name, score) => {
      const lead = score[0] - score[1];
      return h(
        "tr",
        {},
        h("td", {}, name),
        STONES.map((one) => h("td", {}, pointsOf({ score }, one))),
        h("td", {}, lead ? `${sideName(Math.sign(lead))} +${Math.abs(lead)}` : tr("drawn")),
      );
    };
    return h(
      "table.found.count",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["", ...STONES.map(sideName), ""].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        row(tr("as it stands"), ending().score),
        dead.size || dead.length ? row(tr("without dead stones"), count.score) : null,
      ),
    );
  },
  card() {
    const { dead } = this.at;
    return card("counting", tr("The count"), [
      h("p.soft", {}, tr("Marked are the stones that the network expects to be taken.")),
      this.table(this.at),
      dead.size ? h("p.soft", {}, tr("The rules count all that stands. Play on and take dead stones that are to count.")) : null,
    ]);
  },
};

// The points of the chain of stones through a point, and all chains.
function groupOf(cells, point) {
  const group = [point],
    seen = new Set(group);
  for (const p of group)
    for (const [dr, dc] of [
      [0, 1],
      [1, 0],
      [0, -1],
      [-1, 0],
    ]) {
      const r = Math.floor(p / columns) + dr,
        c = (p % columns) + dc,
        next = r * columns + c;
      if (!inside(r, c) || cells[next] !== cells[point] || seen.has(next)) continue;
      seen.add(next);
      group.push(next);
    }
  return group;
}
function groupsOf(cells) {
  const seen = new Set(),
    groups = [];
  for (const point of cells.keys()) {
    if (!isStone(cells[point]) || seen.has(point)) continue;
    const group = groupOf(cells, point);
    group.forEach((one) => seen.add(one));
    groups.push(group);
  }
  return groups;
}
