// The state of the page, its listeners, undo and redo.

export class Store {
  /** follow(patch, state): what else changes with a patch. */
  constructor(state, follow = () => ({})) {
    Object.assign(this, { state, follow });
    this.past = [];
    this.future = [];
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * Change some keys of the state.
   *
   * undoable: keep the old values of these keys for `undo`.
   * visit: add an entry to the browser's history.
   */
  change(patch, { undoable = false, visit = false } = {}) {
    if (undoable) {
      this.past.push(this.#now(patch));
      this.future = [];
    }
    this.#apply(patch, visit);
  }

  undo() {
    this.#travel(this.past, this.future);
  }

  redo() {
    this.#travel(this.future, this.past);
  }

  forgetHistory() {
    this.past = [];
    this.future = [];
  }

  #now(patch) {
    return Object.fromEntries(Object.keys(patch).map((key) => [key, this.state[key]]));
  }

  #travel(from, to) {
    const patch = from.pop();
    if (!patch) return;
    to.push(this.#now(patch));
    this.#apply(patch, false);
  }

  #apply(patch, visit) {
    const before = this.state;
    this.state = { ...before, ...this.follow(patch, before), ...patch };
    for (const listener of this.listeners) listener(this.state, before, visit);
  }
}
