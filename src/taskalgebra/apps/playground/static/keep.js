// What can be kept: a link, the picture, and the Python lines.

import { byId, flash } from "./dom.js";
import { asPng, fileName, pictureFile, save } from "./download.js";

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // without the reader's leave, or without a clipboard
  }
}

/**
 * Listen to the buttons that keep something.
 *
 * link(): a promise of the address; blocked(link): the browser does not copy it; answer(): the
 * newest answer; picture(): what `pictureFile` draws; screen(): a promise of a PNG, or null.
 */
export function listenToKeep({ link, blocked, answer, picture, screen }) {
  const onClick = (id, action) => byId(id).addEventListener("click", action);
  const keep = (ending, blob) => save(fileName(answer().expression, ending), blob);
  onClick("share", async () => {
    const address = await link();
    if (await copied(address)) flash(byId("share"), "Link copied");
    else blocked(address);
  });
  onClick("copy", async () => {
    flash(byId("copy"), (await copied(byId("lines").textContent)) ? "Copied" : "Not allowed: select the lines");
  });
  onClick("png", async () => keep("png", await (screen() ?? asPng(pictureFile(picture())))));
  onClick("svg", () => keep("svg", new Blob([pictureFile(picture())], { type: "image/svg+xml" })));
  onClick("python", () => keep("py", new Blob([answer().python], { type: "text/x-python" })));
}
