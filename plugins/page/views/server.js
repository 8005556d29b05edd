// Talks with the server: what it answers to GET and POST, its events, and an engine that is not in the page.

class ServerFault extends Error {}

const server = {
  tab: Math.random().toString(36).slice(2, 12), // one search a tab
  async answer(response) {
    if (response.ok) return response;
    let reason = tr("The server refused that ({status}).", { status: response.status });
    try {
      reason = (await response.json()).error ?? reason;
    } catch {
      /* not a word of ours */
    }
    throw new ServerFault(reason);
  },
  async fetched(address, options) {
    try {
      return await fetch(address, { credentials: "same-origin", ...options });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerFault(tr("The server cannot be reached."));
    }
  },
  async get(name, values = {}) {
    const given = Object.entries({ ...values, lang: language }).filter(([, value]) => value !== null && value !== "");
    const response = await this.fetched(`/api/${name}?${new URLSearchParams(given)}`);
    return (await this.answer(response)).json();
  },
  async send(name, values, signal) {
    const response = await this.fetched(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-AlphaZero": "1", "X-Tab": this.tab },
      body: JSON.stringify({ ...values, lang: language }),
      signal,
    });
    return this.answer(response);
  },
  async post(name, values = {}) {
    return (await this.send(name, values)).json();
  },
  // An answer of several lines: each but the last is progress.
  async stream(name, values, { progress = null, signal } = {}) {
    const reader = (await this.send(name, values, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "",
      last = null;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      const lines = text.split("\n");
      text = lines.pop();
      for (const line of lines.filter(Boolean)) {
        const found = JSON.parse(line);
        if (found.error) throw new ServerFault(found.error);
        if (found.progress) progress?.(found.progress);
        else last = found;
      }
    }
    if (!last) throw new ServerFault(tr("The server ended the answer."));
    return last;
  },
  // Calls back for each event of a run, or of all runs; returns what ends it.
  events(name, deeds) {
    const source = new EventSource(`/api/events?${new URLSearchParams({ name, lang: language })}`);
    for (const [kind, deed] of Object.entries(deeds))
      source.addEventListener(kind, ({ data }) => deed(JSON.parse(data)));
    addEventListener("pagehide", () => source.close(), { once: true });
    return () => source.close();
  },
};

const arrays = (position) => position && { ...position, cells: Int8Array.from(position.cells) };

// The calls of the worker, answered by the server: for games and players that a browser cannot play.
class ServerEngine {
  constructor() {
    this.open = null;
    this.setup = null;
    this.ready = Promise.resolve({ setUp: true });
  }
  async call(name, args, progress) {
    const game = facts.spec;
    if (name === "setUp") {
      const found = arrays(await server.post("setup", { game, ...args, cells: args.cells && [...args.cells] }));
      if (found || !args.cells) this.setup = args.cells && { cells: [...args.cells], player: args.player };
      return found;
    }
    if (name === "follow") {
      const found = await server.post("follow", { game, setup: this.setup, ...args });
      return { ...found, positions: found.positions.map(arrays) };
    }
    return this.search(args, progress);
  }
  async search({ moves, sims, seconds = null, plies = null, choose = null, player = null }, progress) {
    this.stop();
    const mine = (this.open = new AbortController());
    const given = { game: facts.spec, setup: this.setup, moves, sims: sims ?? null, player };
    try {
      return await server.stream(
        choose ? "move" : "search",
        { ...given, plies, seconds: Number.isFinite(seconds) ? seconds : null },
        {
          progress,
          signal: mine.signal,
        },
      );
    } catch (error) {
      if (error.name === "AbortError") return { stopped: true, opinion: null, action: null };
      throw error;
    } finally {
      if (this.open === mine) this.open = null;
    }
  }
  stop() {
    this.open?.abort();
    this.open = null;
  }
}
