// Requests to the server.  Only the newest request of a kind matters: while one is under way, the
// next one waits, and those in between are never sent.  What was dropped is aborted, and its answer
// is never heard of.

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

async function ask(path, body, signal) {
  const patience = AbortSignal.timeout(PATIENCE);
  let response;
  try {
    response = await fetch(path, {
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
      ...(body && {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
  } catch {
    throw new ApiError({ message: UNREACHABLE, field: "server" });
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new ApiError(answer?.error ?? { message: `The server failed (${response.status}).`, field: "server" });
}

export const presets = () => ask("/api/presets");

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
