// Colours of values: viridis, whose lightness always grows, so that colour-blind readers and readers
// of grey prints see the same order.

const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];

export const STEPS = 64;

/** The position of a value in a range, from 0 to 1. */
export function level(value, [low, high]) {
  return high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 1;
}

/** [red, green, blue] of a level. */
export function rgb(at) {
  const place = at * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return VIRIDIS[i].map((one, k) => Math.round(one + (VIRIDIS[i + 1][k] - one) * (place - i)));
}

export const step = (at) => Math.min(STEPS - 1, Math.floor(at * STEPS));
export const colour = (number) => `rgb(${rgb((number + 0.5) / STEPS).join(" ")})`;

/** Whether dark ink is more legible than white on this level. */
export const isBright = (at) => at > 0.62;

/** The ramp as a CSS gradient, for legends. */
export const gradient = () =>
  `linear-gradient(to right, ${VIRIDIS.map((one) => `rgb(${one.join(" ")})`).join(", ")})`;

/** The finite ends of some values, or null where there are none. */
export function rangeOf(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
