// An automaton as a picture in SVG, as `drawing/automata.py`: it takes the colour of the text around it,
// all parts have classes, and a state carries its number as `data-state`.

import { layout } from "./layout.js";
import { isPrintable, length } from "./python.js";

const RADIUS = 17;
const LINE = 15; // of text
const CHARACTER = 7;
const LOOP = 26; // above a state
const STUB = 22; // from a state down to the sign of a dead one
const CROSS = 5;
const MARGIN = 12;
const [MOST_COLUMNS, MOST_LINES] = [38, 5];
const WIDE = /[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u25fd\u25fe\u2614\u2615\u2648-\u2653\u26aa\u26ab\u2705\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u2b1b\u2b1c\u2b50\u2b55\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

const STYLE = `
.automaton{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.automaton text{fill:currentColor;text-anchor:middle}
.automaton .edge path{fill:none;stroke:currentColor;stroke-opacity:.6;stroke-width:1.3}
.automaton .edge .head{fill:currentColor;fill-opacity:.8;stroke:none}
.automaton .state circle{fill:none;stroke:currentColor;stroke-width:1.5}
.automaton .state text{font-weight:600}
.automaton .accepting circle{stroke:#1a9850}
.automaton .dead circle{stroke:#d73027}
.automaton .dead path{fill:none;stroke:#d73027;stroke-width:2.2;stroke-linecap:round}
.automaton .current circle{fill:#f5a623;fill-opacity:.45}
.automaton .current.dead path{stroke-width:4.5}
svg.automaton:root{color:#1b1f24;background:#fff}
@media(prefers-color-scheme:dark){svg.automaton:root{color:#e6edf3;background:#0d1117}}
`;

/** A number with some decimals as Python writes it: half to even. */
function fixed(number, decimals = 1) {
  const scaled = number * 10 ** decimals;
  const half = Math.abs(scaled - Math.trunc(scaled)) === 0.5 && scaled / 10 ** decimals === number;
  return (half ? (2 * Math.round(scaled / 2)) / 10 ** decimals : number).toFixed(decimals);
}

const at = (...numbers) => numbers.map((number) => fixed(number)).join(" ");

/**
 * The SVG of an automaton that starts in state 0.  A dead state is a red cross below every state from
 * which it can be entered; loops that are the only edge of a state are left out.
 */
export function picture(title, edges, accepting, dead) {
  const shown = accepting.map((_, state) => state).filter((state) => !dead[state] || state === 0);
  const count = (state) => edges.filter(({ source }) => source === state).length;
  const loops = new Map(edges.filter(({ source, target }) => source === target && count(source) > 1).map(({ source, guard }) => [source, linesOf(guard)]));
  const stubs = new Map(edges.filter(({ source, target }) => dead[target] && source !== target).map(({ source, guard }) => [source, linesOf(guard)]));
  const drawn = edges.filter(({ source, target }) => source !== target && !dead[target]);
  const place = new Map(shown.map((state, i) => [state, i]));
  const boxOf = (state) => {
    const [loop, stub] = [loops.get(state) ?? [], stubs.get(state) ?? []];
    return {
      width: Math.max(2 * RADIUS + 6, ...[...loop, ...stub].map(widthOf)),
      above: RADIUS + (loop.length ? LOOP + LINE * loop.length : 4),
      below: RADIUS + (stub.length ? STUB + 2 * CROSS + 4 + LINE * stub.length : 4),
    };
  };
  const found = layout(
    shown.map(boxOf),
    drawn.map(({ source, target }) => [place.get(source), place.get(target)]),
    drawn.map(({ guard }) => labelBox(linesOf(guard))),
  );
  const room = Math.max(0, 30 + found.left - found.nodes[0][0] + RADIUS); // for the arrow to the start
  const [width, height] = [found.width + room + 2 * MARGIN, found.height + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="automaton" role="img" width="${fixed(width, 0)}" ` +
      `height="${fixed(height, 0)}" viewBox="${at(-room - MARGIN, -MARGIN, width, height)}">`,
    `<title>${textOf(title)}</title><style>${STYLE}</style>`,
    ...drawn.map((edge, i) => lineOf(edge, found.lines[i])),
    ...shown.flatMap((state, i) => {
      const [x, y] = found.nodes[i];
      const marks = { loop: loops.get(state), stub: stubs.get(state), dead: dead.indexOf(true) };
      return [...around(state, x, y, marks), stateOf(state, x, y, accepting[state], dead[state])];
    }),
    "</svg>",
  ].join("\n");
}

/** A line through the columns, curved between them, with its label. */
function lineOf({ source, target, guard }, { stops, label: [x, y] }) {
  const [path, head] = pathOf(stops);
  return edgeOf(source, target, path, head, written(linesOf(guard), x, y - 5, true));
}

/** The loop above a state, the dead state below it, and the arrow to the start. */
function around(state, x, y, { loop, stub, dead }) {
  const parts = [];
  if (state === 0) {
    const tip = x - RADIUS - 1;
    parts.push(`<g class="edge start"><path d="M${at(tip - 26, y)}h20"/>${headOf(tip, y, 0)}</g>`);
  }
  if (loop) {
    const angle = (28 * Math.PI) / 180;
    const [dx, dy] = [RADIUS * Math.sin(angle), RADIUS * Math.cos(angle)];
    const path = `M${at(x - dx, y - dy)}C${at(x - 22, y - dy - 30, x + 22, y - dy - 30, x + dx, y - dy)}`;
    const head = headOf(x + dx, y - dy, (Math.atan2(30, dx - 22) * 180) / Math.PI);
    parts.push(edgeOf(state, state, path, head, written(loop, x, y - RADIUS - LOOP + 2, true)));
  }
  if (stub) {
    const end = y + RADIUS + STUB;
    const path = `M${at(x, y + RADIUS)}V${at(end - 6)}`;
    parts.push(
      edgeOf(state, dead, path, headOf(x, end - 1, 90), written(stub, x, end + 2 * CROSS + 14, false)),
      `<g class="state dead" data-state="${dead}"><title>state ${dead}: dead</title>` +
        `<path d="M${at(x - CROSS, end + 1)}l10 10m0-10l-10 10"/></g>`,
    );
  }
  return parts;
}

function stateOf(state, x, y, accepts, dead) {
  const circle = (radius) => `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}"/>`;
  return (
    `<g class="state${accepts ? " accepting" : ""}${dead ? " dead" : ""}" data-state="${state}"><title>state ${state}` +
    `${accepts ? ": accepting" : ""}</title>${circle(RADIUS)}${accepts ? circle(RADIUS - 3.5) : ""}` +
    `<text x="${at(x)}" y="${at(y + 4)}">${state}</text></g>`
  );
}

const edgeOf = (source, target, path, head, label) =>
  `<g class="edge" data-from="${source}" data-to="${target}"><path d="${path}"/>${head}${label}</g>`;

/** The head of an arrow, with its tip at (x, y). */
const headOf = (x, y, angle) => `<path class="head" transform="translate(${at(x, y)}) rotate(${fixed(angle, 0)})" d="M0 0-8-3.2V3.2z"/>`;

/** A smooth line from the edge of one circle to that of another, and its head. */
function pathOf(stops) {
  const [[in0, out0, y0], [in1, out1, y1]] = [stops[0], stops.at(-1)];
  const way = out0 > in0 ? 1 : -1;
  const first = onCircle((in0 + out0) / 2, y0, way, stops[1][2] - y0);
  const last = onCircle((in1 + out1) / 2, y1, -way, stops.at(-2)[2] - y1);
  let [x, y] = [out0, first[1]];
  let path = `M${at(...first)}H${at(x)}`;
  for (const [enter, leave, height] of [...stops.slice(1, -1), [in1, last[0] - 5 * way, last[1]]]) {
    const middle = (x + enter) / 2;
    path += `C${at(middle, y, middle, height, enter, height)}H${at(leave)}`;
    [x, y] = [leave, height];
  }
  return [path, headOf(...last, way > 0 ? 0 : 180)];
}

/** A point on the circle around (x, y), towards something that is higher or lower. */
function onCircle(x, y, way, rise) {
  const angle = Math.max(-0.7, Math.min(0.7, Math.atan2(rise, 120)));
  return [x + way * (RADIUS + 1) * Math.cos(angle), y + (RADIUS + 1) * Math.sin(angle)];
}

const labelBox = (lines) => ({ width: Math.max(...lines.map(widthOf)) + 8, above: LINE * lines.length + 4, below: 4 });
const widthOf = (text) => CHARACTER * (length(text) + [...text].filter((character) => WIDE.test(character)).length);

/** A guard in a few lines, broken after | if that suffices, else after any operator. */
function linesOf(guard) {
  let lines = filled(guard.match(/[^]+?(?: \| |$)/gu) ?? []);
  if (Math.max(...lines.map(length)) > MOST_COLUMNS) lines = filled(guard.match(/\S+\s*/gu) ?? []);
  lines = lines.map((line) => (length(line) <= MOST_COLUMNS + 8 ? line : `${[...line].slice(0, MOST_COLUMNS + 7).join("")}…`));
  return lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES - 1), "…"];
}

/** Parts of a text in lines, as many in a line as there is room for. */
function filled(parts) {
  const lines = [""];
  for (const part of parts) {
    if (lines.at(-1) && length(lines.at(-1)) + length(part.trimEnd()) > MOST_COLUMNS) lines.push("");
    lines.push(lines.pop() + part);
  }
  return lines.map((line) => line.trimEnd());
}

/** Lines of text, the last one at y if they go upwards, else the first one. */
function written(lines, x, y, upwards) {
  const first = upwards ? y - LINE * (lines.length - 1) : y;
  return lines.map((line, i) => `<text x="${at(x)}" y="${at(first + LINE * i)}">${textOf(line)}</text>`).join("");
}

/** Text for XML, which has no control characters and no halves of pairs. */
function textOf(text) {
  const printable = [...text].map((character) => (isPrintable(character) ? character : "\ufffd")).join("");
  return printable.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
