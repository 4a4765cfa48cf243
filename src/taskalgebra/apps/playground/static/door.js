// The door of an exported page: the requests of `api.js`, answered by the planner in the page.
//
// The planner runs in a Worker, so that the page never waits; where a browser allows none, it runs in
// the page.  A request that is dropped ends its Worker, and the next one gets another.

const GAME = "Boxman plays networks, which need Python. Install the library, and start: taskalgebra play";

/** The worlds that are tables, by their ids, with the programs that make them. */
export const scenesOf = ({ presets, programs }) =>
  Object.fromEntries(presets.filter(({ scene }) => scene).map(({ scene }) => [scene.id, { ...scene, program: programs[scene.id] }]));

/** Answers with what an export holds: {makeEngine, presets, programs}. */
export function doorInPage(exported) {
  const { makeEngine, presets } = exported;
  const scenes = scenesOf(exported);
  const planner = new Planner(makeEngine, scenes);
  return async (path, body, signal) => {
    const found = (answer) => ({ ok: !answer.error, status: answer.error ? 422 : 200, answer });
    if (path === "/api/presets") return found(presets);
    if (path === "/api/solve") return found(await planner.solve(JSON.parse(JSON.stringify(body)), signal)); // as a server would see it
    const scene = scenes[path.split("/").at(-1)];
    if (path.startsWith("/api/worlds/") && scene) return found(scene);
    if (path.startsWith("/api/boxman/")) return found({ error: { message: GAME, field: "server" } });
    const field = path.startsWith("/api/worlds/") ? "world.table" : "server";
    return { ok: false, status: 404, answer: { error: { message: `there is nothing at '${path}'`, field } } };
  };
}

class Planner {
  #asked = new Map(); // what waits for an answer, by its number
  #count = 0;
  #worker = null;
  #engine = null; // in the page, if there can be no Worker

  constructor(makeEngine, scenes) {
    Object.assign(this, { makeEngine, scenes });
    this.#begin();
  }

  /** The answer to a request; an error if it is dropped. */
  solve(body, signal) {
    return new Promise((done, failed) => {
      const number = (this.#count += 1);
      this.#asked.set(number, { body, done });
      signal.addEventListener("abort", () => {
        if (!this.#asked.delete(number)) return;
        failed(signal.reason);
        this.#worker?.terminate();
        this.#begin();
      });
      this.#send(number, body);
    });
  }

  /** Start a planner, and ask it what waits. */
  #begin() {
    try {
      this.#worker = this.#engine ? null : this.#newWorker();
    } catch {
      this.#worker = null; // forbidden here, as in some frames
    }
    if (!this.#worker) this.#engine ??= this.makeEngine()(this.scenes);
    for (const [number, { body }] of this.#asked) this.#send(number, body);
  }

  #newWorker() {
    const source = `"use strict"; const engine = (${this.makeEngine})()(${JSON.stringify(this.scenes)});
      onmessage = ({ data: [number, body] }) => postMessage([number, engine.solve(body)]);`;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(address);
    worker.onmessage = ({ data: [number, answer] }) => {
      URL.revokeObjectURL(address);
      this.#answered(number, answer);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      this.#engine ??= this.makeEngine()(this.scenes); // from here on without Workers
      this.#begin();
    };
    return worker;
  }

  #send(number, body) {
    if (this.#worker) this.#worker.postMessage([number, body]);
    else setTimeout(() => this.#asked.has(number) && this.#answered(number, this.#engine.solve(body)));
  }

  #answered(number, answer) {
    this.#asked.get(number)?.done(answer);
    this.#asked.delete(number);
  }
}
