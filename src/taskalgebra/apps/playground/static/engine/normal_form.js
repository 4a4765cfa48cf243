// Temporal formulas in negation normal form, over the letters of an alphabet, as
// `logic/normal_form.py`.
//
// A letter is a set of names; a Boolean formula is the set of letters at which it holds, the bits of
// a BigInt: a guard.  What is left are guards under ∧, ∨, X, N, U and R, each node stored once.

/** The distinct nodes of a formula: ["guard", letters], or an operator with its operands' places. */
export class NormalForm {
  #places = new Map();

  constructor(steps, letters) {
    this.nodes = [];
    this.everything = (1n << BigInt(letters.length)) - 1n;
    this.false = this.#guard(0n);
    this.true = this.#guard(this.everything);
    this.root = this.#read(steps, letters);
  }

  /** The place of a formula; each step has one for itself and one for its negation. */
  #read(steps, letters) {
    const places = [];
    for (const [kind, first, second] of steps) {
      if (kind === "name") {
        const bits = letters.reduce((sum, letter, i) => (letter.has(first) ? sum | (1n << BigInt(i)) : sum), 0n);
        places.push([this.#guard(bits), this.#guard(this.everything ^ bits)]);
      } else if (kind === "constant") places.push(first ? [this.true, this.false] : [this.false, this.true]);
      else if (kind === "not") places.push([...places[first]].reverse());
      else if (second === undefined) places.push(this.#unary(kind, ...places[first]));
      else places.push(this.#binary(kind, ...places[first], ...places[second]));
    }
    return places.at(-1)[0];
  }

  #unary(kind, a, notA) {
    if (kind === "next") return [this.#next(a), this.#weak(notA)];
    if (kind === "weak_next") return [this.#weak(a), this.#next(notA)];
    if (kind === "eventually") return [this.#until(this.true, a), this.#release(this.false, notA)];
    return [this.#release(this.false, a), this.#until(this.true, notA)];
  }

  #binary(kind, a, notA, b, notB) {
    const [and, or] = [(x, y) => this.#and(x, y), (x, y) => this.#or(x, y)];
    if (kind === "and") return [and(a, b), or(notA, notB)];
    if (kind === "or") return [or(a, b), and(notA, notB)];
    if (kind === "xor") return [or(and(a, notB), and(notA, b)), or(and(a, b), and(notA, notB))];
    if (kind === "until") return [this.#until(a, b), this.#release(notA, notB)];
    if (kind === "release") return [this.#release(a, b), this.#until(notA, notB)];
    const [either, neither] = [or(a, b), and(notA, notB)]; // a W b = b R (a ∨ b)
    return [this.#release(b, either), this.#until(notB, neither)];
  }

  #place(kind, first, second) {
    const key = `${kind} ${first} ${second}`;
    if (!this.#places.has(key)) this.#places.set(key, this.nodes.push([kind, first, second]) - 1);
    return this.#places.get(key);
  }

  #guard(letters) {
    return this.#place("guard", letters);
  }

  #and(one, two) {
    const [a, b] = [Math.min(one, two), Math.max(one, two)];
    if (a === this.false || a === b) return a;
    if (a === this.true) return b;
    const [[kind, x], [other, y]] = [this.nodes[a], this.nodes[b]];
    return kind === "guard" && other === "guard" ? this.#guard(x & y) : this.#place("and", a, b);
  }

  #or(one, two) {
    const [a, b] = [Math.min(one, two), Math.max(one, two)];
    if (a === b) return a;
    if (a === this.true || b === this.true) return this.true;
    if (a === this.false) return b;
    const [[kind, x], [other, y]] = [this.nodes[a], this.nodes[b]];
    return kind === "guard" && other === "guard" ? this.#guard(x | y) : this.#place("or", a, b);
  }

  #next(a) {
    return a === this.false ? a : this.#place("next", a);
  }

  #weak(a) {
    return a === this.true ? a : this.#place("weak", a);
  }

  #until(a, b) {
    if (b === this.true || b === this.false || a === b || a === this.false) return b;
    const [kind, first, second] = this.nodes[b];
    if (a === this.true && first === this.true && kind === "until") return b; // F F a = F a
    if (a === this.true && first === this.false && kind === "release") return this.#atLast(second);
    return this.#place("until", a, b);
  }

  #release(a, b) {
    if (b === this.true || b === this.false || a === b || a === this.true) return b;
    const [kind, first, second] = this.nodes[b];
    if (a === this.false && first === this.false && kind === "release") return b; // G G a = G a
    if (a === this.false && first === this.true && kind === "until") return this.#atLast(second);
    return this.#place("release", a, b);
  }

  /** G F a and F G a, which speak of the last step only. */
  #atLast(a) {
    return this.#until(this.true, this.#and(a, this.#weak(this.false)));
  }
}

const HOLD = new Set(["weak_next", "always", "release", "weak_until"]);

/** Whether a formula holds of the empty trace: N, G, R and W do; names, X, F and U do not. */
export function holdsAtTheEnd(steps) {
  const values = [];
  for (const [kind, first, second] of steps) {
    if (kind === "constant") values.push(first);
    else if (kind === "not") values.push(!values[first]);
    else if (kind === "and") values.push(values[first] && values[second]);
    else if (kind === "or") values.push(values[first] || values[second]);
    else if (kind === "xor") values.push(values[first] !== values[second]);
    else values.push(HOLD.has(kind));
  }
  return values.at(-1);
}
