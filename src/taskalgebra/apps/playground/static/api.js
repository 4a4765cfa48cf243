// Requests through one door: to the server, or, on an exported page, to the planner in the page.
// Only the newest request of a kind matters: while one is under way, the next one waits, and those
// in between are never sent.  What was dropped is aborted, and its answer is never heard of.

import { doorInPage } from "./door.js";

const PATIENCE = 120_000; // milliseconds; the first episode of Boxman loads a network

class ApiError extends Error {
  constructor(error) {
    super(error.message);
    this.field = error.field ?? null;
    this.start = error.start ?? null;
    this.end = error.end ?? null;
  }
}

const UNREACHABLE = "The server does not answer. Start it again with: taskalgebra play";
const SILENT = "The planner of this page does not answer; this world may be too large for it.";

/** The door of a served page: {ok, status, answer}, or an error if nobody answers. */
async function served(path, body, signal) {
  const response = await fetch(path, {
    signal,
    ...(body && {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  return { ok: response.ok, status: response.status, answer: await response.json().catch(() => null) };
}

const exported = globalThis.playgroundExport; // set by `taskalgebra play --export` only
const door = exported ? doorInPage(exported) : served;

async function ask(path, body, signal) {
  const patience = AbortSignal.timeout(PATIENCE);
  const found = await door(path, body, signal ? AbortSignal.any([signal, patience]) : patience).catch(() => {
    throw new ApiError({ message: exported ? SILENT : UNREACHABLE, field: "server" });
  });
  const { ok, status, answer } = found;
  if (ok && answer !== null) return answer;
  throw new ApiError(answer?.error ?? { message: `The server failed (${status}).`, field: "server" });
}

export const presets = () => ask("/api/presets");

/** The scene of a world that is not drawn. */
export const scene = (id) => ask(`/api/worlds/${encodeURIComponent(id)}`);

/** Requests to one path: `ask(body)` calls `answer(result, body)` or `refuse(error, body)`. */
export class Newest {
  constructor(path, answer, refuse) {
    Object.assign(this, { path, answer, refuse, current: null, next: null });
  }

  ask(body) {
    this.next = body;
    if (this.current === null) this.#work();
  }

  /** Forget what was asked; the next request waits for nothing. */
  drop() {
    this.next = null;
    this.current?.abort();
    this.current = null;
  }

  async #work() {
    while (this.next !== null) {
      const [body, current] = [this.next, new AbortController()];
      Object.assign(this, { next: null, current });
      const [callback, what] = await ask(this.path, body, current.signal).then(
        (result) => [this.answer, result],
        (error) => [this.refuse, error],
      );
      if (this.current !== current) return; // dropped; another request may be under way
      this.current = null; // before the callback, which may fail or ask again
      if (this.next === null) callback(what, body);
    }
  }
}
