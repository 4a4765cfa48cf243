// Task names in expressions: when they need quotes, and renaming them.

const RESERVED = new Set(["not", "and", "nand", "xor", "or", "nor", "implies", "iff", "true", "false"]);
const OVER_TIME = new Set(["eventually", "always", "next", "weaknext", "until", "release", "unless", "then", "avoid"]);
const LETTERS = new Set("FGXNURW");
const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const TOKEN = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|[\p{ID_Continue}]+/gu;

/** The name as written in an expression: plain if possible, else in quotes. */
export function quoted(name) {
  const word = name.toLowerCase();
  if (IDENTIFIER.test(name) && !RESERVED.has(word) && !OVER_TIME.has(word) && !LETTERS.has(name)) return name;
  const mark = name.includes("'") && !name.includes('"') ? '"' : "'";
  return mark + name.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
}

/** A name as it is written in an expression, without its quotes. */
export const plain = (token) => (/^['"]/.test(token) ? token.slice(1, -1).replace(/\\(.)/gs, "$1") : token);

/** The words of an expression that may be names, in their order. */
export const namesIn = (expression) => (expression.match(TOKEN) ?? []).map(plain);

/** The expression with one task renamed. */
export function renamed(expression, name, to) {
  return expression.replace(TOKEN, (token) => (plain(token) === name ? quoted(to) : token));
}

/** Expressions to try, from the first names of a world; the last one is over time, on a map. */
export function examples(names, overTime) {
  const [a, b, c] = names.map(quoted);
  if (!a) return ["true", "false"];
  if (!b) return [a, `~${a}`, "true"];
  const boolean = [a, `${a} & ${b}`, `${a} | ${b}`, `${a} ^ ${b}`, `${a} nor ${b}`, c ? `~(${a} | ${b}) & ${c}` : `~${b}`];
  return overTime ? [...boolean, `${a} then ${b}`] : boolean;
}
