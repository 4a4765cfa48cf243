// Text as Python writes it, so that answers say the same with a server and without one.

const UNPRINTABLE = /[\p{C}\p{Z}]/u;
const ESCAPES = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Whether a character can be printed: str.isprintable. */
export const isPrintable = (character) => character === " " || !UNPRINTABLE.test(character);

export const allPrintable = (text) => [...text].every(isPrintable);

/** str.isidentifier. */
export const isIdentifier = (text) => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text);

/** str.strip. */
export const strip = (text) => text.replace(/^[\s\x1c-\x1f\x85]+|[\s\x1c-\x1f\x85]+$/g, "");

/** The number of characters, where a pair of surrogates counts as one. */
export const length = (text) => [...text].length;

/** repr of a string. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const written = [...text].map((character) => {
    if (character === mark) return `\\${character}`;
    if (character in ESCAPES) return ESCAPES[character];
    if (isPrintable(character)) return character;
    const code = character.codePointAt(0);
    const [sign, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${sign}${code.toString(16).padStart(digits, "0")}`;
  });
  return mark + written.join("") + mark;
}

/** repr of a float. */
export function float(number) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
  if (number === 0) return Object.is(number, -0) ? "-0.0" : "0.0";
  const [digits, exponent] = number.toExponential().split("e");
  if (exponent >= -4 && exponent < 16) {
    const text = exponent < 0 ? number.toFixed(Math.min(100, digits.replace(/[-.]/g, "").length - 1 - exponent)) : String(number);
    return text.includes(".") ? text : `${text}.0`;
  }
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** A number as f"{number:.{digits}g}". */
export function general(number, digits = 6) {
  if (number === 0) return Object.is(number, -0) ? "-0" : "0";
  if (!Number.isFinite(number)) return float(number);
  const [head, exponent] = number.toExponential(digits - 1).split("e");
  if (exponent < -4 || exponent >= digits) {
    return `${trimmed(head)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return trimmed(number.toFixed(Math.max(0, digits - 1 - exponent)));
}

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** A whole number with commas, as f"{number:,}". */
export const counted = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** Names in the order of their characters: sorted. */
export function sorted(names) {
  return [...names].sort((a, b) => {
    const [one, two] = [[...a], [...b]];
    for (let i = 0; i < Math.min(one.length, two.length); i += 1) {
      if (one[i] !== two[i]) return one[i].codePointAt(0) - two[i].codePointAt(0);
    }
    return one.length - two.length;
  });
}

/** Names for a message, cut when there are many. */
export function listed(names, most = 12) {
  const shown = names.slice(0, most).join(", ");
  return names.length <= most ? shown : `${shown}, … (${names.length} in all)`;
}

/** A suggestion for a misspelt name, or nothing. */
export function closest(name, names) {
  if (length(name) > 72 || names.length > 1000) return "";
  const folded = new Map(names.filter((one) => length(one) <= 72).map((one) => [fold(one), one]));
  let [best, found] = [0.6, null];
  for (const one of folded.keys()) {
    const near = likeness([...one], [...fold(name)]);
    const better = near > best || (found === null ? near >= best : near === best && sorted([found, one])[1] === one);
    if (better) [best, found] = [near, one];
  }
  return found === null ? "" : `. Did you mean ${quoted(folded.get(found))}?`;
}

const fold = (text) => text.toLowerCase().replaceAll("ß", "ss");

/** The share of two sequences that matches, as difflib counts it: Ratcliff and Obershelp (1988). */
function likeness(a, b) {
  let matches = 0;
  const stack = [[0, a.length, 0, b.length]];
  while (stack.length) {
    const [fromA, toA, fromB, toB] = stack.pop();
    const [i, j, size] = longestMatch(a, b, fromA, toA, fromB, toB);
    if (!size) continue;
    matches += size;
    stack.push([fromA, i, fromB, j], [i + size, toA, j + size, toB]);
  }
  return a.length + b.length ? (2 * matches) / (a.length + b.length) : 1;
}

/** The longest block that both parts share; of several the first in a, then in b. */
function longestMatch(a, b, fromA, toA, fromB, toB) {
  let best = [fromA, fromB, 0];
  let before = new Map();
  for (let i = fromA; i < toA; i += 1) {
    const now = new Map();
    for (let j = fromB; j < toB; j += 1) {
      if (a[i] !== b[j]) continue;
      const size = (before.get(j - 1) ?? 0) + 1;
      now.set(j, size);
      if (size > best[2]) best = [i - size + 1, j - size + 1, size];
    }
    before = now;
  }
  return best;
}

/** A number rounded to some decimals as numpy does it: half to even, of the scaled number. */
export function rounded(number, decimals = 10) {
  const scaled = number * 10 ** decimals;
  if (!Number.isFinite(scaled)) return number;
  let whole = Math.round(scaled);
  if (Math.abs(scaled - Math.trunc(scaled)) === 0.5) whole = 2 * Math.round(scaled / 2);
  return whole / 10 ** decimals;
}

/** A number rounded to some decimals as Python's own round does it. */
export const fixed = (number, decimals = 10) => Number(number.toFixed(decimals));
