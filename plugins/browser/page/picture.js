// A board as a small picture, of a game's drawing and what stands where: no clicks, no motion.

// marks: [[point, text, strength 0..1]] on the points; last: the point of the last stone.
function picture(
  { under, over, width, height, look, capitals, places, paint, radius, ink, marks: inks },
  cells,
  { marks = [], last = -1, label = "" } = {},
) {
  const box = h("span.picture");
  const shape = (side, [x, y]) =>
    look === "marks" && side === 1
      ? `<path d="M${x - 10} ${y - 10}l20 20m0 -20l-20 20"/>`
      : `<circle cx="${x}" cy="${y}" r="${look === "marks" ? 11 : radius}"/>`;
  const stones = (side) =>
    `<g ${paint[side]}>${places
      .filter((_, p) => cells[p] === side)
      .map((place) => shape(side, place))
      .join("")}</g>`;
  const ring = last < 0 || look === "marks" ? "" : places[last];
  const said = marks.map(([point, text, strength]) => {
    const [x, y] = places[point],
      share = Math.min(Math.max(strength, 0), 1);
    return (
      `<circle cx="${x}" cy="${y}" r="15.5" fill="${inks.more}" fill-opacity="${(0.12 + 0.78 * share).toFixed(2)}"/>` +
      `<text x="${x}" y="${y}" font-weight="600" ${inks.inks.more[Math.round(10 * share)]}>${Number(text)}</text>`
    );
  });
  const words = 'font-family="system-ui, sans-serif" font-size="12" text-anchor="middle" dominant-baseline="central"';
  const role = label ? 'role="img"' : 'aria-hidden="true"';
  box.innerHTML =
    `<svg xmlns="http://www.w3.org/2000/svg" class="board ${look}${capitals ? " capitals" : ""}" ` +
    `viewBox="0 0 ${width} ${height}" ${role} ${words}>` +
    `${under}${stones(1)}${stones(-1)}${over}` +
    (ring &&
      `<circle cx="${ring[0]}" cy="${ring[1]}" r="6" fill="none" stroke="${ink[cells[last]]}" stroke-width="2.4"/>`) +
    `${said.join("")}</svg>`;
  if (label) box.firstElementChild.setAttribute("aria-label", label);
  return box;
}
