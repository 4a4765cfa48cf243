// Random numbers that can be drawn again: the page says which walk it shows, and tests repeat it.

/** Numbers from 0 up to 1, the same for the same seed: Marsaglia's xorshift with 32 bits. */
export function generator(seed) {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1; // any but 0
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i += 1) next(); // seeds that are near each other begin alike
  return next;
}
