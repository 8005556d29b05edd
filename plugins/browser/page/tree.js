// The search's tree as a drawing, in Analyse: its most visited moves as the engine lists them (`tree` of an opinion),
// from the position at the left. A line is as wide as its move was tried, the colour says whom the move is good for.

const PLIES_DRAWN = 6, // as the engine lists them at most
  ROOT_WIDE = 42,
  LINK = 15, // from a node to those after it
  NODE_TALL = 20,
  ROW_TALL = 25,
  HEAD_TALL = 18;
const GROWTH = 1.4, // times as many simulations in each picture of a tree that grows again
  GROWTH_PACE = 380; // milliseconds from one to the next

const searchTree = {
  on: kept.get("tree") === "on",
  of: "", // the position that the rest is of, as its moves
  at: "", // the node that is described and has the keyboard's cursor, as the moves that lead to it from the position
  shows: false, // whether its line is on the board
  tapped: null, // the node that a finger touched: a second tap tries its line
  born: new Map(), // {node: when it was first drawn}
};

// The nodes of the tree that is shown, top down; null where there is none. Children stand in the order of their moves,
// so that little jumps while the tree grows.
function treeNodes() {
  const opinion = view === "analyse" && searchTree.on && !here().over ? opinionHere() : null;
  if (!opinion?.tree) return null;
  const of = keyOf(shownMoves());
  if (of !== searchTree.of) Object.assign(searchTree, { of, at: "", shows: false, tapped: null, born: new Map() });
  const root = { key: "", moves: [], visits: visitsOf(opinion), value: opinion.value, above: null, below: [] };
  const all = [];
  for (const [parent, action, visits, value, prior] of opinion.tree) {
    const above = all[parent] ?? root,
      moves = [...above.moves, action];
    all.push({ key: keyOf(moves), moves, action, visits, value, prior, above, below: [] });
    above.below.push(all.at(-1));
  }
  const walked = (node) => [node, ...node.below.sort((a, b) => a.action - b.action).flatMap(walked)];
  const nodes = walked(root);
  while (!nodes.some(({ key }) => key === searchTree.at))
    searchTree.at = searchTree.at.split(" ").slice(0, -1).join(" ");
  return nodes;
}
const nodeAt = (nodes) => nodes.find(({ key }) => key === searchTree.at);
const depthOf = (node) => node.moves.length;
// The moves whose line the board shows now; null: none.
function treeLine() {
  const nodes = searchTree.shows ? treeNodes() : null;
  return nodes && searchTree.at ? nodeAt(nodes).moves : null;
}
const valueClass = (value) => (Math.round(100 * value) > 0 ? "good" : Math.round(100 * value) < 0 ? "bad" : "even");
const treeWords = ({ visits, value, prior }) => {
  const values = { visits: number(visits), value: signed(value), side: sideName(here().player) };
  return prior === undefined
    ? tr("{visits} visits, value {value} for {side}", values)
    : tr("{visits} visits, value {value} for {side}, prior {prior} %", { ...values, prior: Math.round(100 * prior) });
};
const movesInWords = (node) => (node.key ? node.moves.map(spokenName).join(" ") : tr("this position"));

// Gives each node its place {x, wide, y}; returns how tall the drawing is. The leaves stand one below the other.
function placeNodes([root], width) {
  const step = (width - ROOT_WIDE - 1) / PLIES_DRAWN;
  let leaves = 0;
  const place = (node) => {
    node.x = node.key ? ROOT_WIDE + step * (depthOf(node) - 1) + LINK : 1;
    node.wide = node.key ? step - LINK : ROOT_WIDE - 1;
    node.below.forEach(place);
    node.y = node.below.length ? (node.below[0].y + node.below.at(-1).y) / 2 : HEAD_TALL + ROW_TALL * (leaves++ + 0.5);
  };
  place(root);
  return HEAD_TALL + ROW_TALL * leaves;
}
// Whose moves stand below each other: a stone above each ply.
function headsOf(nodes) {
  const firsts = new Map(nodes.slice(1).map((node) => [depthOf(node), node]));
  return [...firsts].map(([depth, { x, wide }]) => {
    const [fill, edge] = drawing.colours[depth % 2 ? here().player : -here().player];
    return `<circle cx="${x + wide / 2}" cy="8" r="5.5" fill="${fill}" stroke="${edge}"/>`;
  });
}
function linkTo({ above, x, y, visits, value }, total) {
  const from = above.x + above.wide,
    bend = (from + x) / 2,
    path = `M${from} ${above.y}C${bend} ${above.y} ${bend} ${y} ${x} ${y}`,
    width = (1.2 + 8 * Math.sqrt(visits / Math.max(total, 1))).toFixed(1);
  return `<path class="${valueClass(value)}" d="${path}" stroke-width="${width}"/>`;
}
const shortName = (node) => {
  const name = node.key ? spokenName(node.action) : number(node.visits);
  return name.length > 7 ? `${name.slice(0, 6)}…` : name;
};
const showsWorth = (node) => node.key && 7.5 * shortName(node).length + 32 <= node.wide;
// No part of a node, as a screen reader says it in the node's sentence.
const worthOf = ({ x, wide, y, value }) =>
  `<text x="${x + wide - 4}" y="${y}" text-anchor="end">${signed(value).replace(".00", "")}</text>`;
function nodeBox(node) {
  const { key, x, wide, y, value, below } = node,
    now = key === searchTree.at,
    name = shortName(node),
    room = wide - 6;
  const squeezed = 7 * name.length > room ? ` textLength="${room}" lengthAdjust="spacingAndGlyphs"` : "";
  const spot = showsWorth(node) ? `x="${x + 4}"` : `x="${x + wide / 2}" text-anchor="middle"${squeezed}`;
  const kinds = ["node", valueClass(value), now ? "at" : "", searchTree.born.get(key) ? "fresh" : ""];
  return (
    `<g class="${kinds.filter(Boolean).join(" ")}" role="treeitem" aria-level="${depthOf(node) + 1}" ` +
    `${below.length ? 'aria-expanded="true" ' : ""}aria-selected="${now}" tabindex="${now ? 0 : -1}" ` +
    `aria-label="${escaped(`${movesInWords(node)}: ${treeWords(node)}`)}" ` +
    `data-node="${key}" data-hover="tree"${now ? ' data-key="tree-node"' : ""}>` +
    `<rect class="room" x="${x}" y="${y - ROW_TALL / 2}" width="${wide}" height="${ROW_TALL}"/>` +
    `<rect class="box" x="${x}" y="${y - NODE_TALL / 2}" width="${wide}" height="${NODE_TALL}" rx="6" ` +
    `fill-opacity="${(0.1 + 0.4 * Math.sqrt(Math.abs(value))).toFixed(2)}"/>` +
    `<text ${spot} y="${y}">${escaped(name)}</text></g>`
  );
}
function treeSvg(nodes, width) {
  const tall = placeNodes(nodes, width),
    hidden = (kind, parts) => `<g class="${kind}" aria-hidden="true">${parts.join("")}</g>`;
  return (
    `<svg viewBox="0 0 ${width} ${tall}" role="tree" aria-label="${escaped(tr("search tree"))}" font-size="12" ` +
    `dominant-baseline="central">${hidden("heads", headsOf(nodes))}` +
    hidden("links", nodes.slice(1).map((node) => linkTo(node, nodes[0].visits))) +
    nodes.map(nodeBox).join("") +
    hidden("worths", nodes.filter(showsWorth).map(worthOf)) +
    "</svg>"
  );
}

function treeCard() {
  const nodes = treeNodes();
  if (!nodes) return null;
  const now = performance.now(),
    first = !searchTree.born.size; // all that a first picture has is not new
  for (const { key } of nodes) if (!searchTree.born.has(key)) searchTree.born.set(key, first ? 0 : now);
  const box = h("div.tree-drawing", { onclick: treeClicked, onkeydown: treeKey, onfocusin: treeFocus, onfocusout: treeLeft });
  box.innerHTML = treeSvg(nodes, Math.max(panel.clientWidth - 30, 250));
  for (const one of box.querySelectorAll(".fresh"))
    one.style.setProperty("--since", `${searchTree.born.get(one.dataset.node) - now}ms`);
  const node = nodeAt(nodes),
    small = h("div.tree-board", { "aria-hidden": "true" }); // where the board itself may be out of sight
  if (node.key && facts.drawing && matchMedia("(max-width: 999px)").matches)
    small.innerHTML = boardSvg({ position: here(), lines: new Map([["tree", node.moves]]), shown: "tree", at: "tree" });
  return card("tree", tr("search tree"), [
    h(
      "p.soft",
      {},
      sentences(
        tr("A line is as wide as its move was tried."),
        tr("Green is good for {side}, red is bad.", { side: sideName(here().player) }),
      ),
    ),
    box,
    h(
      "div.tree-said",
      {},
      node.key ? small : null,
      h("div.tree-words", {}, h("b", {}, movesInWords(node)), h("p.soft", {}, treeWords(node))),
      node.key ? button("on", tr("Try this line"), () => tryBranch(node.moves), { key: "tree-try" }) : null,
      button("again", tr("Grow it again"), growAgain, {
        key: "tree-grow",
        bare: true,
        off: searching.key !== null || review.busy,
      }),
    ),
  ]);
}
const treeSwitch = () => {
  const found = button("tree", searchTree.on ? tr("Hide the tree") : tr("Show the tree"), switchTree, { key: "tree" });
  found.setAttribute("aria-expanded", String(searchTree.on));
  return found;
};
function switchTree() {
  searchTree.on = !searchTree.on;
  searchTree.shows = false;
  kept.set("tree", searchTree.on ? "on" : "off");
  render();
}

// ---- hands: a pointer over a node, or the keyboard's cursor on it, shows its line; a click or Enter tries it

function pointTo(key) {
  Object.assign(searchTree, { at: key, shows: key !== "" });
  drawBoard();
  showPanel();
}
function hideTreeLine() {
  if (!searchTree.shows) return;
  searchTree.shows = false;
  drawBoard();
}
function tryBranch(moves) {
  Object.assign(searchTree, { at: "", shows: false, tapped: null });
  return branch(moves);
}
document.addEventListener("pointermove", (e) => {
  if (e.pointerType === "touch" || (!e.movementX && !e.movementY)) return; // or drawn again under a pointer at rest
  const node = e.target.closest?.("[data-node]");
  if (!node) hideTreeLine();
  else if (node.dataset.node !== searchTree.at || !searchTree.shows) pointTo(node.dataset.node);
});
function treeClicked(e) {
  const key = e.target.closest?.("[data-node]")?.dataset.node;
  if (!key) return;
  const finger = e.pointerType ? e.pointerType !== "mouse" : matchMedia("(pointer: coarse)").matches;
  if (finger && searchTree.tapped !== key) {
    searchTree.tapped = key;
    pointTo(key);
  } else tryBranch(key.split(" ").map(Number)).catch(failed);
}
function treeKey(e) {
  const nodes = treeNodes(),
    node = nodes && nodeAt(nodes);
  if (!node || e.ctrlKey || e.altKey || e.metaKey) return;
  const index = nodes.indexOf(node);
  const to = {
    ArrowUp: nodes[index - 1],
    ArrowDown: nodes[index + 1],
    ArrowLeft: node.above,
    ArrowRight: node.below.reduce((most, one) => (most && most.visits >= one.visits ? most : one), null),
    Home: nodes[0],
    End: nodes.at(-1),
  };
  const plays = e.key === "Enter" || e.key === " ";
  if (!plays && !(e.key in to)) return;
  e.preventDefault();
  e.stopPropagation();
  if (plays && node.key) tryBranch(node.moves).catch(failed);
  else if (!plays && to[e.key]) pointTo(to[e.key].key);
}
// Drawing the panel again moves the focus as well: then there is nothing it came from or goes to.
function treeFocus(e) {
  if (!e.relatedTarget || !searchTree.at || searchTree.shows) return;
  searchTree.shows = true;
  drawBoard();
}
function treeLeft(e) {
  if (e.relatedTarget && !e.currentTarget.contains(e.relatedTarget)) hideTreeLine();
}

// Searches the position from an empty tree, slowly enough to be watched, as far as it had been searched.
async function growAgain() {
  if (review.busy) return;
  const moves = shownMoves(),
    key = keyOf(moves),
    sims = Math.max(found.get(key)?.sims ?? 0, shows.sims),
    mine = ++searching.number;
  Object.assign(searching, { key, sims });
  engine.stop();
  Object.assign(searchTree, { at: "", shows: false, born: new Map() });
  try {
    for (let few = 1; few < shows.sims && mine === searching.number; few = Math.ceil(few * GROWTH)) {
      const pause = new Promise((on) => setTimeout(on, GROWTH_PACE));
      const { opinion } = await engine.call("search", { moves, sims: few, fresh: few === 1 });
      if (mine !== searching.number || !opinion) break;
      remember(moves, opinion, 0);
      showAnalysis();
      await pause;
    }
  } catch (error) {
    failed(error);
  }
  if (mine !== searching.number) return;
  searching.key = null;
  analyse(sims);
}
