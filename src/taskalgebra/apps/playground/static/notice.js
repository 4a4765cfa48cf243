// A notice for the whole page.

import { byId } from "./dom.js";

/** Show a notice; `about` is "server" or "link". */
export function notify(about, sentence) {
  const notice = byId("notice");
  notice.hidden = false;
  notice.dataset.about = about;
  notice.textContent = sentence;
}

/** Hide a notice that no longer applies. */
export function settled(about) {
  const notice = byId("notice");
  if (notice.dataset.about === about) notice.hidden = true;
}
