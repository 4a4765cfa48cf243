// Which states lead where, as `worlds/graph.py`.

/** The states from which some step may lead to each state: {start, source}, sources with repeats. */
export function predecessors({ nStates, nActions, offset, successor, goalOf }) {
  const start = new Int32Array(nStates + 1);
  for (let s = 0; s < nStates; s += 1) {
    if (goalOf[s] >= 0) continue;
    for (let k = offset[s * nActions]; k < offset[(s + 1) * nActions]; k += 1) start[successor[k] + 1] += 1;
  }
  for (let s = 0; s < nStates; s += 1) start[s + 1] += start[s];
  const source = new Int32Array(start[nStates]);
  const cursor = start.slice(0, -1);
  for (let s = 0; s < nStates; s += 1) {
    if (goalOf[s] >= 0) continue;
    for (let k = offset[s * nActions]; k < offset[(s + 1) * nActions]; k += 1) source[cursor[successor[k]]++] = s;
  }
  return { start, source };
}

/** The number of steps on a shortest way from each state to one of the targets; −1 for none. */
export function distances({ start, source }, targets) {
  const far = new Int32Array(start.length - 1).fill(-1);
  const queue = [...targets];
  for (const s of queue) far[s] = 0;
  for (let head = 0; head < queue.length; head += 1) {
    const t = queue[head];
    for (let k = start[t]; k < start[t + 1]; k += 1) {
      const s = source[k];
      if (far[s] >= 0) continue;
      far[s] = far[t] + 1;
      queue.push(s);
    }
  }
  return far;
}

/** The states from which some policy surely ends in one of these goals, by default in any. */
export function ending(world, goals = world.goals) {
  if (world.deterministic) return distances(predecessors(world), goals).map((far) => (far >= 0 ? 1 : 0));
  const kept = new Uint8Array(world.nStates).fill(1);
  for (;;) {
    const near = attracted(world, goals, kept).near;
    let same = true;
    for (let s = 0; s < world.nStates; s += 1) {
      if (kept[s] && !near[s]) {
        kept[s] = 0;
        same = false;
      }
    }
    if (same) return kept;
  }
}

/**
 * From near to far: {near, actions}, the states from which actions that never leave `kept` may lead
 * to `near` at first the given states, and such actions: of those that may lead a step closer, the
 * first.
 */
export function attracted(world, targets, kept, actions = new Int32Array(world.nStates)) {
  const { nStates, nActions, offset, successor, goalOf } = world;
  const near = new Uint8Array(nStates);
  for (const s of targets) near[s] = 1;
  const chosen = actions.slice();
  const { start, source } = predecessors(world);
  let layer = [...targets];
  while (layer.length) {
    const next = new Set();
    for (const t of layer) for (let k = start[t]; k < start[t + 1]; k += 1) if (!near[source[k]]) next.add(source[k]);
    const found = [];
    for (const s of next) {
      if (!kept[s] || goalOf[s] >= 0) continue;
      for (let a = 0; a < nActions; a += 1) {
        const [from, to] = [offset[s * nActions + a], offset[s * nActions + a + 1]];
        let [safe, closer] = [true, false];
        for (let k = from; k < to; k += 1) {
          safe &&= kept[successor[k]] === 1;
          closer ||= near[successor[k]] === 1;
        }
        if (safe && closer) {
          chosen[s] = a;
          found.push(s);
          break;
        }
      }
    }
    for (const s of found) near[s] = 1;
    layer = found;
  }
  return { near, actions: chosen };
}

/** The states from which a policy may miss every one of the targets forever. */
export function mayMiss(world, actions, targets) {
  const chain = chainOf(world, actions);
  const back = predecessors(chain);
  const far = distances(back, targets);
  const never = Array.from(far.keys()).filter((s) => far[s] < 0);
  return distances(back, never).map((one) => (one >= 0 ? 1 : 0));
}

/** The world with one action in each state, that of a policy. */
export function chainOf({ nStates, nActions, offset, successor, probability, goalOf }, actions) {
  const [first, to, chance] = [[0], [], []];
  for (let s = 0; s < nStates; s += 1) {
    const pair = s * nActions + actions[s];
    for (let k = offset[pair]; k < offset[pair + 1]; k += 1) {
      to.push(successor[k]);
      chance.push(probability[k]);
    }
    first.push(to.length);
  }
  return { nStates, nActions: 1, offset: first, successor: to, probability: chance, goalOf };
}
