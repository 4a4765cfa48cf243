// Formulas as flat lists of their distinct subtrees, operands first, as `logic/steps.py`.
//
// A step is ["name", name], ["constant", value], [a unary operator, place] or [a binary one, place,
// place]; places are those of the operands in the list, and the last step is the formula itself.  No
// function recurses, so that no formula is too deep.

import { postfix, quote, quoteOperand } from "./text.js";

const BOOLEAN = new Set(["name", "constant", "not", "and", "xor", "or"]);
const LEVELS = { name: 6, constant: 6, not: 5, until: 4, release: 4, weak_until: 4, and: 3, xor: 2, or: 1 };
const SIGNS = { and: "&", xor: "^", or: "|", until: "U", release: "R", weak_until: "W" };
const PREFIXES = { next: "X", weak_next: "N", eventually: "F", always: "G" };
const levelOf = (kind) => LEVELS[kind] ?? 5;

export const isLeaf = ([kind]) => kind === "name" || kind === "constant";

/** The places of the operands of a step. */
export const operandsOf = (step) => (isLeaf(step) ? [] : step.slice(1));

/** Steps that are stored once each. */
export class Forest {
  constructor() {
    this.steps = [];
    this.places = new Map();
  }

  add(kind, ...rest) {
    const key = JSON.stringify([kind, ...rest]);
    let place = this.places.get(key);
    if (place === undefined) {
      place = this.steps.push([kind, ...rest]) - 1;
      this.places.set(key, place);
    }
    return place;
  }

  /** The steps of one subtree, each after its operands, from left to right. */
  only(root) {
    const number = new Map();
    const found = [];
    const stack = [root];
    while (stack.length) {
      const place = stack.pop();
      if (number.has(place)) continue;
      const step = this.steps[place];
      const operands = operandsOf(step);
      if (operands.some((one) => !number.has(one))) {
        stack.push(place, ...operands.reverse());
        continue;
      }
      number.set(place, found.push(isLeaf(step) ? step : [step[0], ...operandsOf(step).map((one) => number.get(one))]) - 1);
    }
    return found;
  }
}

/** The forest of a formula, whose last step is the formula itself. */
export function forestOf(steps) {
  const forest = new Forest();
  for (const step of steps) forest.add(...step);
  return forest;
}

/** How operators that have no node of their own are written with those that have. */
function derived(forest, kind, a, b) {
  const add = (...step) => forest.add(...step);
  if (kind === "nand") return add("not", add("and", a, b));
  if (kind === "nor") return add("not", add("or", a, b));
  if (kind === "implies") return add("or", add("not", a), b);
  if (kind === "iff") return add("not", add("xor", a, b));
  if (kind === "avoid") return add("always", add("not", a));
  if (kind === "then") {
    const later = forest.steps[b][0] === "eventually" ? b : add("eventually", b);
    return add("eventually", add("and", a, add("next", later)));
  }
  return b === undefined ? add(kind, a) : add(kind, a, b);
}

const UNARY = new Set(["not", "next", "weak_next", "eventually", "always", "avoid"]);

/** The formula of a text, as steps; see `text.js`. */
export function parse(text, names = null, goals = []) {
  const forest = new Forest();
  const stack = [];
  for (const { kind, name } of postfix(text, names, goals)) {
    if (kind === "name") stack.push(forest.add("name", name));
    else if (kind === "true" || kind === "false") stack.push(forest.add("constant", kind === "true"));
    else if (UNARY.has(kind)) stack.push(derived(forest, kind, stack.pop()));
    else {
      const right = stack.pop();
      stack.push(derived(forest, kind, stack.pop(), right));
    }
  }
  return forest.only(stack[0]);
}

/** The distinct names, in order of first appearance. */
export const namesOf = (steps) => steps.filter(([kind]) => kind === "name").map(([, name]) => name);

/** Whether a formula has a temporal operator; if not, it is a Boolean one. */
export const isTemporal = (steps) => steps.some(([kind]) => !BOOLEAN.has(kind));

export const isBoolean = (kind) => BOOLEAN.has(kind);

/** The text of the subtree at a place with just the parentheses that `parse` needs. */
export function written(steps, root = steps.length - 1) {
  const found = [];
  const stack = [root];
  while (stack.length) {
    const top = stack.pop();
    if (typeof top === "string") found.push(top);
    else stack.push(...pieces(steps, steps[top]).reverse());
  }
  return found.join("");
}

function pieces(steps, step) {
  const [kind, first, second] = step;
  const level = levelOf(kind);
  if (kind === "name") return [quote(first)];
  if (kind === "constant") return [first ? "true" : "false"];
  const wrapped = (place, least) => (levelOf(steps[place][0]) < least ? ["(", place, ")"] : [place]);
  const beside = (place, least) => (steps[place][0] === "name" ? [quoteOperand(steps[place][1])] : wrapped(place, least));
  if (kind === "not") return ["~", ...wrapped(first, level)];
  if (kind in PREFIXES) {
    const operand = beside(first, level);
    return operand.length > 1 ? [`${PREFIXES[kind]}(`, ...operand.slice(1)] : [`${PREFIXES[kind]} `, ...operand];
  }
  const sign = ` ${SIGNS[kind]} `;
  if (level === 4) return [...beside(first, 5), sign, ...beside(second, 4)];
  return [...wrapped(first, level), sign, ...wrapped(second, level + 1)];
}

/**
 * What a Boolean formula makes of the values of names, step by step: an array with the value of
 * each.  `algebra` is {names: (name) => value, constant: (value), not, and, or, xor}.
 */
export function evaluated(steps, algebra) {
  const values = [];
  for (const [kind, first, second] of steps) {
    if (kind === "name") values.push(algebra.name(first));
    else if (kind === "constant") values.push(algebra.constant(first));
    else if (kind === "not") values.push(algebra.not(values[first]));
    else values.push(algebra[kind](values[first], values[second]));
  }
  return values;
}
