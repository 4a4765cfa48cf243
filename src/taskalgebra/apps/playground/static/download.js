// Files to download: the picture as SVG and PNG, and Python lines.

import { figure, s } from "./dom.js";
import { drawAll } from "./picture.js";
import { STEPS, colour, rangeOf } from "./ramp.js";
import { nColumns, nRows } from "./world.js";

const PIXELS_PER_CELL = 48;

export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The picture with its title and legend, as the text of an SVG file. */
export function pictureFile({ world, solution, show, walk, taken }) {
  const [rows, columns] = [nRows(world), nColumns(world)];
  const [left, top, width, height] = [-0.5, -1.6, columns + 1, rows + 3];
  const range = solution.range ?? rangeOf(solution.values);
  const words = { "font-family": "sans-serif", fill: "#1c2125" };
  const title = solution.expression;
  const bar = Math.min(columns, 8);
  const ramp = Array.from({ length: STEPS }, (_, i) =>
    s("rect", { x: (columns - bar) / 2 + (bar * i) / STEPS, y: rows + 0.5, width: bar / STEPS, height: 0.35, fill: colour(i), "shape-rendering": "crispEdges" }));
  const ends = range && [
    s("text", { x: (columns - bar) / 2 - 0.2, y: rows + 0.83, "font-size": 0.45, "text-anchor": "end", ...words }, figure(range[0])),
    s("text", { x: (columns + bar) / 2 + 0.2, y: rows + 0.83, "font-size": 0.45, ...words }, figure(range[1])),
  ];
  const size = Math.min(0.8, (columns / Math.max(1, title.length)) * 1.6);
  const picture = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `${left} ${top} ${width} ${height}`,
    width: Math.round(width * PIXELS_PER_CELL),
    height: Math.round(height * PIXELS_PER_CELL),
    role: "img",
  },
    s("title", {}, title),
    s("rect", { x: left, y: top, width, height, fill: "#ffffff" }),
    s("text", { x: columns / 2, y: -0.5, "font-size": size, "text-anchor": "middle", ...words }, title),
    drawAll({ world, solution, show, walk, taken }), range ? ramp : [], ends ?? []);
  return new XMLSerializer().serializeToString(picture);
}

/** An SVG file as a PNG. */
export async function asPng(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const scale = Math.min(1, 4096 / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** A file name from a task: words and digits only. */
export const fileName = (expression, ending) =>
  `${expression.replaceAll("~", "not ").replaceAll("&", " and ").replaceAll("|", " or ").replaceAll("^", " xor ").replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "task"}.${ending}`;
