// Layers written as formulas again, with G, N, R and W where they are shorter than a negation, as
// `logic/writing.py`.  The length of a formula is counted in names, constants and operators.

import { literalsOf } from "./layers.js";
import { Forest, isLeaf } from "./tree.js";

const NEGATED = { next: "weak_next", eventually: "always", until: "release" };

/** Functions and literals as steps, each written once. */
export class Writer {
  #forest = new Forest();
  #lengths = [];
  #done = new Map();
  #weakOperands = new Map();

  constructor(layers) {
    this.layers = layers;
  }

  /** The steps of a function, and no others. */
  written(root) {
    const stack = [["function", root, true]];
    while (stack.length) {
      const key = stack.pop();
      if (this.#done.has(key.join())) continue;
      const missing = this.#needs(key).filter((one) => !this.#done.has(one.join()));
      if (missing.length) stack.push(key, ...missing);
      else this.#done.set(key.join(), this.#write(key));
    }
    return this.#forest.only(this.#at(root));
  }

  /** What must be written before. */
  #needs([what, place, sign]) {
    const { layers } = this;
    if (what === "function") {
      const atoms = layers.union(place);
      return this.#both(place).flatMap((cubes, turned) =>
        cubes.flatMap((cube) => literalsOf(cube, atoms).map(([atom, positive]) => ["atom", atom, positive !== Boolean(turned)])));
    }
    const [kind, first, second] = layers.atoms[place];
    if (kind === "name") return [];
    const operands = kind === "until" ? [first, second] : [first];
    const needed = sign || kind === "until" ? [...operands] : [];
    if (!sign) needed.push(...operands.map((one) => layers.negation(one)));
    if (!sign && kind === "until") needed.push(...this.#weak(place));
    return needed.map((one) => ["function", one, true]);
  }

  /** Short sums of products of a function and of its negation. */
  #both(f) {
    return [this.layers.cover(f), this.layers.cover(this.layers.negation(f))];
  }

  /** The operands of ~(f U g) = ~g W (~f & ~g). */
  #weak(atom) {
    if (!this.#weakOperands.has(atom)) {
      const { layers } = this;
      const [, first, second] = layers.atoms[atom];
      const g = layers.negation(second);
      const right = layers.apply((x, y) => x & y, layers.negation(first), g);
      this.#weakOperands.set(atom, [layers.ofCubes(layers.cover(g, right), layers.union(g, right)), right]);
    }
    return this.#weakOperands.get(atom);
  }

  #write([what, place, sign]) {
    if (what === "function") return this.#function(place);
    const [kind, first, second] = this.layers.atoms[place];
    if (kind === "name") {
      const name = this.#step("name", first);
      return sign ? name : this.#step("not", name);
    }
    const not = (f) => this.#at(this.layers.negation(f));
    if (kind !== "until") return this.#step(sign ? kind : NEGATED[kind], sign ? this.#at(first) : not(first));
    const until = this.#step("until", this.#at(first), this.#at(second));
    if (sign) return until;
    const weak = this.#step("weak_until", ...this.#weak(place).map((one) => this.#at(one)));
    return this.#shortest(weak, this.#step("release", not(first), not(second)), this.#step("not", until));
  }

  #at(f) {
    return this.#done.get(`function,${f},true`);
  }

  /** The shorter one of a sum of products and a product of sums. */
  #function(f) {
    const atoms = this.layers.union(f);
    const names = ([atom]) => this.layers.atoms[atom][0] !== "name"; // names first, then temporal formulas
    const forms = this.#both(f).map((cubes, i) => {
      const turned = i === 1;
      const [inner, outer] = turned ? ["or", "and"] : ["and", "or"];
      const parts = cubes.map((cube) => {
        const literals = literalsOf(cube, atoms).sort((a, b) => names(a) - names(b) || a[0] - b[0]);
        const places = literals.map(([atom, sign]) => this.#done.get(`atom,${atom},${sign !== turned}`));
        return { later: literals.some(names), place: this.#joined(inner, places, !turned) };
      });
      parts.sort((a, b) => a.later - b.later);
      return this.#joined(outer, parts.map(({ place }) => place), turned);
    });
    return this.#shortest(...forms);
  }

  /** Several steps under one operator; of none, a constant. */
  #joined(kind, places, empty) {
    return places.length ? places.reduce((a, b) => this.#step(kind, a, b)) : this.#step("constant", empty);
  }

  #shortest(...places) {
    return places.reduce((a, b) => (this.#lengths[b] < this.#lengths[a] ? b : a));
  }

  #step(kind, ...rest) {
    const place = this.#forest.add(kind, ...rest);
    if (place === this.#lengths.length) {
      const operands = isLeaf([kind]) ? [] : rest;
      this.#lengths.push(operands.reduce((sum, one) => sum + this.#lengths[one], 1));
    }
    return place;
  }
}
