// Shorter temporal formulas with the same meaning, by laws on layers, as `logic/rewriting.py`:
//
//     F F a = F a      F(a | F b) = F(a | b)     F(a U b) = F b      F X a = X F a    G F G a = F G a
//     a U F b = F b    a U (a U b) = a U b       (a U b) U b = a U b    true U a = F a
//     F a | F b = F(a | b)        X a & X b = X(a & b)      X a | X b = X(a | b)
//     a U b | a U c = a U (b | c)      a U c & b U c = (a & b) U c      (a | b) U b = a U b

import { Layers, TooManyAtomsError, literalsOf } from "./layers.js";
import { length } from "./python.js";
import { written } from "./tree.js";
import { Writer } from "./writing.js";

const MOST_STEPS = 1_000; // a formula of more subformulas is left as it is
const ROUNDS = 8;
const DEPTH = 16; // of merges inside merged operands
const MOST_TEXT = 1_000_000; // characters, up to which a formula is written to see its length

const OPERATIONS = { and: (x, y) => x & y, xor: (x, y) => x ^ y, or: (x, y) => x | y };
const { and, or } = OPERATIONS;

/** A formula with the same meaning on every non-empty finite trace, never a longer one. */
export function shortened(steps) {
  if (steps.length > MOST_STEPS) return steps;
  const rewriting = new Rewriting();
  try {
    const found = new Writer(rewriting.layers).written(rewriting.read(steps));
    return lengthOf(found) < lengthOf(steps) ? found : steps;
  } catch (error) {
    if (error instanceof TooManyAtomsError) return steps;
    throw error;
  }
}

/** The length of a formula as text; shared subformulas could make it longer than memory. */
function lengthOf(steps) {
  const sizes = [];
  for (const [kind, first, second] of steps) {
    const operands = kind === "name" || kind === "constant" ? [] : [first, second].filter((one) => one !== undefined);
    sizes.push(operands.reduce((sum, one) => sum + sizes[one], 1));
  }
  return sizes.at(-1) > MOST_TEXT ? sizes.at(-1) : length(written(steps));
}

class Rewriting {
  #short = new Map();
  #depth = 0;

  constructor() {
    this.layers = new Layers();
  }

  /** The function of a formula. */
  read(steps) {
    const { layers } = this;
    const found = [];
    for (const [kind, first, second] of steps) {
      if (kind === "name") found.push(layers.atom("name", first));
      else if (kind === "constant") found.push(first ? layers.true : layers.false);
      else if (kind === "not") found.push(layers.negation(found[first]));
      else if (kind in OPERATIONS) found.push(layers.apply(OPERATIONS[kind], found[first], found[second]));
      else if (second === undefined) found.push(this.#unary(kind, found[first]));
      else found.push(this.#binary(kind, found[first], found[second]));
    }
    return this.#shortened(found.at(-1));
  }

  #unary(kind, f) {
    const { layers } = this;
    if (kind === "weak_next") return layers.negation(this.#next(layers.negation(f)));
    if (kind === "always") return layers.negation(this.#eventually(layers.negation(f)));
    return kind === "next" ? this.#next(f) : this.#eventually(f);
  }

  #binary(kind, f, g) {
    const { layers } = this;
    if (kind === "until") return this.#until(f, g);
    const [a, b] = kind === "weak_until" ? [g, layers.apply(or, f, g)] : [f, g]; // f W g = g R (f | g)
    return layers.negation(this.#until(layers.negation(a), layers.negation(b)));
  }

  #next(f) {
    const short = this.#shortened(f);
    return short === this.layers.false ? short : this.layers.atom("next", short);
  }

  #eventually(f) {
    const { layers } = this;
    let steps = 0;
    let short = this.#shortened(f);
    for (;;) {
      const [atom, sign] = layers.literal(short) ?? [["", 0, 0], false];
      if (sign && atom[0] === "next") [steps, short] = [steps + 1, atom[1]]; // F X a = X F a
      else {
        const found = this.#withoutEventually(short);
        if (found === short) break;
        short = this.#shortened(found);
      }
    }
    if (short !== layers.false && short !== layers.true && !this.#atTheEnd(short)) short = layers.atom("eventually", short);
    for (let i = 0; i < steps; i += 1) short = this.#next(short);
    return short;
  }

  /** F(a | F b) = F(a | b) and F(a | b U c) = F(a | c): the operand without F b and b U c. */
  #withoutEventually(f) {
    const { layers } = this;
    const atoms = layers.union(f);
    const [rest, loose] = [[], []];
    for (const cube of layers.cover(f)) {
      const literals = literalsOf(cube, atoms);
      const [kind, first, second] = literals.length === 1 && literals[0][1] ? layers.atoms[literals[0][0]] : ["", 0, 0];
      if (kind === "eventually" || kind === "until") loose.push(kind === "eventually" ? first : second);
      else rest.push(cube);
    }
    if (!loose.length) return f;
    return loose.reduce((found, g) => layers.apply(or, found, g), layers.ofCubes(rest, atoms));
  }

  /** Whether a function is G F a or its negation F G ~a, which speak of the last step only. */
  #atTheEnd(f) {
    let inner = f;
    for (let i = 0; i < 2; i += 1) {
      const [atom, sign] = this.layers.literal(inner) ?? [["", 0, 0], true];
      if (atom[0] !== "eventually" || sign) return false;
      inner = atom[1];
    }
    return true;
  }

  #until(left, right) {
    const { layers } = this;
    const g = this.#shortened(right);
    if (g === layers.false || g === layers.true) return g;
    const f = layers.ofCubes(layers.cover(left, g), layers.union(left, g));
    if (f === layers.true) return this.#eventually(g);
    if (f === layers.false) return g;
    const [atom, sign] = layers.literal(g) ?? [["", 0, 0], false];
    if (sign && (atom[0] === "eventually" || (atom[0] === "until" && atom[1] === f))) return g;
    const [other, positive] = layers.literal(f) ?? [["", 0, 0], false];
    if (positive && other[0] === "until" && other[2] === g) return f;
    return layers.atom("until", f, g);
  }

  /** The function of a short sum of products that is the same on every trace. */
  #shortened(f) {
    if (this.#short.has(f)) return this.#short.get(f);
    let found = f;
    this.#depth += 1;
    for (let i = 0; i < (this.#depth <= DEPTH ? ROUNDS : 0); i += 1) {
      const before = found;
      found = this.#merged(this.layers.cover(before), this.layers.union(before));
      if (found === before) break;
    }
    this.#depth -= 1;
    this.#short.set(found, found);
    this.#short.set(f, found);
    return found;
  }

  /** A sum of products, in which atoms are merged if that makes one of two. */
  #merged(cubes, atoms) {
    const { layers } = this;
    let total = layers.false;
    const single = [];
    for (const cube of cubes) {
      const literals = literalsOf(cube, atoms);
      if (literals.length === 1) single.push(...literals);
      else total = layers.apply(or, total, this.#joined(literals, false).reduce((a, b) => layers.apply(and, a, b), layers.true));
    }
    return this.#joined(single, true).reduce((a, b) => layers.apply(or, a, b), total);
  }

  /** The literals of a sum or of a product, as functions, some merged into one. */
  #joined(literals, either) {
    const groups = new Map();
    for (const [place, sign] of literals) {
      const atom = this.layers.atoms[place];
      const [kind, first, second] = atom;
      const joins = either === sign; // ¬a ∧ ¬b = ¬(a ∨ b)
      let key = `${place} ${sign}`;
      if (kind === "next" || (kind === "eventually" && joins)) key = `${kind} ${sign}`;
      else if (kind === "until") key = joins ? `${kind} ${sign} ${first}` : `${kind} ${sign} left ${second}`;
      groups.set(key, [...(groups.get(key) ?? []), [atom, sign]]);
    }
    return [...groups.values()].map((group) => this.#group(group, either));
  }

  /** One function for atoms of one kind. */
  #group(group, either) {
    const { layers } = this;
    const [[kind, first, second], sign] = group[0];
    let found;
    if (group.length === 1) found = layers.atom(kind, first, second);
    else {
      const join = either === sign ? or : and;
      const right = kind === "until" && join === or; // a U b | a U c = a U (b | c)
      const operand = group.map(([[, one, two]]) => (right ? two : one)).reduce((a, b) => layers.apply(join, a, b));
      if (kind === "next") found = this.#next(operand);
      else if (kind === "eventually") found = this.#eventually(operand);
      else found = right ? this.#until(first, operand) : this.#until(operand, second);
    }
    return sign ? found : layers.negation(found);
  }
}
