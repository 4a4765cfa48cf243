// Short sums of products for truth tables, as `logic/sum_of_products.py`.
//
// A Boolean function of n names is a BigInt of 2ⁿ bits: bit i is the value under the assignment in
// which name j is true exactly when bit j of i is set.  A product is {positive, negative}, masks of
// names.  Shortest is a total order, so the answer is unique: fewest products, then fewest literals,
// then the sum whose first differing product comes earlier in the order of cubes.

/** Up to this many names a sum is a minimum. */
export const EXACT_NAMES = 6;

export const allTrue = (n) => (1n << (1n << BigInt(n))) - 1n;

/** The set bits of a mask, lowest first. */
export function ones(mask) {
  const found = [];
  for (let i = 0n; mask; i += 1n, mask >>= 1n) if (mask & 1n) found.push(1n << i);
  return found;
}

export function bitCount(mask) {
  let count = 0;
  for (; mask; mask &= mask - 1n) count += 1;
  return count;
}

const highest = (mask) => mask.toString(2).length - 1;
const tables = new Map();

/** The truth tables of the names themselves: bit i of entry j is bit j of i. */
export function nameTables(n) {
  if (!tables.has(n)) {
    const all = allTrue(n);
    // Half of each period of 2^(j + 1) rows is true: all / (2^(2^j) + 1) are the lower halves.
    tables.set(n, Array.from({ length: n }, (_, j) => all - all / ((1n << (1n << BigInt(j))) + 1n)));
  }
  return tables.get(n);
}

const has = (mask, j) => ((mask >> j) & 1) === 1;
const literals = ({ positive, negative }) => bitCount(BigInt(positive | negative));

function orderOf(cube, n) {
  let digits = 0;
  for (let j = 0; j < n; j += 1) digits = 3 * digits + (has(cube.positive, j) ? 0 : has(cube.negative, j) ? 1 : 2);
  return [literals(cube), digits];
}

function byOrder(n) {
  return (a, b) => {
    const [[one, first], [two, second]] = [orderOf(a, n), orderOf(b, n)];
    return one - two || first - second;
  };
}

export function cubeTable(cube, n) {
  let found = allTrue(n);
  nameTables(n).forEach((name, j) => {
    if (has(cube.positive, j)) found &= name;
    if (has(cube.negative, j)) found &= ~name;
  });
  return found;
}

const known = new Map();

/** All 3ⁿ cubes in order: {cube, rows, wider}, with the places of those with one literal less. */
function allCubes(n) {
  if (!known.has(n)) {
    const cubes = [];
    for (let p = 0; p < 1 << n; p += 1) for (let q = 0; q < 1 << n; q += 1) if (!(p & q)) cubes.push({ positive: p, negative: q });
    cubes.sort(byOrder(n));
    const place = new Map(cubes.map(({ positive, negative }, i) => [positive * 64 + negative, i]));
    const wider = ({ positive, negative }) =>
      Array.from({ length: n }, (_, j) => 1 << j)
        .filter((bit) => (positive | negative) & bit)
        .map((bit) => place.get((positive & ~bit) * 64 + (negative & ~bit)));
    known.set(n, cubes.map((cube) => ({ cube, rows: cubeTable(cube, n), wider: wider(cube) })));
  }
  return known.get(n);
}

/** Every prime implicant with its own truth table, in the order of cubes. */
function primes(table, n) {
  const cubes = allCubes(n);
  const implies = cubes.map(({ rows }) => (rows & ~table) === 0n);
  return cubes.filter(({ wider }, i) => implies[i] && !wider.some((w) => implies[w]));
}

/** The shortest sum of products that is true on `table` and false off `table | free`. */
export function shortestCover(table, free, n) {
  const needed = table & ~free;
  const found = primes(needed | free, n);
  const product = (n << n) + 1; // one product outweighs the literals of a whole cover
  const columns = found
    .map(({ cube, rows }, i) => ({ rows: rows & needed, cost: product + literals(cube), bit: 1n << BigInt(i) }))
    .filter(({ rows }) => rows);
  const chosen = firstCheapest(needed, columns);
  return found.filter((_, i) => (chosen >> BigInt(i)) & 1n).map(({ cube }) => cube);
}

const costOf = (columns) => columns.reduce((sum, { cost }) => sum + cost, 0);

/** Among the cheapest sets of columns that cover the rows, the one with the earliest columns. */
function firstCheapest(rows, columns) {
  let budget = costOf(columns);
  let witness = 0n;
  for (;;) {
    const found = coverWithin(budget, rows, columns);
    if (found === null) break;
    witness = found;
    budget = costOf(columns.filter(({ bit }) => bit & found)) - 1;
  }
  budget += 1;
  let kept = 0n;
  for (const [i, column] of columns.entries()) {
    if (!rows) break;
    if (!(witness & column.bit)) {
      const found = coverWithin(budget - column.cost, rows & ~column.rows, columns.slice(i + 1));
      if (found === null) continue;
      witness = kept | column.bit | found;
    }
    kept |= column.bit;
    rows &= ~column.rows;
    budget -= column.cost;
  }
  return kept;
}

/** Some columns, sorted by cost, that cover the rows for at most the budget; null if none do. */
function coverWithin(budget, rows, columns) {
  let chosen = 0n;
  let users;
  for (;;) {
    columns = undominated(rows, columns);
    users = usersOf(rows, columns);
    const forced = new Set([...users.values()].filter((mask) => !(mask & (mask - 1n))));
    if (forced.has(0n)) return null;
    for (const mask of forced) {
      const column = columns[highest(mask)];
      rows &= ~column.rows;
      budget -= column.cost;
      chosen |= column.bit;
    }
    if (budget < 0) return null;
    if (!rows) return chosen;
    if (forced.size) continue;
    users = withoutImplied(users);
    const [bound, helpful] = lowerBound(users, columns);
    if (bound > budget) return null;
    const affordable = columns.filter(({ cost }, i) => (helpful >> BigInt(i)) & 1n || bound + cost <= budget);
    const left = [...users.keys()].reduce((sum, row) => sum | row, 0n);
    if (left === rows && affordable.length === columns.length) break;
    [rows, columns] = [left, affordable];
  }
  const fewest = [...users.values()].reduce((a, b) => (bitCount(b) < bitCount(a) ? b : a));
  const options = ones(fewest).map((bit) => columns[highest(bit)]);
  options.sort((a, b) => bitCount(b.rows) - bitCount(a.rows));
  for (const column of options) {
    const found = coverWithin(budget - column.cost, rows & ~column.rows, columns);
    if (found !== null) return chosen | column.bit | found;
    columns = columns.filter((other) => other !== column);
  }
  return null;
}

function undominated(rows, columns) {
  const kept = [];
  for (const column of columns) {
    const covered = column.rows & rows;
    if (covered && !kept.some((cheaper) => (covered & ~cheaper.rows) === 0n)) kept.push({ ...column, rows: covered });
  }
  return kept;
}

/** For each row the columns that cover it, as a mask of places in the list. */
function usersOf(rows, columns) {
  const users = new Map(ones(rows).map((row) => [row, 0n]));
  columns.forEach((column, i) => {
    for (const row of ones(column.rows)) users.set(row, users.get(row) | (1n << BigInt(i)));
  });
  return users;
}

/** Drop a row if every column of some other row covers it as well. */
function withoutImplied(users) {
  const kept = new Map();
  for (const [row, mask] of [...users].sort(([, a], [, b]) => bitCount(a) - bitCount(b))) {
    if (![...kept.values()].some((harder) => (harder & ~mask) === 0n)) kept.set(row, mask);
  }
  return kept;
}

/** A lower bound on the cost of a cover, and the columns that it counts. */
function lowerBound(users, columns) {
  let [bound, helpful] = [0, 0n];
  for (const mask of [...users.values()].sort((a, b) => bitCount(a) - bitCount(b))) {
    if (mask & helpful) continue;
    helpful |= mask;
    bound += columns[highest(mask & -mask)].cost;
  }
  return [bound, helpful];
}

/** A sum of primes in which no product can be left out (Minato and Morreale). */
export function irredundantCover(table, free, n) {
  const needed = table & ~free;
  return irredundant(needed, needed | free, n)[0].sort(byOrder(n));
}

function irredundant(needed, allowed, n) {
  if (!needed) return [[], 0n];
  if (allowed === allTrue(n)) return [[{ positive: 0, negative: 0 }], allowed];
  const half = 1n << BigInt(n - 1);
  const low = allTrue(n - 1);
  const [needed0, needed1, allowed0, allowed1] = [needed & low, needed >> half, allowed & low, allowed >> half];
  const [cubes0, table0] = irredundant(needed0 & ~allowed1, allowed0, n - 1);
  const [cubes1, table1] = irredundant(needed1 & ~allowed0, allowed1, n - 1);
  const rest = (needed0 & ~table0) | (needed1 & ~table1);
  const [cubes, table] = irredundant(rest, allowed0 & allowed1, n - 1);
  const bit = 1 << (n - 1);
  const found = [
    ...cubes,
    ...cubes0.map(({ positive, negative }) => ({ positive, negative: negative | bit })),
    ...cubes1.map(({ positive, negative }) => ({ positive: positive | bit, negative })),
  ];
  return [found, table | table0 | ((table | table1) << half)];
}
