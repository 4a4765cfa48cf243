"""What a page must not have, as scripts for the browser that list it."""

# Texts that are seen and too weak against the colour behind them.
CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const apart = "svg, .mirror, .hidden, :disabled, :disabled + span, noscript";
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest(apart)) continue;
    const ink = light(channels(getComputedStyle(element).color).slice(0, 3));
    const ground = light(behind(element));
    const ratio = Math.max(ink, ground) / Math.min(ink, ground);
    if (ratio < 4.5) weak.push([element.className, text, ratio.toFixed(2)]);
  }
  return weak;
}"""

# Controls for which a screen reader has no name.
NAMELESS = """() => {
  const controls = "button, input, textarea, select, summary, [tabindex='0']";
  const named = (one) =>
    one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") ||
    one.labels?.[0]?.textContent.trim() || one.textContent.trim();
  const seen = [...document.querySelectorAll(controls)].filter((one) => one.checkVisibility());
  return seen.filter((one) => !named(one)).map((one) => one.outerHTML);
}"""

# Controls that are too small for a finger.
SMALL = """() => {
  const controls =
    "button, .segments label, .ticks td > label, textarea, select, " +
    "input:not([type=radio], [type=checkbox])";
  const seen = [...document.querySelectorAll(controls)].filter((one) => one.checkVisibility());
  return seen
    .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, box]) => box.width < 40 || box.height < 40)
    .map(([what, box]) => `${what} ${box.width} x ${box.height}`);
}"""

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
