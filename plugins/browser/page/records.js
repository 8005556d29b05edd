// Games as files and as links, in the forms of the program: JSON, SGF, moves in a line. What comes from elsewhere is
// checked and every move of it is played by the rules; a fault is one line of text.

class Fault extends Error {}
const LARGEST = 1_000_000; // characters of a file
const MOST_MOVES = 5000;
const moveName = (action) => facts.actionNames[action];
const actionOf = new Map( // a move by its name, and by the one that it has in SGF
  [facts.sgf?.vertices ?? [], facts.actionNames].flatMap((names) =>
    names.map((name, action) => [name.toLowerCase(), action]),
  ),
);

function parseMove(text, count) {
  const action = actionOf.get(String(text).trim().toLowerCase());
  if (action === undefined)
    throw new Fault(
      tr("Move {number}: {move} is no move of this game.", { number: count, move: String(text).slice(0, 20) }),
    );
  return action;
}
function parseMoves(words) {
  if (words.length > MOST_MOVES) throw new Fault(tr("These are more moves than a game has."));
  return words.map((one, i) => parseMove(one, i + 1));
}
// A line such as "4 4 3", "1. e5 d4", "e5,d4" or "e5d4".
function movesOfText(text) {
  const words = text
    .slice(0, LARGEST)
    .replace(/,/g, " ")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => (actionOf.has(word.toLowerCase()) ? word : word.replace(/^\d+[.)]+/, "")))
    .filter(Boolean);
  return parseMoves(
    words.flatMap((word) =>
      actionOf.has(word.toLowerCase()) ? [word] : word.match(/[A-Za-z]\d{1,2}(?=[A-Za-z]|$)|.+/g),
    ),
  );
}

// record: {moves, result: 1, 0, -1 or null, stated: a file's words for its result, "" where they are ours, komi: that
// of a file, "" where it is ours, late: whether it was lost on time, players: [first, second], date, setup: null or
// {cells, player}}

function toJson(record) {
  const values = {
    game: facts.spec,
    moves: record.moves.map(moveName),
    result: record.result,
    players: record.players,
    date: record.date,
  };
  if (record.stated) values.stated = { result: record.stated };
  if (record.setup) values.setup = setupJson(record.setup);
  return JSON.stringify(values) + "\n";
}
const turnOf = ({ player }) => (player === 1 ? "black" : "white");
function stonesOf(cells) {
  const names = (side) =>
    [...cells.keys()].filter((p) => cells[p] === side).map(moveName);
  return { black: names(1), white: names(-1) };
}
const setupJson = (setup) => ({ ...stonesOf(setup.cells), turn: turnOf(setup) });

function fromJson(text) {
  let values;
  try {
    values = JSON.parse(text);
  } catch {
    throw new Fault(tr("This file is no game: it is not JSON."));
  }
  if (!values || typeof values !== "object" || !Array.isArray(values.moves) || typeof values.game !== "string")
    throw new Fault(tr("This file is no game: it names no game and moves."));
  if (values.game !== facts.spec)
    throw new Fault(
      tr("This file is a game of {other}; this page plays {game}.", {
        other: values.game.slice(0, 40),
        game: facts.spec,
      }),
    );
  const result = [1, 0, -1].includes(values.result) ? values.result : null;
  return {
    moves: parseMoves(values.moves),
    result,
    stated: clean(values.stated?.result),
    players: playersOf(values.players),
    setup: values.setup ? setupOf(values.setup) : null,
  };
}
const clean = (words) => (typeof words === "string" ? words.replace(/[\p{C}]/gu, "").slice(0, 100) : "");
function playersOf(names) {
  return Array.isArray(names) ? [clean(names[0]), clean(names[1])] : ["", ""];
}
function setupOf(setup) {
  const cells = new Array(rows * columns).fill(0);
  for (const [key, side] of [
    ["black", 1],
    ["white", -1],
  ]) {
    if (!Array.isArray(setup[key])) throw new Fault(tr("The stones that this file sets up cannot be read."));
    for (const name of setup[key]) {
      const point = pointOfAction(actionOf.get(String(name).toLowerCase()) ?? -1);
      if (point < 0 || cells[point]) throw new Fault(tr("The stones that this file sets up cannot be read."));
      cells[point] = side;
    }
  }
  if (setup.points) throw handicapFault(Number(setup.points));
  return { cells, player: setup.turn === "white" ? -1 : 1 };
}
const handicapFault = (points) =>
  new Fault(
    tr("{side} has {points} points for the handicap, which this page does not count.", { side: sideName(-1), points }),
  );

// ---- the result

// As SGF and the program write it.
function resultText(result, end, late = false) {
  if (result === null) return "Void";
  if (!result) return "0";
  return (result > 0 ? "B+" : "W+") + (end.over ? leadOf(end) : late ? "T" : "R");
}
const leadOf = ({ score }) => (score && facts.scoredByArea ? Math.abs(score[0] - score[1]) : "");
// The result of a record whose moves end so: that of the rules, unless a file states another, which is kept.
function resultOf({ result, stated = "" }, end) {
  const margin = /^[bw]\s*\+\s*(\d{1,4}(?:\.\d+)?)$/i.exec(stated),
    differs = result !== end.result || (margin && Number(margin[1]) !== leadOf(end));
  if (end.over && !(stated && result !== null && differs)) return { winner: end.result, why: "rules" };
  if (result === null) return null;
  return { winner: result, why: "file", stated: end.over || stated !== resultText(result, end) ? stated : "" };
}

// ---- SGF: the main line of the first game

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const inSgf = (text) => String(text).replace(/[\\\]]/g, "\\$&");
function sgfPoint(action) {
  if (facts.sgf.vertices) return facts.sgf.vertices[action];
  const point = pointOfAction(action);
  return point < 0 ? "" : LETTERS[point % columns] + LETTERS[Math.floor(point / columns)];
}

function toSgf(record, positions) {
  const { sgf } = facts;
  const root = {
    FF: 4,
    GM: sgf.number,
    CA: "UTF-8",
    SZ: rows === columns ? rows : `${columns}:${rows}`,
    GC: facts.spec,
    PB: record.players[0],
    PW: record.players[1],
    DT: record.date,
    RE: record.stated || resultText(record.result, positions[positions.length - 1], record.late),
    KM: record.komi || sgf.komi,
    RU: sgf.rule,
  };
  let text =
    "(;" +
    Object.entries(root)
      .filter(([, value]) => value !== "")
      .map(([key, value]) => `${key}[${inSgf(value)}]`)
      .join("");
  if (record.setup) {
    const all = (side) =>
      [...record.setup.cells.keys()]
        .filter((p) => record.setup.cells[p] === side)
        .map((p) => `[${inSgf(sgfPoint(p))}]`)
        .join("");
    text += `PL[${record.setup.player === 1 ? "B" : "W"}]` + (all(1) && "AB" + all(1)) + (all(-1) && "AW" + all(-1));
  }
  record.moves.forEach((action, i) => {
    text += `\n;${positions[i].player === 1 ? "B" : "W"}[${sgfPoint(action)}]`;
  });
  return text + ")\n";
}

function fromSgf(text) {
  if (!facts.sgf) throw new Fault(tr("This game has no form in SGF: load a .json file."));
  const nodes = sgfNodes(text),
    root = nodes[0],
    moves = [],
    colours = [];
  const size = (root.SZ?.[0] ?? "").split(":");
  if (
    Number(root.GM?.[0] ?? 1) !== facts.sgf.number ||
    (size[0] && (Number(size[0]) !== columns || Number(size[1] ?? size[0]) !== rows))
  )
    throw new Fault(tr("This file is another game, or another size of board."));
  const komi = root.KM?.[0].trim(),
    another = facts.sgf.komi && komi && komiOf(komi) !== Number(facts.sgf.komi);
  let turn = 0;
  const cells = new Array(rows * columns).fill(0);
  for (const node of nodes) {
    if (!moves.length) turn = { B: 1, 1: 1, W: -1, 2: -1 }[node.PL?.[0].trim()[0]?.toUpperCase()] ?? turn;
    for (const [key, side] of [
      ["AB", 1],
      ["AW", -1],
      ["AE", 0],
    ])
      for (const value of node[key] ?? []) {
        if (moves.length) throw new Fault(tr("The stones that this file sets up cannot be read."));
        for (const point of rectangle(value)) cells[point] = side;
      }
    for (const colour of ["B", "W"])
      for (const value of node[colour] ?? []) {
        if (moves.length >= MOST_MOVES) throw new Fault(tr("These are more moves than a game has."));
        moves.push(sgfAction(value, moves.length + 1));
        colours.push(colour === "B" ? 1 : -1);
      }
  }
  setUpHandicap(root, cells, moves, colours);
  const stated = clean(root.RE?.[0]).trim(),
    setUp = cells.some(Boolean),
    alone = setUp && !cells.includes(-1); // a handicap, after which the other side moves
  return {
    moves,
    colours,
    result: sgfResult(stated),
    stated,
    komi: another ? String(komiOf(komi)) : "",
    players: playersOf([root.PB?.[0], root.PW?.[0]]),
    setup: setUp ? { cells, player: colours[0] ?? (turn || (alone ? -1 : 1)) } : null,
  };
}
// The result that RE means: 1, 0 or -1, null where it names none. As storage/sgf_facts.py.
function sgfResult(stated) {
  const side = /^(b|w)(?:lack|hite)?\s*(?:\+|wins?\b|won\b|$)/i.exec(stated);
  if (side) return side[1].toUpperCase() === "B" ? 1 : -1;
  return /^(?:0(?:\.0*)?(?!\s*[-:])|draw|jigo)(?![\w.+])/i.test(stated) ? 0 : null;
}
// The komi that KM means, 0 where it means none: also as hundredths and as Chinese stones. As games/sgf_words.py.
function komiOf(text) {
  const found = /^[+-]?(?:\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})/.exec(text);
  let points = Number(found?.[0].replace(",", ".") ?? 0);
  if (Math.abs(points) >= 50 && points % 25 === 0) points = points === 350 ? 7 : points / 100;
  if (points % 0.5 && points % 0.25 === 0) points *= 2;
  return Math.abs(points) > rows * columns ? 0 : Math.round(2 * points) / 2;
}
// Sets up the handicap that Black plays as the first moves. Points that White has for one are not counted here.
function setUpHandicap({ HA, RU }, cells, moves, colours) {
  const stones = Number(/^0?([1-9]\d?)$/.exec(HA?.[0].trim())?.[1] ?? 0);
  if (!facts.scoredByArea || stones < 2) return;
  const isPass = (i) => pointOfAction(moves[i]) < 0,
    white = colours.findIndex((colour, i) => colour < 0 && !isPass(i)),
    leading = [...moves.keys()].filter((i) => !isPass(i) && (white < 0 || i < white));
  if (!cells.some(Boolean) && leading.length >= stones) {
    const placed = leading.splice(0, stones);
    for (const i of placed) cells[moves[i]] = 1;
    for (const list of [moves, colours]) list.splice(0, placed.at(-1) + 1);
  }
  const given = /^chinese/i.test(RU?.[0]) ? stones : /^aga/i.test(RU?.[0]) ? stones - 1 : 0;
  if (given && cells.filter((cell) => cell === 1).length + leading.length >= stones) throw handicapFault(given);
}
// The points of a value such as ab or aa:cc; where points have names of the game's own, also of these.
function rectangle(value) {
  const [a, b = a] = value.split(":").map(placeOf);
  if (!a || !b) throw new Fault(tr("The stones that this file sets up cannot be read."));
  const points = [];
  for (let r = a[1]; r <= b[1]; r++) for (let c = a[0]; c <= b[0]; c++) points.push(r * columns + c);
  return points;
}
function placeOf(text) {
  const named = facts.sgf.vertices ? pointOfAction(actionOf.get(text.trim().toLowerCase()) ?? -1) : -1;
  if (named >= 0) return [named % columns, Math.floor(named / columns)];
  const [c, r] = [LETTERS.indexOf(text[0]), LETTERS.indexOf(text[1])];
  return text.length === 2 && inside(r, c) ? [c, r] : null;
}
function sgfAction(value, count) {
  if (facts.sgf.vertices) return parseMove(value, count);
  const c = LETTERS.indexOf(value[0]),
    r = LETTERS.indexOf(value[1]),
    pass = !value || (value === "tt" && columns <= 19 && rows <= 19);
  if (pass && facts.actionSize > rows * columns) return rows * columns;
  const inside = value.length === 2 && c >= 0 && c < columns && r >= 0 && r < rows;
  return inside ? r * columns + c : parseMove(value || "pass", count);
}
// The nodes of the main line, {property: values}, of the first game.
function sgfNodes(text) {
  const nodes = [],
    tokens = /\(|\)|;|([A-Za-z]+)\s*|\[((?:[^\]\\]|\\[\s\S])*)\]\s*/y;
  let key = "";
  for (let i = text.indexOf("("); i >= 0 && i < text.length;) {
    tokens.lastIndex = i;
    const found = tokens.exec(text);
    if (!found) {
      if (/\s/.test(text[i])) {
        i++;
        continue;
      }
      break;
    }
    i = tokens.lastIndex;
    if (found[0] === ")") break; // the first branch is the main line
    if (found[0] === ";") {
      nodes.push({});
      if (nodes.length > MOST_MOVES) break;
    } else if (found[1]) key = found[1].replace(/[a-z]/g, "");
    else if (found[2] !== undefined && nodes.length && key) {
      const node = nodes[nodes.length - 1];
      if (!Object.hasOwn(node, key)) node[key] = [];
      node[key].push(found[2].replace(/\\\r?\n/g, "").replace(/\\([\s\S])/g, "$1"));
    }
  }
  if (!nodes.length) throw new Fault(tr("This file is no game: it is not SGF."));
  return nodes;
}

function fromFile(name, text) {
  if (text.length > LARGEST) throw new Fault(tr("This file is too large for a game."));
  const form = name.toLowerCase().replace(/^.*\./, "");
  if (form === "sgf" || text.trimStart().startsWith("(;")) return fromSgf(text);
  if (form === "txt") return { moves: movesOfText(text), result: null, players: ["", ""], setup: null };
  return fromJson(text);
}

// ---- links: #moves=e5.d4&ply=1&view=analyse, and stones that were set up: black=c3.d4&white=e5&turn=white

function linkOf({ moves, setup }, ply, view) {
  const spelled = (actions) => actions.map(encodeURIComponent).join("."),
    stones = setup ? stonesOf(setup.cells) : null;
  const parts = [
    ...(setup ? [`black=${spelled(stones.black)}`, `white=${spelled(stones.white)}`, `turn=${turnOf(setup)}`] : []),
    moves.length ? `moves=${spelled(moves.map(moveName))}` : "",
    ply < moves.length ? `ply=${ply}` : "",
    view === "play" ? "" : `view=${view}`,
  ].filter(Boolean);
  return parts.length ? "#" + parts.join("&") : "";
}
function fromLink(fragment) {
  if (fragment.length > 60_000) throw new Fault(tr("This link is too long for a game."));
  const found = new URLSearchParams(fragment.replace(/^#/, "")),
    listed = (key) => (found.get(key) ?? "").split(".").filter(Boolean),
    words = listed("moves"),
    stones = { black: listed("black"), white: listed("white"), turn: found.get("turn") };
  const ply = Number(found.get("ply") ?? words.length),
    view = found.get("view");
  return {
    moves: parseMoves(words),
    setup: found.has("turn") ? setupOf(stones) : null,
    ply: Number.isInteger(ply) && ply >= 0 ? Math.min(ply, words.length) : words.length,
    view: ["play", "analyse", "puzzles"].includes(view) ? view : words.length || found.has("turn") ? "analyse" : null,
  };
}

function saveFile(name, text, type) {
  const link = h("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    /* from a disk, or not allowed */
  }
  const box = h("textarea", { "aria-hidden": "true" });
  box.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  return copied;
}
