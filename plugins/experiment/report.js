"use strict";
// What the report's boards do: step through games, walk through the openings of self-play.
const data = JSON.parse(document.getElementById("data").textContent);
const drawing = (number) => data.drawn[number].map((part) => data.parts[part]).join("");
const make = (kind, text) => Object.assign(document.createElement(kind), { textContent: text ?? "" });
const percent = (share) => (100 * share).toFixed(0) + " %";
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

function button(text, name, action) {
  const made = make("button", text);
  made.type = "button";
  made.setAttribute("aria-label", name);
  made.onclick = action;
  return made;
}

function games(place) {
  const board = place.querySelector(".board"), side = place.querySelector(".side");
  const choice = make("select"), row = make("div"), moves = make("div"), fact = make("p");
  choice.setAttribute("aria-label", "Game");
  data.games.forEach((game, number) => choice.append(Object.assign(make("option", game.title), { value: number })));
  row.className = "row";
  moves.className = "moves";
  fact.className = "less";
  let game = data.games[0], at = 0;
  const ends = [
    button("|◀", "First position", () => show(0)), button("◀", "Back", () => show(at - 1)),
    button("▶", "Forward", () => show(at + 1)), button("▶|", "Last position", () => show(game.moves.length)),
  ];
  row.append(...ends);
  side.append(choice, row, fact, moves);
  choice.onchange = () => open(Number(choice.value));
  function open(number) {
    game = data.games[number];
    const buttons = game.moves.map((move, i) => button(move, "Move " + (i + 1) + ", " + move, () => show(i + 1)));
    moves.replaceChildren(...buttons);
    show(0);
  }
  function show(ply) {
    at = Math.max(0, Math.min(ply, game.moves.length));
    board.innerHTML = drawing(game.boards[at]);
    moves.childNodes.forEach((one, i) => {
      if (i + 1 === at) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    });
    ends[0].disabled = ends[1].disabled = at === 0;
    ends[2].disabled = ends[3].disabled = at === game.moves.length;
    const value = game.values[at - 1];
    const sign = value > 0 ? "+" : "";
    const worth = value === undefined ? "" : `, value ${sign}${value.toFixed(2)} for the player who moved`;
    fact.textContent = at === 0 ? `${game.moves.length} moves` : `move ${at}: ${game.moves[at - 1]}${worth}`;
  }
  open(0);
}

function openings(place) {
  const board = place.querySelector(".board"), side = place.querySelector(".side");
  const row = make("div"), way = make("p"), scroll = make("div"), table = make("table");
  row.className = "row";
  scroll.className = "scroll";
  scroll.append(table);
  let path = [0];
  const back = button("◀ back", "Back", () => { path.pop(); show(); });
  row.append(back);
  side.append(row, way, scroll);
  function show() {
    const here = data.openings[path[path.length - 1]], total = here.games;
    board.innerHTML = drawing(here.board);
    back.disabled = path.length === 1;
    const moves = path.slice(1).map((n) => data.openings[n].move).join(" ") || "first position";
    const count = sum(total).toLocaleString("en"), score = percent(sum(here.points) / Math.max(sum(total), 1));
    way.textContent = `${moves}: ${count} games, the player who began scored ${score}`;
    const head = make("tr");
    const parts = data.parts_of_run.map(([first, last]) => `iterations ${first}–${last}`);
    for (const text of ["move", "played", "score", ...parts]) head.append(make("th", text));
    table.replaceChildren(head);
    for (const number of here.after) {
      const next = data.openings[number], line = make("tr"), cell = make("td");
      cell.append(button(next.move, "Play " + next.move, () => { path.push(number); show(); }));
      const played = percent(sum(next.games) / sum(total)), score = percent(sum(next.points) / sum(next.games));
      line.append(cell, make("td", played), make("td", score));
      data.parts_of_run.forEach((_, part) => {
        line.append(make("td", total[part] ? percent(next.games[part] / total[part]) : "–"));
      });
      table.append(line);
    }
    if (!here.after.length) table.replaceChildren(make("caption", "no further move was played often enough"));
  }
  show();
}

document.querySelectorAll("[data-view=games]").forEach(games);
document.querySelectorAll("[data-view=openings]").forEach(openings);
