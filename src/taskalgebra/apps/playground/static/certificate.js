// Whether the agent is optimal: its certificate, what it loses, and the repair.

import { byId, capitalised, figure, h, listed, plural } from "./dom.js";
import { agentOf } from "./scene.js";
import { nColumns, place } from "./world.js";

export class Certificate {
  /** repair(wanted): someone wants the improved agent, or the composed one; stand(cell): the agent there. */
  constructor({ repair, stand }) {
    this.stand = stand;
    this.improved = false;
    byId("repair").addEventListener("click", () => repair(!this.improved));
  }

  /** The certificate of an answer for a world. */
  show(answer, world) {
    const { loss, improvement, certificate, automaton } = answer;
    this.improved = Boolean(improvement);
    byId("certificate").textContent = automaton ? overTime(answer) : words(certificate, loss, world);
    byId("losses").replaceChildren(...(loss && !loss.optimal ? this.#figures(loss, world) : []));
    byId("repair").hidden = !this.improved && (!loss || loss.optimal);
    byId("repair").textContent = this.improved ? "Back to the composed agent" : "Repair";
    byId("repaired").textContent = this.improved ? took(improvement, loss) : "";
  }

  forget() {
    for (const id of ["certificate", "losses", "repaired"]) byId(id).replaceChildren();
    byId("repair").hidden = true;
  }

  /** What is lost, in figures. */
  #figures({ mean, worst, worst_cell: cell, bound }, world) {
    const shown = (value) => (value === null ? "no limit" : amount(value));
    const at = cell === null ? null : world.scene ? agentOf(world, cell) : [Math.floor(cell / nColumns(world)), cell % nColumns(world)];
    const one = (term, ...described) => h("div", {}, h("dt", {}, term), h("dd", {}, described));
    return [
      one("Mean loss", shown(mean)),
      one("Worst loss", shown(worst)),
      bound === null ? null : one("Bound without planning", amount(bound)),
      at && one("Worst start", h("button", { type: "button", "aria-label": `Put the agent at ${place(at)}, the worst start`, onclick: () => this.stand(at) }, capitalised(place(at)))),
    ].filter(Boolean);
  }
}

/** Two digits that count: 0.00013 rather than 0.00. */
const amount = (value) => (Math.abs(value) >= 0.1 || value === 0 ? figure(value) : value.toPrecision(2));

/** The certificate in plain words; "loses 0.04 on average, because moves slip". */
function words(certificate, loss, world) {
  if (!loss) return certificate ? `${capitalised(certificate)}.` : "What the agent loses is not known here.";
  if (loss.optimal) return `Yes: ${certificate}.`;
  const how = loss.mean === null ? "may never end, and loses without limit" : `loses ${amount(loss.mean)} on average`;
  const why = loss.because.length ? `, because ${world.slip ? "moves slip: " : ""}${listed(loss.because)}` : "";
  return `No: it ${how}${why}.`;
}

const overTime = ({ optimal, certificate }) => `${optimal ? "Yes" : "Not known"}: ${certificate}`;

function took({ rounds, sweeps }, loss) {
  const swept = sweeps === null ? "" : ` and ${plural(sweeps, "sweep")} over all cells`;
  const state = loss?.optimal ? "Optimal" : "Better, not yet optimal,";
  return `${state} after ${plural(rounds, "round")} of improvement${swept}, begun from the composed values. The map shows the repaired agent.`;
}
