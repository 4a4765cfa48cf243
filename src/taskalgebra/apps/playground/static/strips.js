// Strips and tables that go on beyond an edge fade there; `data-more` says at which edges.

const STRIPS = ".segments, .keys, .examples, .strip, .scroll";

/** Keep the edges of all strips up to date. */
export function watchStrips() {
  let due = false;
  const look = () => {
    due = false;
    for (const strip of document.querySelectorAll(STRIPS)) mark(strip);
  };
  const soon = () => {
    if (!due) requestAnimationFrame(look);
    due = true;
  };
  document.addEventListener("scroll", soon, { capture: true, passive: true });
  window.addEventListener("resize", soon);
  const seen = { childList: true, subtree: true, attributeFilter: ["open", "hidden", "data-mode"] };
  new MutationObserver(soon).observe(document.body, seen);
  soon();
}

function mark(strip) {
  const { scrollLeft: left, scrollWidth, clientWidth } = strip;
  const right = scrollWidth - clientWidth - left;
  const scrolls = left + right > 1 && getComputedStyle(strip).overflowX === "auto";
  const more = scrolls ? [left > 1 && "left", right > 1 && "right"].filter(Boolean).join(" ") : "";
  if (more) strip.dataset.more = more;
  else delete strip.dataset.more;
}
