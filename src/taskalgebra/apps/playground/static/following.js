// What else changes with a part of the state: another task begins with its first step, and the agent
// of another task or world is the composed one.

const isSameTable = (one, other) => Boolean(one.scene) && one.scene === other.scene && one.tasks === other.tasks;

/** The keys that follow from a patch of the state. */
export function following(patch, state) {
  const another = (key) => key in patch && patch[key] !== state[key];
  const world = another("world") && !isSameTable(patch.world, state.world); // layers are views of one world
  return {
    ...((world || another("expression")) && { repaired: false }),
    ...(another("expression") && state.step !== null && { step: 1 }),
  };
}

/** Whether two states differ in nothing but the step of the formula that is shown. */
export const differsInStep = (state, before) =>
  state.step !== before.step && Object.keys(state).every((key) => key === "step" || state[key] === before[key]);
