// The written form of expressions: tokens, grammar, names and error messages, as `logic/text.py`.
//
// The words of temporal operators are not reserved: their place decides.  `postfix` turns text into
// operands and operators, operands first, with a stack of its own, so that no nesting is too deep.

import { closest, isIdentifier, isPrintable, length, listed, quoted, sorted } from "./python.js";

const WINDOW = 72;
const [SHOWN, FEW_TASKS, FEW_GOALS] = [8, 20, 4]; // names in a message

/** A formula that cannot be read, with the place in the text, counted in UTF-16. */
export class ExpressionError extends Error {
  constructor(reason, position = 0) {
    super(reason);
    Object.assign(this, { reason, position });
  }
}

const symbol = (kind, level = 0, starts = false, rightToLeft = false) => ({ kind, level, starts, rightToLeft });
const NOT = symbol("not", 7, true);
const OPEN = symbol("(", 0, true);
const CLOSE = symbol(")");
const BY_PLACE = symbol("word", 0, null);

const table = (...rows) => new Map(rows.flatMap(([words, value]) => words.split(" ").map((word) => [word, value])));

const SYMBOLS = table(
  ["~ ! ¬ not", NOT],
  ["& ∧ and", symbol("and", 5)],
  ["nand", symbol("nand", 5)],
  ["^ ⊻ ⊕ xor", symbol("xor", 4)],
  ["| ∨ or", symbol("or", 3)],
  ["nor", symbol("nor", 3)],
  ["-> => → implies", symbol("implies", 2, false, true)],
  ["<-> <=> ↔ iff", symbol("iff", 1)],
  ["true ⊤", symbol("true", 0, true)],
  ["false ⊥", symbol("false", 0, true)],
  ["(", OPEN],
  [")", CLOSE],
);
const WORDS = table(
  ["F eventually", symbol("eventually", 7, true)],
  ["G always", symbol("always", 7, true)],
  ["X next", symbol("next", 7, true)],
  ["N weaknext", symbol("weak_next", 7, true)],
  ["avoid", symbol("avoid", 7, true)],
  ["U until", symbol("until", 6, false, true)],
  ["R release", symbol("release", 6, false, true)],
  ["W unless", symbol("weak_until", 6, false, true)],
  ["then", symbol("then", 6, false, true)],
);
const RESERVED = new Set("not and nand xor or nor implies iff true false".split(" "));

const HINTS = table(
  ["&& * /\\ ⋀ ·", "write & for and"],
  ["|| + \\/ ⋁", "write | for or"],
  ["∼", "write ~ for not"],
  ["!= <> ≠", "write ^ for exclusive or"],
  ["⇒ ⊃", "write -> for implies"],
  ["== = ⇔ ≡", "write <-> for if and only if"],
  ["[] [ ] { }", "group with ( and )"],
  ["◇ ◊ ⋄", "write F for eventually"],
  ["□ ◻", "write G for always"],
  ["○ ◯", "write X for next"],
  [", ;", "write & between tasks; write a name with such a mark in quotes"],
  ["-", "write ~ for not; write a name with a hyphen in quotes"],
  ["0", "write false for the empty task"],
  ["1", "write true for the universal task"],
);
const FIRST_HINTS = table(["<>", "write F for eventually"], ["[]", "write G for always"]);
const QUOTE_IT = "write a name that is not a plain word in quotes";
const SMALL = table(
  ["f g x n", "the operators F, G, X and N are capital letters"],
  ["u r w", "the operators U, R and W are capital letters"],
);
const OTHERS = table(
  ["never", "write avoid a or G ~a for never a"],
  ["finally sometime sometimes", "write F a for a at some time"],
  ["globally henceforth", "write G a for a at all times"],
);

const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SIGNS = "∧∨¬⊻⊕→↔⊤⊥";
const TOKEN = new RegExp(
  `${BLANK}*(?:(?<foreign>&&|\\|\\||<>|\\[\\]|[!=]=|/\\\\|\\\\/)` +
    `|(?<symbol><->|<=>|->|=>|[&|^~!()]|[${SIGNS}])` +
    `|(?<word>(?:(?!${BLANK})[^\\x00-\\x2f:-@\\[-^\`{-\\x7f${SIGNS}])+)` +
    `|(?<quoted>'[^'\\\\]*(?:\\\\[^][^'\\\\]*)*'|"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*")` +
    "|(?<other>[^])|$)",
  "yu",
);

/** The token at a position, after blanks: its text, where it starts and ends, and its kind. */
function tokenAt(text, position) {
  TOKEN.lastIndex = position;
  const { groups } = TOKEN.exec(text);
  const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? "end";
  const end = TOKEN.lastIndex;
  const token = groups[kind] ?? "";
  return { token, kind, start: end - token.length, end };
}

/** Where the token at a position ends; an unclosed quote runs to the end of the text. */
export function tokenEnd(text, position) {
  const { token, kind, end } = tokenAt(text, position);
  return kind === "other" && (token === "'" || token === '"') ? text.length : end;
}

/** The name as written in a formula: plain if possible, else in quotes. */
export function quote(name) {
  if (isIdentifier(name) && !RESERVED.has(name.toLowerCase())) return name;
  const mark = name.includes("'") && !name.includes('"') ? '"' : "'";
  return mark + name.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
}

/** The name beside a temporal operator: in quotes if it is the word of one. */
export const quoteOperand = (name) => (temporal(name) ? `'${name}'` : quote(name));

const temporal = (token) => WORDS.get(length(token) === 1 ? token : token.toLowerCase());

/** Names for a message: all tasks where they are few, and then a few goals. */
export function knownNames(tasks, goals = []) {
  const others = [...new Set(goals)].filter((name) => !tasks.includes(name));
  const first = tasks.length <= FEW_TASKS ? tasks.length : SHOWN;
  const most = Math.max(first + (first === tasks.length ? FEW_GOALS : 0), SHOWN);
  return listed([...sorted(tasks), ...others].map(asWritten), most);
}

const plain = (name) => [...name].every(isPrintable);
const asWritten = (name) => (plain(name) && length(name) <= WINDOW ? quote(name) : brief(name));

function brief(name, inQuotes = false) {
  const short = length(name) <= WINDOW ? name : [...name].slice(0, WINDOW).join("") + "…";
  return inQuotes || !plain(short) ? quoted(short) : short;
}

function unknownName(name, { first, more }) {
  const names = knownNames(first, more) || "no tasks";
  return `unknown task ${brief(name, true)}; known: ${names}${closest(name, [...first, ...more]) || "."}`;
}

/**
 * The formula with operands before operators (Dijkstra's shunting yard).  `known` is null for any
 * names, or {first, more, every}.  Throws an ExpressionError at the first mistake.
 */
export function postfix(text, names = null, goals = []) {
  const first = names === null ? [] : [...new Set(names)];
  const known = names === null ? null : { first, more: [...goals], every: new Set([...first, ...goals]) };
  const [read, found, waiting, opened] = [new Map(), [], [], []];
  let [wantOperand, previous, position] = [true, "", 0];
  for (;;) {
    const at = tokenAt(text, position);
    const { token, start } = at;
    position = at.end;
    if (!token) break;
    let one = read.get(token);
    if (one === undefined) read.set(token, (one = meaning(at, text, known, wantOperand)));
    if (one.starts !== wantOperand) {
      if (one === BY_PLACE) one = inPlace(at, text, wantOperand, known, read);
      if (one.starts !== wantOperand) throw misplaced(wantOperand, previous, token, text, start, known);
    }
    previous = token;
    if (wantOperand) {
      if (one === OPEN) {
        opened.push(start);
        waiting.push(one);
      } else if (one.level) waiting.push(one);
      else {
        found.push(one);
        wantOperand = false;
      }
      continue;
    }
    const reach = one.level + one.rightToLeft; // least level to apply first
    while (waiting.length && waiting.at(-1).level >= reach && waiting.at(-1) !== OPEN) found.push(waiting.pop());
    if (one !== CLOSE) {
      waiting.push(one);
      wantOperand = true;
    } else if (waiting.length) {
      waiting.pop();
      opened.pop();
    } else throw new ExpressionError("this ')' closes no '('", start);
  }
  if (wantOperand) throw misplaced(wantOperand, previous, "", text, text.length, known);
  if (opened.length) throw new ExpressionError("this '(' is never closed", opened.at(-1));
  return [...found, ...waiting.reverse()];
}

/** What the word of a temporal operator means in its place. */
function inPlace({ token, start, end }, text, wantOperand, known, read) {
  const operator = temporal(token);
  if (!wantOperand || (operator.starts && operandAt(text, end))) return operator;
  const inQuotes = `'${token}'`; // which is always a name
  if (!read.has(inQuotes)) read.set(inQuotes, nameOf(token, known, text, start));
  return read.get(inQuotes);
}

/** Whether the next token starts an operand, or is a mistake that is to be reported. */
function operandAt(text, position) {
  const { token, kind } = tokenAt(text, position);
  if (!token || kind === "quoted") return Boolean(token);
  const found = SYMBOLS.get(token.toLowerCase()) ?? temporal(token);
  return found === undefined || found.starts;
}

/** The error for an operator (or the end) in place of an operand, or the reverse. */
function misplaced(wantOperand, previous, token, text, position, known) {
  const found = token ? brief(token, true) : "the end";
  const before = brief(previous, true);
  if (!previous && !token) return new ExpressionError("the formula is empty; write a task name", position);
  if (wantOperand) return new ExpressionError(`expected a task name ${previous ? `after ${before}` : "first"}, found ${found}`, position);
  const operator = known === null ? operatorHint(previous, text, position) : "";
  if (operator) return new ExpressionError(operator, text.lastIndexOf(previous, position - previous.length));
  const hint = SMALL.get(previous) ?? SMALL.get(token) ?? QUOTE_IT;
  return new ExpressionError(`expected an operator such as & or | between ${before} and ${found}; ${hint}`, position);
}

/** How to write the operator that a word may be, if it is not a name here; or "" if none. */
function operatorHint(word, text, end) {
  const operator = temporal(word);
  if (operator) {
    const [after, example] = operator.starts ? ["after", `${word} a`] : ["before", `a ${word} b`];
    return `the operator ${word} needs something ${after} it: ${example}`;
  }
  const other = OTHERS.get(word.toLowerCase()) ?? "";
  return other && operandAt(text, end) ? other : "";
}

/** What one token means. */
function meaning({ token, kind, start }, text, known, wantOperand) {
  const found = SYMBOLS.get(token.toLowerCase());
  if (found) return found;
  if (kind === "quoted") {
    const name = token.slice(1, -1).replace(/\\([^])/gu, "$1");
    if (!name) throw new ExpressionError("a task name cannot be empty", start);
    return nameOf(name, known, text, start);
  }
  if (kind !== "word") throw new ExpressionError(unexpected(token, wantOperand ? FIRST_HINTS.get(token) : ""), start);
  if (!isIdentifier(token)) {
    let at = start;
    for (const character of token) {
      if (!isIdentifier(`a${character}`)) throw new ExpressionError(unexpected(character), at);
      at += character.length;
    }
    throw new ExpressionError(unexpected(token), start); // such as 2b
  }
  return temporal(token) ? BY_PLACE : nameOf(token, known, text, start);
}

function nameOf(name, known, text, position) {
  if (known !== null && !known.every.has(name)) {
    const hint = operatorHint(name, text, tokenEnd(text, position));
    if (hint && !`'"`.includes(text[position])) {
      throw new ExpressionError(`unknown task ${quoted(name)}; ${hint}${closest(name, [...known.every])}`, position);
    }
    throw new ExpressionError(unknownName(name, known), position);
  }
  return { ...symbol("name", 0, true), name };
}

/** The message for a token that cannot occur in a formula. */
function unexpected(token, hint = "") {
  if (token === "'" || token === '"') return `this ${token} opens a name that is never closed`;
  return `unexpected ${brief(token, true)}; ${hint || (HINTS.get(token) ?? QUOTE_IT)}`;
}
