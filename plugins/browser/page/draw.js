// Draws a position: the board and its colours are the program's (facts.drawing), the stones and marks are put on here.

// A game without a board has no drawing: what it prints is shown, and its moves are buttons.
const NO_DRAWING = {
  look: "text",
  width: 400,
  height: 300,
  under: "",
  over: "",
  places: [],
  radius: 16,
  colours: { 1: ["#d0413f", "#8f2422"], "-1": ["#2f7fd0", "#17508c"] },
  marks: {},
};
const drawing = { ...(facts.drawing ?? NO_DRAWING) };

// Other colours of a board: what the program paints it with, and what stands there instead.
const THEMES = {
  points: {
    slate: { "#e9c184": "#b9c1c9", "#e2b673": "#aab3bc", "#d9aa64": "#9aa4ae", "#5e3f1a": "#39424b" },
    paper: { "#e9c184": "#f7f2e4", "#e2b673": "#f1ead8", "#d9aa64": "#e9e0ca", "#5e3f1a": "#6e6655" },
  },
  squares: {
    slate: { "#3e8a62": "#5a7f9c", "#12301f": "#1c2b38" },
    paper: { "#3e8a62": "#7f9a6b", "#12301f": "#2d3a22" },
  },
  holes: {
    slate: { "#4a86cf": "#6d7b8d", "#35598a": "#3f4a58" },
    paper: { "#4a86cf": "#5f9f8f", "#35598a": "#33655a" },
  },
  hexagons: {
    slate: { "#efe7d6": "#cfd6dd", "#7d7465": "#5d6874" },
    paper: { "#efe7d6": "#ffffff", "#7d7465": "#8a8f96" },
  },
  corners: {
    slate: { "#33414f": "#2b2f36", "#a3b3c2": "#8d97a5" },
    paper: { "#33414f": "#3b4a3f", "#a3b3c2": "#b5c4b4" },
  },
};
const THEME_NAMES = { own: said("classic"), slate: said("slate"), paper: said("light") };
const themes = ["own", ...Object.keys(THEMES[drawing.look] ?? {})];
const boardTheme = () => (themes.includes(kept.get("board")) ? kept.get("board") : "own");
function paintBoard() {
  const colours = THEMES[drawing.look]?.[boardTheme()] ?? {};
  for (const part of ["under", "over"])
    drawing[part] = Object.entries(colours).reduce(
      (text, [old, fresh]) => text.replaceAll(old, fresh),
      (facts.drawing ?? NO_DRAWING)[part],
    );
}
paintBoard();
const { marks: INKS } = drawing;
const at = (point) => drawing.places[point];

function stone(x, y, side, kind) {
  if (drawing.look === "marks" && side === 1)
    return `<path class="${kind}" d="M${x - 10} ${y - 10}l20 20m0 -20l-20 20"/>`;
  return `<circle class="${kind}" cx="${x}" cy="${y}" r="${drawing.look === "marks" ? 11 : drawing.radius}"/>`;
}
const ofSide = (side, shapes, more = "") =>
  shapes.length ? `<g class="side" ${drawing.paint[side]}${more}>${shapes.join("")}</g>` : "";
const word = (side) => (side === 1 ? "stone first" : "stone second");
const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// view: {position, before, overlay: Map(action, {heat, text}), lines: Map(action, [actions]), shown: action whose line
// is seen, hint: action, numbers: Map(point, number), clickable, waits, at: name of the position, area: [points],
// dead: Set(points), counted: {cells, owners, over}, the position without the dead stones}
function boardSvg(view) {
  const { position } = view,
    { cells } = position;
  const won = new Set(),
    lines = winningLines(position);
  lines.flat().forEach((point) => won.add(point));
  const change = changed(view.before, position),
    free = freePoints(position);
  const parts = [drawing.under, area(view.area ?? []), shade(cells), stones(cells, change, won, view.dead)];
  if (view.clickable && !position.over) parts.push(ghostOf(position.player));
  parts.push(drawing.over, legalMarks(position, free, view.overlay));
  for (const corners of scoredSquares(position)) parts.push(outline(corners, "scored", "z"));
  for (const line of lines)
    parts.push(outline(facts.look === "hexagons" ? line : [line[0], line[line.length - 1]], "won-line", ""));
  parts.push(lastMark(position, won, view.numbers), owned(view.counted ?? position));
  if (view.judged) parts.push(judgedMark(position, view.judged, view.before));
  if (view.ownership) parts.push(ownership(view.ownership));
  for (const [point, count] of view.numbers ?? [])
    if (isStone(cells[point])) parts.push(numberOn(point, cells[point], count));
  for (const [action, mark] of view.overlay ?? []) parts.push(overlayMark(position, action, mark));
  if (view.hint !== null && view.hint !== undefined) parts.push(hintRing(pointOf(position, view.hint), view.hint));
  for (const [action, line] of view.lines ?? []) parts.push(lineOf(position, action, line, view.shown === action));
  if (view.clickable) parts.push(clicks(cells, free));
  const words = { 0: tr("empty"), 1: sideName(1), "-1": sideName(-1) };
  const label = tr("{game}, {rows} rows, {columns} columns", { game: inLanguage(facts.title), rows, columns });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="board ${drawing.look}${drawing.capitals ? " capitals" : ""}" ` +
    `viewBox="0 0 ${drawing.width} ${drawing.height}" ` +
    `role="img" aria-label="${escaped(label)}" ` +
    `font-family="system-ui, sans-serif" font-size="12" text-anchor="middle" ` +
    `dominant-baseline="central" data-at="${escaped(view.at)}" data-turn="${drawing.colours[position.player][0]}" ` +
    `data-words="${escaped(JSON.stringify(words))}"` +
    `${view.waits ? ' data-waits=""' : ""}${position.over ? ' data-over=""' : ""}>` +
    parts.join("") +
    "</svg>"
  );
}

// Puts a drawing into its place. A policy that allows no styles in attributes allows them here.
function showBoard(stage, view) {
  if (!facts.drawing) {
    stage.replaceChildren(h("pre.printed", {}, view.position.text ?? ""));
    return;
  }
  stage.innerHTML = boardSvg(view);
  const svg = stage.firstElementChild,
    falling = svg.querySelector(".drop");
  svg.style.setProperty(
    "--edge-size",
    `${Math.min(13, (15 * drawing.width) / (stage.clientWidth || drawing.width))}px`,
  );
  if (falling) falling.style.setProperty("--fall", `-${falling.getAttribute("cy")}px`);
}

const sideName = (side) => inLanguage(facts.sideNames)[side === 1 ? 0 : 1];
const freePoints = (position) =>
  new Set(position.legal.map((action) => pointOf(position, action)).filter((p) => p >= 0));

function stones(cells, change, won, dead) {
  const sides = { 1: [], "-1": [] };
  let crosses = "";
  cells.forEach((cell, point) => {
    const [x, y] = at(point);
    if (cell === 2) crosses += `M${x - 6} ${y - 6}l12 12m0 -12l-12 12`;
    if (!isStone(cell)) return;
    const kinds = [
      word(cell),
      won.has(point) && "won",
      dead?.has(point) && "dead",
      change?.turned.includes(point) && "turned",
      change?.added === point && (drawing.look === "holes" ? "drop" : "new"),
    ];
    const shape = stone(x, y, cell, kinds.filter(Boolean).join(" "));
    sides[cell].push(dead?.has(point) ? shape.replace("/>", ' opacity=".45"/>') : shape);
  });
  const hidden = (point, side, kind) =>
    sides[side].push(stone(...at(point), side, kind).replace("/>", ' visibility="hidden"/>'));
  change?.gone.forEach(([point, side]) => hidden(point, side, "gone"));
  change?.turned.forEach((point) => hidden(point, -cells[point], "was"));
  return (
    ofSide(1, sides[1]) +
    ofSide(-1, sides[-1]) +
    (crosses ? `<path class="forbidden" d="${crosses}" stroke="${INKS.forbidden}" stroke-width="2.4"/>` : "")
  );
}

function dots(places, radius, paint) {
  // discs of one paint as one path: lines of no length with round ends
  const path = places.map(([x, y]) => `M${x} ${y}h0`).join("");
  return path && `<path d="${path}" fill="none" stroke-width="${2 * radius}" stroke-linecap="round" ${paint}/>`;
}
function shade(cells) {
  if (drawing.look === "marks" || drawing.look === "holes") return "";
  const places = [...cells.keys()].filter((p) => isStone(cells[p])).map(at);
  return dots(
    places.map(([x, y]) => [x + 1, y + 2.2]),
    drawing.radius + 0.4,
    'stroke="#000" stroke-opacity=".28"',
  );
}
const area = (points) => dots(points.map(at), 19, `class="area" stroke="${INKS.hint}" stroke-opacity=".5"`);

function outline(points, kind, end) {
  // bright with dark edges
  const path = `M${points.map((p) => at(p).join(" ")).join("L")}${end}`;
  const shape = `<path class="${kind}" d="${path}" fill="none" stroke-linecap="round" stroke-linejoin="round"`;
  return `${shape} stroke="${INKS.dark}" stroke-width="6.5"/>${shape} stroke="${INKS.bright}" stroke-width="3"/>`;
}

function lastMark(position, won, numbers) {
  const point = lastPoint(position),
    side = position.cells[point];
  if (point < 0 || !isStone(side)) return "";
  const [x, y] = at(point),
    [fill] = drawing.colours[side];
  if (drawing.look === "marks")
    return won.has(point) ? "" : `<circle class="last" cx="${x + 14}" cy="${y - 14}" r="3" fill="${fill}"/>`;
  const radius = numbers?.size ? drawing.radius - 3.5 : 6;
  const paint = `fill="none" stroke="${drawing.ink[side]}" stroke-width="2.4"`;
  return `<circle class="last" cx="${x}" cy="${y}" r="${radius}" ${paint}/>`;
}
// A dot on the person's last stone: what that move lost.
function judgedMark(position, { point, mark }) {
  if (point < 0 || !isStone(position.cells[point])) return "";
  const [x, y] = at(point),
    fill = { blunder: "#d6213b", mistake: "#e58a00", inaccuracy: "#3b8fd0" }[mark] ?? "#1f9d5f";
  return `<circle class="judged" cx="${x + 10}" cy="${y - 10}" r="5" fill="${fill}" stroke="${INKS.bright}" stroke-width="1.5"/>`;
}
// Who will own each point, as the network expects it: the larger the square, the surer. values: for who began.
function ownership(values) {
  return values
    .map((value, p) => {
      const size = 13 * Math.min(Math.abs(value), 1),
        [x, y] = at(p);
      if (size < 2) return "";
      const [fill, edge] = drawing.colours[value > 0 ? 1 : -1];
      return `<rect class="owner" x="${x - size / 2}" y="${y - size / 2}" width="${size}" height="${size}" fill="${fill}" stroke="${edge}" stroke-width=".8"/>`;
    })
    .join("");
}
// Who owns which point at the end, where that is not the side whose stone is there: territory, and dead stones.
function owned({ owners, cells, over }) {
  if (!over || !owners || !facts.scoredByArea) return "";
  const squares = [...owners.keys()].filter((p) => isStone(owners[p]) && owners[p] !== cells[p]);
  return squares
    .map((p) => {
      const [x, y] = at(p),
        [fill, edge] = drawing.colours[owners[p]];
      const box = `x="${x - 7}" y="${y - 7}" width="14" height="14"`;
      return `<rect class="owned" ${box} fill="${fill}" stroke="${edge}" opacity=".85"/>`;
    })
    .join("");
}
function numberOn(point, side, count) {
  const mark = drawing.look === "marks",
    [x, y] = at(point),
    by = mark ? 14 : 0,
    size = mark || count > 99 ? 10 : 13;
  const ink = mark ? drawing.colours[side][0] : drawing.ink[side];
  return `<text class="number" x="${x - by}" y="${y - by}" font-size="${size}" fill="${ink}">${count}</text>`;
}

// Points that may be played, where not every free point may.
function legalMarks(position, free, overlay) {
  if (facts.layout !== "points" || free.size >= position.cells.filter((cell) => cell === 0).length) return "";
  const covered = new Set([...(overlay?.keys() ?? [])].map((action) => pointOf(position, action)));
  return [...free]
    .filter((p) => !covered.has(p))
    .map((p) => {
      const [x, y] = at(p);
      return `<circle class="legal" cx="${x}" cy="${y}" r="4.5" fill="${INKS.bright}" fill-opacity=".8"/>`;
    })
    .join("");
}

function overlayMark(position, action, mark) {
  const point = pointOf(position, action);
  if (point < 0) return "";
  const [x, y] = at(point),
    name = mark.heat >= 0 ? "more" : "less",
    strength = Math.min(Math.abs(mark.heat), 1);
  const [least, most] = INKS.opacity,
    opacity = (least + (most - least) * strength).toFixed(2),
    ink = INKS.inks[name][Math.round(10 * strength)];
  const disc = `<circle cx="${x}" cy="${y}" r="15.5" fill="${INKS[name]}" fill-opacity="${opacity}"/>`;
  const text = `<text x="${x}" y="${y}" font-weight="600" ${ink}>${escaped(mark.text)}</text>`;
  return `<g class="mark" data-mark="${action}">${disc}${text}</g>`;
}

function hintRing(point, action) {
  if (point < 0) return "";
  const [x, y] = at(point),
    shape = `<circle cx="${x}" cy="${y}" r="${drawing.radius - 1}" fill="none"`;
  const dark = `${shape} stroke="${INKS.dark}" stroke-width="6"/>`;
  const bright = `${shape} stroke="${INKS.hint}" stroke-width="3"/>`;
  return `<g class="hint" data-hint="${action}">${dark}${bright}</g>`;
}

// Numbered stones of a line of moves; sides alternate here, as stones that are taken or turned do not show.
function lineOf(position, action, line, shown) {
  const cells = [...position.cells],
    taken = new Set(),
    sides = { 1: [], "-1": [] };
  let side = position.player,
    texts = "";
  line.forEach((move, i) => {
    const point = pointOf({ cells }, move);
    if (point >= 0 && !taken.has(point)) {
      const [x, y] = at(point);
      taken.add(point);
      if (facts.layout === "columns") cells[point] = side;
      sides[side].push(stone(x, y, side, word(side)));
      texts += `<text x="${x}" y="${y}" font-weight="600" font-size="14" ${INKS.text}>${i + 1}</text>`;
    }
    side = -side;
  });
  const shapes = STONES.map((one) =>
    sides[one].length ? `<g opacity=".8" ${drawing.paint[one]}>${sides[one].join("")}</g>` : "",
  );
  const seen = shown ? 'class="line shown" visibility="visible"' : 'class="line" visibility="hidden"';
  return `<g ${seen} data-line="${action}">${shapes.join("")}${texts}</g>`;
}

const ghostOf = (side) =>
  `<g ${drawing.paint[side]}>${stone(0, 0, side, "ghost").replace("/>", ' visibility="hidden" opacity=".6"/>')}</g>`;

function clicks(cells, free) {
  const shapes = [...cells.keys()].map((point) => {
    const [x, y] = at(point),
      action = facts.layout === "columns" ? point % columns : point;
    const name =
      facts.actionNames[action] + (facts.layout === "columns" ? `-${rows - Math.floor(point / columns)}` : "");
    const said = `data-name="${escaped(name)}"${cells[point] ? ` data-side="${cells[point]}"` : ""}`;
    const box = `x="${x - 20}" y="${y - 20}" width="40" height="40"`;
    const shape = drawing.hexagon ? `path d="M${x} ${y - drawing.hexagon[0]}${drawing.hexagon[1]}"` : "rect";
    const kind = free.has(point) ? "point free" : "point";
    return `<${shape} class="${kind}" data-action="${action}" data-point="${point}" ${said} ${box}/>`;
  });
  return `<g fill="transparent">${shapes.join("")}</g>`;
}
