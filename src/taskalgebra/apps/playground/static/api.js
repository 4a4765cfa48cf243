// Requests to the server.  Only the newest request of a kind matters: while one is under way, the
// next one waits, and those in between are never sent.

class ApiError extends Error {
  constructor(error) {
    super(error.message);
    this.field = error.field ?? null;
    this.start = error.start ?? null;
    this.end = error.end ?? null;
  }
}

const UNREACHABLE = "The server does not answer. Start it again with: taskalgebra play";

async function ask(path, body) {
  let response;
  try {
    response = await fetch(path, body && {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
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
    Object.assign(this, { path, answer, refuse, busy: false, next: null });
  }

  ask(body) {
    this.next = body;
    if (!this.busy) this.#work();
  }

  /** Forget what was asked; an answer that still arrives is ignored. */
  drop() {
    this.next = null;
    this.dropped = this.busy;
  }

  async #work() {
    this.busy = true;
    while (this.next !== null) {
      const body = this.next;
      this.next = null;
      this.dropped = false;
      const [callback, what] = await ask(this.path, body).then(
        (result) => [this.answer, result],
        (error) => [this.refuse, error],
      );
      this.busy = this.next !== null; // before the callback, which may fail or ask again
      if (!this.busy && !this.dropped) callback(what, body);
    }
  }
}
