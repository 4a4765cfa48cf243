// A layered layout of a graph, from left to right, as `drawing/layered.py`.
//
// Nodes stand in columns by the longest way from the start; edges that close a cycle count
// backwards.  The label of an edge has a column between those of nodes, and an edge that passes a
// column has a place of its own there.  A box is {width, above, below} around its centre line.

const SWEEPS = 12;
const STRAIGHT = 6; // how much a line that passes a column counts, where its box is in the way
const GAP = 10; // between boxes of a column
const [LEAST, MOST, SLOPE] = [26, 110, 0.4]; // between columns, more where lines are steep

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const pairwise = (list) => list.slice(1).map((one, i) => [list[i], one]);

/** {nodes: [[x, y]], lines: [{stops: [[enter, leave, y]], label: [x, y]}], left, width, height}. */
export function layout(nodes, edges, labels) {
  const backwards = backEdges(nodes.length, edges);
  const forward = edges.map(([u, v], i) => (backwards[i] ? [v, u] : [u, v]));
  const ranks = ranksOf(nodes.length, forward).map((rank) => 2 * rank);
  const boxes = [...nodes];
  const paths = forward.map(([u, v], i) => {
    const path = [u];
    for (let rank = ranks[u] + 1; rank < ranks[v]; rank += 1) {
      path.push(boxes.length);
      boxes.push(path.length === 2 ? labels[i] : { width: 0, above: 6, below: 6 });
      ranks.push(rank);
    }
    return [...path, v];
  });
  const links = new Map(paths.flatMap(pairwise).map((link) => [link.join(), link]));
  const sorted = [...links.values()].sort(([a, b], [c, d]) => a - c || b - d);
  const columns = ordered(ranks, sorted);
  const raw = heights(columns, sorted, boxes);
  const [left, right] = widths(columns, sorted, boxes, raw);
  const top = Math.min(...raw.map((height, i) => height - boxes[i].above));
  const y = raw.map((height) => height - top);
  const middle = (i) => (left[ranks[i]] + right[ranks[i]]) / 2;
  const lines = paths.map((path, i) => {
    const stops = path.map((one) => [left[ranks[one]], right[ranks[one]], y[one]]);
    const label = [middle(path[1]), y[path[1]]];
    return { stops: backwards[i] ? stops.reverse().map(([start, end, height]) => [end, start, height]) : stops, label };
  });
  return {
    nodes: nodes.map((_, i) => [middle(i), y[i]]),
    lines,
    left: left[ranks[0]],
    width: right.at(-1),
    height: Math.max(...y.map((height, i) => height + boxes[i].below)),
  };
}

/** Whether an edge leads back to a node that a depth-first search has not left yet. */
function backEdges(n, edges) {
  const following = Array.from({ length: n }, () => []);
  edges.forEach(([u, v], place) => following[u].push([v, place]));
  const back = edges.map(() => false);
  const [begun, left] = [new Set([0]), new Set()];
  const stack = [[0, following[0].values()]];
  while (stack.length) {
    const [node, rest] = stack.at(-1);
    const { value, done } = rest.next();
    if (done) {
      left.add(node);
      stack.pop();
      continue;
    }
    const [other, place] = value;
    if (begun.has(other)) back[place] = !left.has(other);
    else {
      begun.add(other);
      stack.push([other, following[other].values()]);
    }
  }
  return back;
}

/** The number of edges on the longest way to each node of a graph without cycles. */
function ranksOf(n, edges) {
  const ranks = Array(n).fill(0);
  for (let i = 0; i < n; i += 1) for (const [u, v] of edges) ranks[v] = Math.max(ranks[v], ranks[u] + 1);
  return ranks;
}

/** The columns, each in an order with few crossings. */
function ordered(ranks, links) {
  const [before, after] = neighbours(ranks.length, links);
  const columns = Array.from({ length: Math.max(...ranks) + 1 }, () => []);
  ranks.forEach((rank, item) => columns[rank].push(item));
  const copy = () => columns.map((column) => [...column]);
  let [best, fewest] = [copy(), crossings(columns, after)];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    for (const column of down ? columns : [...columns].reverse()) {
      const place = new Map(columns.flatMap((other) => other.map((item, k) => [item, k])));
      const near = down ? before : after;
      const mean = (item) => (near[item].length ? sum(near[item].map((j) => place.get(j))) / near[item].length : place.get(item));
      const keys = new Map(column.map((item) => [item, mean(item)]));
      column.sort((a, b) => keys.get(a) - keys.get(b));
    }
    const found = crossings(columns, after);
    if (found < fewest) [best, fewest] = [copy(), found];
  }
  return best;
}

function neighbours(n, links) {
  const [before, after] = [0, 1].map(() => Array.from({ length: n }, () => []));
  for (const [u, v] of links) {
    before[v].push(u);
    after[u].push(v);
  }
  return [before, after];
}

/** How many pairs of links cross. */
function crossings(columns, after) {
  let total = 0;
  for (const [column, following] of pairwise(columns)) {
    const place = new Map(following.map((item, k) => [item, k]));
    const ends = [];
    for (const item of column) {
      const found = after[item].map((other) => place.get(other)).sort((a, b) => a - b);
      total += sum(found.map((end) => ends.filter((earlier) => earlier > end).length));
      ends.push(...found);
    }
  }
  return total;
}

/** The y of every item: near those of its neighbours, and boxes of a column stay apart. */
function heights(columns, links, boxes) {
  const [before, after] = neighbours(boxes.length, links);
  const y = boxes.map(() => 0);
  for (let sweep = 0; sweep < 2 * SWEEPS; sweep += 1) {
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const wanted = column.map((i) => {
        const near = sweep > 1 ? [...before[i], ...after[i]] : sweep === 0 ? before[i] : after[i];
        return near.length ? sum(near.map((j) => y[j])) / near.length : y[i];
      });
      const own = column.map((i) => boxes[i]);
      apart(wanted, own.map(({ width }) => (width ? 1 : STRAIGHT)), own).forEach((height, k) => (y[column[k]] = height));
    }
  }
  return y;
}

/** The heights nearest to the wanted ones, by least squares, at which boxes stay apart. */
function apart(wanted, weights, boxes) {
  let offset = 0;
  const offsets = boxes.map((box, k) => (offset += k ? boxes[k - 1].below + GAP + box.above : 0));
  const blocks = []; // weighted sums of wanted heights less offsets, weights, counts
  wanted.forEach((want, k) => {
    blocks.push([weights[k] * (want - offsets[k]), weights[k], 1]);
    while (blocks.length > 1 && blocks.at(-2)[0] / blocks.at(-2)[1] > blocks.at(-1)[0] / blocks.at(-1)[1]) {
      const last = blocks.pop();
      blocks.push(blocks.pop().map((one, i) => one + last[i]));
    }
  });
  const levels = blocks.flatMap(([total, weight, count]) => Array(count).fill(total / weight));
  return levels.map((level, k) => level + offsets[k]);
}

/** Where every column starts and ends. */
function widths(columns, links, boxes, y) {
  const rankOf = new Map(columns.flatMap((column, rank) => column.map((item) => [item, rank])));
  const steep = columns.map(() => 0);
  for (const [u, v] of links) steep[rankOf.get(v)] = Math.max(steep[rankOf.get(v)], Math.abs(y[u] - y[v]));
  const [left, right] = [[], []];
  columns.forEach((column, rank) => {
    const gap = Math.min(Math.max(LEAST, SLOPE * steep[rank]), MOST);
    left.push(right.length ? right.at(-1) + gap : 0);
    right.push(left.at(-1) + Math.max(...column.map((i) => boxes[i].width)));
  });
  return [left, right];
}
