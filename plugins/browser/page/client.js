// The engine in its worker, as calls that return promises; and the data in the page, unpacked.

async function unpacked(name) {
  const text = document.getElementById(name).textContent,
    packed = atob(text),
    bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Engine {
  constructor() {
    this.number = 0;
    this.most = 20_000; // simulations that its tree has room for
    this.open = new Map(); // {number of a call: {done, failed, progress}}
    this.ready = this.begin();
  }
  async begin() {
    const source = new TextDecoder().decode(await unpacked("engine"));
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => this.answered(data);
    this.worker.onerror = (event) => this.fail(event.message || "the worker ended");
    const [wasm, weights] = await Promise.all([unpacked("wasm"), unpacked("weights")]);
    const layout = JSON.parse(document.getElementById("layout").textContent);
    this.most = layout.sims ?? this.most;
    return this.send("create", { wasm, weights, layout, facts }, null, [wasm.buffer, weights.buffer]);
  }
  send(call, args, progress = null, moved = [], id = ++this.number) {
    if (this.reason) return Promise.reject(new Error(this.reason));
    return new Promise((done, failed) => {
      this.open.set(id, { done, failed, progress });
      this.worker.postMessage({ id, call, args }, moved);
    });
  }
  answered({ id, result, error, progress }) {
    const call = this.open.get(id);
    if (progress) return call?.progress?.(progress);
    this.open.delete(id);
    if (error === undefined) call.done(result);
    else call.failed(new Error(error));
  }
  fail(reason) {
    this.reason = reason;
    for (const { failed } of this.open.values()) failed(new Error(reason));
    this.open.clear();
  }
  async call(name, args, progress) {
    const id = ++this.number; // before it waits, so that a stop from now on is one of this call
    await this.ready;
    return this.send(name, args, progress, [], id);
  }
  stop() {
    this.worker?.postMessage({ stop: this.number });
  }
}
