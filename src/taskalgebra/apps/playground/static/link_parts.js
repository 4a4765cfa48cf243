// The parts of a link, and what is said of those that are wrong.

const INSTEAD = "This is the default world instead.";

/** A link with which nothing can be shown. */
export class ShareError extends Error {}

const brief = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

const mistake = (name, text, expected) => `${name} is '${brief(text)}', expected ${expected}`;

/** Refuse a link, whose parts say too little. */
export function fail(what) {
  throw new ShareError(`This link is wrong: ${what}. ${INSTEAD}`);
}

/** Refuse a link for one of its parts. */
export const failAt = (name, text, expected) => fail(mistake(name, text, expected));

/** Refuse a link to a world that was opened by a program. */
export function failAsGone() {
  throw new ShareError(`This link shows the world of a program that has ended. ${INSTEAD}`);
}

/** The parts of a query; lesser ones may be wrong, and are left out. */
export class Parts {
  constructor(query) {
    Object.assign(this, { query, said: [] });
  }

  get = (name) => this.query.get(name);

  /** What `read` makes of a lesser part; null if there is none, or if it is wrong: `read` gives null, or fails. */
  lesser(name, expected, read) {
    const text = this.get(name);
    if (text === null) return null;
    const value = attempted(read, text);
    if (value === null) this.said.push(mistake(name, text, expected));
    return value;
  }

  /** A sentence about the parts that are left out, or null. */
  get wrong() {
    const { said } = this;
    if (!said.length) return null;
    return `This link is wrong in ${said.length > 1 ? "parts" : "a part"}, left out here: ${said.join("; ")}.`;
  }
}

function attempted(read, text) {
  try {
    return read(text);
  } catch {
    return null;
  }
}

/** A whole number from `least` in digits, or null. */
export const numberFrom = (least) => (text) => (/^\d{1,10}$/.test(text) && Number(text) >= least ? Number(text) : null);
