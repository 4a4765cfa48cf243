// The operators of Definition 4 in words, as equations, and on numbers.

const KINDS = {
  task: { name: "base task", says: "Its values were planned. Everything else is computed from such values." },
  true: { name: "M_U", says: "The task that desires every goal." },
  false: { name: "M_∅", says: "The task that desires no goal." },
  not: { name: "¬", says: "Each slice is turned around: what the best task M_U and the worst task M_∅ are worth together, less the operand." },
  and: { name: "∧, the minimum", says: "For every cell and every goal, the worse of the two." },
  or: { name: "∨, the maximum", says: "For every cell and every goal, the better of the two." },
  xor: { name: "exclusive or", says: "One of the two, but not both: ∨, and ¬ of ∧." },
};

export const nameOf = ({ operator }) => KINDS[operator].name;
export const wordsOf = ({ operator }) => KINDS[operator].says;

/** The equation of a node: its operands are called 1 and 2. */
export function equationOf({ operator, children }) {
  const [one, two] = children.map((_child, i) => `Q̄${"₁₂"[i]}`);
  return {
    task: "Q̄ = Q̄*",
    true: "Q̄ = Q̄_U",
    false: "Q̄ = Q̄_∅",
    not: `Q̄ = (Q̄_U + Q̄_∅) − ${one}`,
    and: `Q̄ = min{${one}, ${two}}`,
    or: `Q̄ = max{${one}, ${two}}`,
    xor: `Q̄ = min{max{${one}, ${two}}, (Q̄_U + Q̄_∅) − min{${one}, ${two}}}`,
  }[operator];
}

/** Definition 4 on numbers: the value of a node from those of its operands, of M_U and of M_∅. */
export function apply(operator, [one, two], universal, empty) {
  switch (operator) {
    case "true":
      return universal;
    case "false":
      return empty;
    case "not":
      return universal + empty - one;
    case "and":
      return Math.min(one, two);
    case "or":
      return Math.max(one, two);
    case "xor":
      return Math.min(Math.max(one, two), universal + empty - Math.min(one, two));
    default:
      throw new Error(`${operator} is no operator`);
  }
}
