// From a temporal formula to a deterministic automaton, by progression, as `logic/progression.py`.
//
// To progress a formula by a letter is to say what must hold of the rest of the trace: a positive
// combination of obligations, more(a) "there is more to come, and a holds of it" and rest(a) "there
// is nothing more to come, or a holds of it".  Sums of products in which no product contains another
// are the states; products are sets of bits.  What letters make of a sum is a partition of them: a
// map from a sum to a class of letters.  Whatever may grow is counted, and an error ends it early.

import { bitCount } from "./cubes.js";
import { NormalForm, holdsAtTheEnd } from "./normal_form.js";
import { counted } from "./python.js";

export const MOST_STATES = 5_000;
const MOST_WORK = 6_000_000;
const MOST_PRODUCTS = 1_000;
const [FALSE, TRUE] = [0, 1]; // the sums of no products and of the empty product
const [ENDED, GOES_ON] = [0b0010n, 0b0100n]; // rest(false) and more(true)

/** The automaton is too large, or takes too long to find. */
export class TooLargeError extends Error {
  constructor(what) {
    super(`the automaton of this formula ${what}`);
  }
}

/** What a construction may still take. */
export class Work {
  left = MOST_WORK;

  spend(work) {
    this.left -= work;
    if (this.left < 0) throw new TooLargeError("takes too long to find");
  }
}

/** The states that are reached by progression, {delta, accepting}; not yet minimal. */
export function machine(steps, letters, mostStates, work) {
  const progression = new Progression(new NormalForm(steps, letters), work);
  const states = new Map();
  const rows = [progression.ofNode(progression.normal.root)];
  const sums = [-1];
  for (const partition of rows) { // which grows
    for (const found of partition.keys()) {
      if (states.has(found)) continue;
      if (sums.length >= mostStates) throw new TooLargeError(`has more than ${counted(mostStates)} states`);
      states.set(found, sums.length);
      sums.push(found);
      rows.push(progression.ofSum(found));
    }
  }
  const delta = rows.map((partition) => {
    const row = new Int32Array(letters.length);
    for (const [found, where] of partition) {
      for (let i = 0, left = where; left; i += 1, left >>= 1n) if (left & 1n) row[i] = states.get(found);
    }
    return row;
  });
  return { delta, accepting: [holdsAtTheEnd(steps), ...sums.slice(1).map((found) => progression.mayEnd(found))] };
}

class Progression {
  #sums = [[], [0n]];
  #placeOf = new Map([["", FALSE], ["0", TRUE]]);
  #more = 0b0101n;
  #ofNode = new Map();
  #after = new Map();
  #joined = new Map();

  constructor(normal, work) {
    Object.assign(this, { normal, work });
    this.obligations = [normal.false, normal.true]; // bit 2i is more(node i), 2i + 1 is rest
    this.bitOf = new Map([[normal.false, 0], [normal.true, 2]]);
    this.ofProduct = new Map([[0n, new Map([[TRUE, normal.everything]])]]);
    this.width = 1 + Math.floor(normal.everything.toString(2).length / 256);
  }

  /** Whether a sum holds if nothing more comes. */
  mayEnd(place) {
    return this.#sums[place].some((product) => !(product & this.#more));
  }

  ofSum(place) {
    const nothing = new Map([[FALSE, this.normal.everything]]);
    return this.#sums[place].reduce((partition, product) => this.#join(partition, this.#product(product), true), nothing);
  }

  #product(product) {
    let done = 0n;
    for (let left = product; left; ) {
      const bit = left & -left;
      left ^= bit;
      const before = this.ofProduct.get(done);
      done |= bit;
      if (!this.ofProduct.has(done)) {
        const node = this.obligations[(bit.toString(2).length - 1) >> 1];
        this.ofProduct.set(done, this.#join(before, this.ofNode(node), false));
      }
    }
    return this.ofProduct.get(done);
  }

  /** What the letters make of a node, after its operands. */
  ofNode(root) {
    const stack = [root];
    while (stack.length) {
      const place = stack.at(-1);
      const [kind, first, second] = this.normal.nodes[place];
      if (["and", "or", "until", "release"].includes(kind)) {
        const missing = [first, second].filter((one) => !this.#ofNode.has(one));
        if (missing.length) {
          stack.push(...missing);
          continue;
        }
      }
      if (!this.#ofNode.has(place)) this.#ofNode.set(place, this.#progressed(place));
      stack.pop();
    }
    return this.#ofNode.get(root);
  }

  #progressed(place) {
    const [kind, first, second] = this.normal.nodes[place];
    const { everything } = this.normal;
    if (kind === "guard") return new Map([[TRUE, first], [FALSE, everything ^ first]].filter(([, where]) => where));
    if (kind === "next" || kind === "weak") return new Map([[this.#obligation(first, kind === "next"), everything]]);
    const [one, two] = [this.#ofNode.get(first), this.#ofNode.get(second)];
    if (kind === "and" || kind === "or") return this.#join(one, two, kind === "or");
    const until = kind === "until";
    const again = new Map([[this.#obligation(place, until), everything]]);
    return this.#join(two, this.#join(one, again, !until), until);
  }

  /** The sum that says more(a) or rest(a); ∧ and ∨ in a are taken apart. */
  #obligation(root, more) {
    const key = (place) => 2 * place + more;
    const stack = [root];
    while (stack.length) {
      const place = stack.at(-1);
      if (this.#after.has(key(place))) {
        stack.pop();
        continue;
      }
      const [kind, first, second] = this.normal.nodes[place];
      let joined;
      if (kind === "and" || kind === "or") {
        const [one, two] = [first, second].map((each) => this.#after.get(key(each)));
        if (one === undefined || two === undefined) {
          stack.push(first, second);
          continue;
        }
        joined = this.#joinedSums(one, two, kind === "or");
      } else if (place === (more ? this.normal.false : this.normal.true)) joined = more ? FALSE : TRUE;
      else {
        let bit = this.bitOf.get(place);
        if (bit === undefined) {
          bit = 2 * this.obligations.length;
          this.bitOf.set(place, bit);
          this.obligations.push(place);
          this.#more |= 1n << BigInt(bit);
        }
        joined = this.#stored([1n << BigInt(bit + !more)]);
      }
      this.#after.set(key(place), joined);
      stack.pop();
    }
    return this.#after.get(key(root));
  }

  /** The conjunction or disjunction of two partitions, letter by letter. */
  #join(one, two, either) {
    this.work.spend(one.size * two.size);
    const joined = new Map();
    for (const [a, here] of one) {
      for (const [b, there] of two) {
        const both = here & there;
        if (!both) continue;
        const found = this.#joinedSums(a, b, either);
        joined.set(found, (joined.get(found) ?? 0n) | both);
      }
    }
    this.work.spend(joined.size * this.width);
    return joined;
  }

  #joinedSums(one, two, either) {
    const [a, b] = [Math.min(one, two), Math.max(one, two)];
    if (a === b) return a;
    if (a === FALSE) return either ? b : a;
    if (a === TRUE) return either ? a : b;
    const key = `${either} ${a} ${b}`;
    if (!this.#joined.has(key)) {
      let products;
      if (either) products = new Set([...this.#sums[a], ...this.#sums[b]]);
      else {
        this.work.spend(this.#sums[a].length * this.#sums[b].length);
        products = new Set(this.#sums[a].flatMap((x) => this.#sums[b].map((y) => this.#productOf(x, y)).filter((p) => p >= 0n)));
      }
      this.#joined.set(key, this.#stored(this.#absorbed(products)));
    }
    return this.#joined.get(key);
  }

  /** The conjunction of two products, or −1 if nothing satisfies it. */
  #productOf(one, two) {
    const product = one | two;
    if (product & ENDED) return product & this.#more ? -1n : ENDED;
    return product & GOES_ON && (product & this.#more) !== GOES_ON ? product ^ GOES_ON : product;
  }

  /** The products that contain no other, in a fixed order. */
  #absorbed(products) {
    const kept = [];
    const order = [...products].map((product) => [bitCount(product), product]);
    order.sort(([m, a], [n, b]) => m - n || (a < b ? -1 : a > b ? 1 : 0));
    for (const [, product] of order) {
      this.work.spend(kept.length + 1);
      if (!kept.some((small) => (product & small) === small)) kept.push(product);
    }
    if (kept.length > MOST_PRODUCTS) throw new TooLargeError(`has a state of more than ${counted(MOST_PRODUCTS)} alternatives`);
    return kept;
  }

  #stored(products) {
    const key = products.join();
    if (!this.#placeOf.has(key)) this.#placeOf.set(key, this.#sums.push(products) - 1);
    return this.#placeOf.get(key);
  }
}
