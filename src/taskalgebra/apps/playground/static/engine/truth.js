// What Boolean formulas mean, and the short formulas for it, as `logic/truth.py` and the
// playground's `expressions.py`.

import { allTrue, irredundantCover, nameTables, shortestCover } from "./cubes.js";
import { sorted } from "./python.js";
import { Forest, evaluated, written } from "./tree.js";

/** Base tasks up to which a sum of products is a shortest one. */
const MOST_EXACT = 5;

/** The truth table of a formula over these names, the first one for bit 0 of a row. */
export function truthTable(steps, names) {
  const all = allTrue(names.length);
  const of = new Map(names.map((name, j) => [name, nameTables(names.length)[j]]));
  const values = evaluated(steps, {
    name: (name) => of.get(name),
    constant: (value) => (value ? all : 0n),
    not: (x) => all & ~x,
    and: (x, y) => x & y,
    or: (x, y) => x | y,
    xor: (x, y) => x ^ y,
  });
  return values.at(-1);
}

/** A truth table over other names, of which those that are left out do not matter. */
function over(table, names, others) {
  let found = 0n;
  for (let row = 0; row < 1 << others.length; row += 1) {
    const place = names.reduce((sum, name, j) => sum | (((row >> others.indexOf(name)) & 1 && others.includes(name)) << j), 0);
    found |= ((table >> BigInt(place)) & 1n) << BigInt(row);
  }
  return found;
}

const has = (mask, j) => (BigInt(mask) >> BigInt(j)) & 1n;

/** A sum of products as a formula; bit j of a cube is the name j. */
export function sumOfCubes(cubes, names) {
  const forest = new Forest();
  const product = ({ positive, negative }) => {
    const literals = names.flatMap((name, j) => {
      if (has(positive, j)) return [forest.add("name", name)];
      return has(negative, j) ? [forest.add("not", forest.add("name", name))] : [];
    });
    return literals.length ? literals.reduce((a, b) => forest.add("and", a, b)) : forest.add("constant", true);
  };
  const root = cubes.length ? cubes.map(product).reduce((a, b) => forest.add("or", a, b)) : forest.add("constant", false);
  return forest.only(root);
}

/** A sum of products for a truth table: the shortest, or a short one where it needs 6 names. */
export function simplified(table, names) {
  const depends = (j) => {
    const name = nameTables(names.length)[j];
    return (((table << (1n << BigInt(j))) ^ table) & name) !== 0n;
  };
  const needed = names.filter((_, j) => depends(j));
  if (needed.length > MOST_EXACT) return written(sumOfCubes(irredundantCover(table, 0n, names.length), names));
  const order = sorted(needed);
  return written(sumOfCubes(shortestCover(over(table, names, order), 0n, order.length), order));
}
