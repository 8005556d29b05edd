// The start page of a site: a picture of each game, its rules in a sentence, how strong the player is, how large the
// page.

function show() {
  document.documentElement.lang = language;
  document.title = tr("Board games against a network");
  document.body.className = "start";
  document.querySelector("header")?.remove();
  document.querySelector("main")?.remove();
  document.body.append(
    h(
      "header.masthead",
      {},
      h("h1", {}, tr("Board games against a network")),
      languageButton(show),
    ),
    h(
      "main",
      {},
      h(
        "p.soft.lead",
        {},
        sentences(
          tr("Each has learned from games against itself."),
          tr("Rules, network and search run in the page, on your device."),
          tr("It asks nothing of the internet and sends nothing."),
        ),
      ),
      h(
        "div.games",
        {},
        facts.games.map((game) =>
          h(
            "a.game",
            { href: game.file },
            picture(game.drawing, game.start.cells),
            h("b", {}, gameName(game)),
            h("span.soft", {}, sentences(inLanguage(game.rules))),
            h(
              "span.soft.small",
              {},
              [game.elo === null ? null : `Elo ${number(game.elo)}`, `${(game.size / 1e6).toFixed(1)} MB`]
                .filter(Boolean)
                .join(" · "),
            ),
          ),
        ),
      ),
    ),
  );
}
show();
if ("serviceWorker" in navigator && location.protocol.startsWith("http"))
  navigator.serviceWorker.register("service-worker.js").catch(() => {});
