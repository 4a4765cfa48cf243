// Temporal formulas as layers, as `logic/layers.py`: Boolean functions of names and of temporal
// formulas.
//
// The operands of a temporal operator, and the formula itself, are Boolean functions of atoms: a name,
// or X f, F f or f U g, where f and g are functions again.  The other operators are their negations.
// Atoms and functions are stored once.  A function is {atoms, table}: sorted places of atoms, and its
// truth table, the first atom for bit 0 of a row.

import { EXACT_NAMES, allTrue, cubeTable, irredundantCover, nameTables, shortestCover } from "./cubes.js";

const MOST_ATOMS = 12; // of one function

/** A function of more atoms than a table can have. */
export class TooManyAtomsError extends Error {}

export class Layers {
  #atomPlaces = new Map();
  #functionPlaces = new Map();
  #covers = new Map();

  constructor() {
    this.atoms = []; // [kind, first, second]
    this.functions = [];
    this.false = this.function([], 0n);
    this.true = this.function([], 1n);
  }

  /** The function that is this atom. */
  atom(kind, first, second = 0) {
    const key = JSON.stringify([kind, first, second]);
    if (!this.#atomPlaces.has(key)) this.#atomPlaces.set(key, this.atoms.push([kind, first, second]) - 1);
    return this.function([this.#atomPlaces.get(key)], 0b10n);
  }

  /** The place of a function, without the atoms that it does not depend on. */
  function(atoms, table) {
    let [needed, kept] = [atoms, table];
    for (let j = atoms.length - 1; j >= 0; j -= 1) {
      const name = nameTables(needed.length)[j];
      if (((kept << (1n << BigInt(j))) ^ kept) & name) continue;
      kept = without(kept, needed.length, 1 << j);
      needed = needed.filter((_, i) => i !== j);
    }
    const key = `${needed}:${kept}`;
    if (!this.#functionPlaces.has(key)) this.#functionPlaces.set(key, this.functions.push({ atoms: needed, table: kept }) - 1);
    return this.#functionPlaces.get(key);
  }

  /** The table of a function over more atoms. */
  over(place, atoms) {
    const { atoms: own, table } = this.functions[place];
    if (own.length === atoms.length) return table;
    const axes = own.map((atom) => nameTables(atoms.length)[atoms.indexOf(atom)]);
    const all = allTrue(atoms.length);
    let found = 0n;
    for (let row = 0; row < 1 << own.length; row += 1) {
      if (!((table >> BigInt(row)) & 1n)) continue;
      found |= axes.reduce((rows, axis, j) => rows & ((row >> j) & 1 ? axis : all & ~axis), all);
    }
    return found;
  }

  /** A Boolean operation on two functions. */
  apply(operation, f, g) {
    const atoms = this.union(f, g);
    if (atoms.length > MOST_ATOMS) throw new TooManyAtomsError();
    return this.function(atoms, operation(this.over(f, atoms), this.over(g, atoms)));
  }

  union(...functions) {
    return [...new Set(functions.flatMap((f) => this.functions[f].atoms))].sort((a, b) => a - b);
  }

  negation(f) {
    const { atoms, table } = this.functions[f];
    return this.function(atoms, allTrue(atoms.length) & ~table);
  }

  /** [atom, sign] of a function that is a single atom or its negation, else null. */
  literal(f) {
    const { atoms, table } = this.functions[f];
    return atoms.length === 1 ? [this.atoms[atoms[0]], table === 0b10n] : null;
  }

  /** Whether a table shows that f implies g. */
  implies(f, g) {
    const atoms = this.union(f, g);
    return atoms.length <= MOST_ATOMS && !(this.over(f, atoms) & ~this.over(g, atoms));
  }

  /**
   * A short sum of products; bit j of a cube is atom j of the function, or of both.  Rows that are
   * impossible, or where `free` holds, do not matter.
   */
  cover(f, free = null) {
    const key = `${f} ${free}`;
    if (!this.#covers.has(key)) {
      const atoms = free === null ? this.union(f) : this.union(f, free);
      const ignored = this.#impossible(atoms) | (free === null ? 0n : this.over(free, atoms));
      const find = atoms.length < EXACT_NAMES ? shortestCover : irredundantCover;
      this.#covers.set(key, find(this.over(f, atoms), ignored, atoms.length));
    }
    return this.#covers.get(key);
  }

  /** The function of a sum of products. */
  ofCubes(cubes, atoms) {
    return this.function(atoms, cubes.reduce((rows, cube) => rows | cubeTable(cube, atoms.length), 0n));
  }

  /** The rows over these atoms that no position of a trace has; not all are found. */
  #impossible(atoms) {
    const axis = new Map(atoms.map((atom, j) => [atom, nameTables(atoms.length)[j]]));
    const table = (f) => (this.functions[f].atoms.every((atom) => axis.has(atom)) ? this.over(f, atoms) : null);
    let rows = 0n;
    for (const one of atoms) {
      const holds = axis.get(one);
      const [kind, first, second] = this.atoms[one];
      if (kind === "name") continue;
      const [x, y] = [table(first), table(second)];
      if (kind === "eventually" && x !== null) rows |= x & ~holds;
      else if (kind === "until" && y !== null) rows |= (y & ~holds) | (x === null ? 0n : holds & ~x & ~y);
      else if (kind === "next") rows |= this.#unfolded(first, holds, axis, table);
      for (const two of atoms) if (two !== one) rows |= this.#contradiction(one, two, holds, axis.get(two));
    }
    return rows & allTrue(atoms.length);
  }

  /** Rows against F x = x ∨ X F x and x U y = y ∨ (x ∧ X(x U y)), for an atom X f. */
  #unfolded(f, holds, axis, table) {
    const found = this.literal(f);
    const own = this.functions[f].atoms[0];
    if (!found?.[1] || !axis.has(own)) return 0n;
    const [kind, first, second] = found[0];
    const now = axis.get(own);
    if (kind === "eventually") {
      const x = table(first);
      return x === null ? holds & ~now : now ^ (x | holds);
    }
    if (kind !== "until") return 0n;
    const [x, y] = [table(first), table(second)];
    return x === null || y === null ? 0n : now ^ (y | (x & holds));
  }

  /** Rows in which one atom holds and another does not, or neither or both, against laws. */
  #contradiction(one, two, first, second) {
    const [[kind, x, y], [other, v, w]] = [this.atoms[one], this.atoms[two]];
    if (kind === "name" || other === "name") return 0n;
    let rows = 0n;
    const stronger = kind === other && this.implies(x, v) && (kind !== "until" || this.implies(y, w));
    if (stronger || (kind === "until" && other === "eventually" && this.implies(y, v))) rows = first & ~second;
    if (kind === "eventually" && other === kind && this.implies(this.negation(x), v)) rows |= ~first & ~second;
    if (kind === "next" && other === kind && this.implies(x, this.negation(v))) rows |= first & second;
    return rows;
  }
}

/** A table without a name that it does not depend on, whose bit of a row is given. */
function without(table, n, bit) {
  let found = 0n;
  let place = 0n;
  for (let row = 0; row < 1 << n; row += 1) {
    if (row & bit) continue;
    found |= ((table >> BigInt(row)) & 1n) << place;
    place += 1n;
  }
  return found;
}

/** The atoms of a product with their signs. */
export function literalsOf({ positive, negative }, atoms) {
  return atoms.flatMap((atom, j) => (((positive | negative) >> j) & 1 ? [[atom, ((positive >> j) & 1) === 1]] : []));
}
