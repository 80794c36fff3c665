/* Who answers on a page without a kernel: every picture there is, drawn beforehand by Python and packed (`page.py`). */

const BASE85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"; // as Python has it
const FIRST_LETTER = 0x100; // as page.py has it
const MOVES = ".mha-arrive, .mha-flash, .mha-grow, .mha-write, .mha-flow, .mha-reveal, .mha-later, .mha-cut"; // when it comes

/* Make what is there into what comes. What both have stays, or the browser would style it, lay it out and paint it anew,
   which is most of what a press costs. */
function become(old, next) {
  if (next.matches?.(MOVES) || old.nodeName !== next.nodeName) return old.replaceWith(next);
  if (old.isEqualNode(next) && !next.querySelector?.(MOVES)) return;
  if (next.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  haveChildren(old, next);
}
function haveChildren(old, next) {
  const [were, come] = [[...old.childNodes], [...next.childNodes]];
  come.forEach((child, i) => (i < were.length ? become(were[i], child) : old.append(child)));
  were.slice(come.length).forEach(child => child.remove());
}
function parsed(text, within) { // as what stands in it: an SVG's group is none in HTML
  const range = document.createRange();
  range.selectNodeContents(within);
  return range.createContextualFragment(text);
}

/* What answers a lab, if it has such pictures: whole ones, or pieces, each with states of its own. */
globalThis.mhaFrames = card => {
  const packed = card.querySelector("script.mha-frames");
  if (!packed) return null;
  const { offers, pieces, pressed, turns, n_bytes, frames: inBase85 } = JSON.parse(packed.textContent);
  const unpack = async () => {
    const words = inBase85.match(/.{5}/g).map(five => Array.from(five).reduce((n, digit) => 85 * n + BASE85.indexOf(digit), 0));
    const bytes = new DataView(new ArrayBuffer(4 * words.length));
    words.forEach((word, i) => bytes.setUint32(4 * i, word));
    const plain = new Blob([bytes.buffer.slice(0, n_bytes)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(plain).json();
  };
  const content = card.querySelector(".mha-picture .widget-html-content");
  const sentence = card.querySelector(".mha-readout .widget-html-content");
  const numberOf = (names, now) => names.reduce((at, name) => at * offers[name].length + offers[name].indexOf(now[name]), 0);
  const first = [content.innerHTML, sentence.innerHTML], among = (others, set) =>
    Object.fromEntries(others.map(name => [name, set?.[name] ?? offers[name][0]]));
  let frames = null, newest = 0, before, apart; // `apart`: by what is turned to, what was set there
  function begin() {
    [before, apart] = [read(content.querySelector("[data-state]").dataset.state), {}];
    for (const [name, others] of Object.entries(turns)) apart[before[name]] = among(others, before);
  }
  begin();
  card.querySelector(".mha-reset").addEventListener("click", () => {
    [content.innerHTML, sentence.innerHTML] = first;
    content.querySelector("[data-state]").dataset.answer = newest = Infinity; // what is asked now is answered late
    begin();
  });
  return {
    knows: (all, press) => (press ? pressed.includes(press) : all.length > 0 && all.every(sets =>
      Object.entries(sets).every(([name, value]) => offers[name]?.includes(value)))),
    async ask({ n, set, press }, state, drawn) {
      newest = n;
      if (!press && !Object.keys(set).some(name => name in offers)) return; // it is computed in the page
      const [tags, all] = await (frames ??= unpack());
      const whole = letters => Array.from(letters, letter => tags[letter.charCodeAt() - FIRST_LETTER]).join("");
      if (n !== newest) return;
      const goes = { ...(press && all[0][numberOf(pieces[0], state)][2][press]) }, sentences = [];
      for (const [name, others] of Object.entries(turns)) { // the page has no record of its own
        const there = state[name];
        if (there !== before[name]) Object.assign(goes, among(others, apart[there]));
        apart[there] = among(others, { ...state, ...goes });
      }
      const now = { ...state, ...goes };
      content.querySelector(".mha-drop")?.remove(); // what is in the hand is taken up again
      pieces.forEach((names, k) => {
        const [shows, says] = all[k][numberOf(names, now)];
        sentences.push(whole(says));
        if (!names.some(name => name in set || name in goes)) return;
        if (typeof shows === "string") haveChildren(content, parsed(whole(shows), content));
        else for (const [part, fragment] of Object.entries(shows)) {
          const old = content.querySelector(`[data-part="${part}"]`);
          become(old, parsed(whole(fragment), old.parentNode).firstChild);
        }
      });
      const shown = content.querySelector("[data-state]"), pictured = pieces.length > 1 ? now : read(shown.dataset.state);
      const free = shown.dataset.live ? Object.keys(pictured).filter(name => !(name in offers)) : [];
      const isLeft = free.every(name => pictured[name] === before[name]); // where it was dragged: nothing else has moved it
      const kept = free.filter(name => isLeft && state[name] !== pictured[name]);
      before = pictured;
      shown.toggleAttribute("data-ends", Object.values(all[0][numberOf(pieces[0], pictured)][2]).every(sets => !words(sets)));
      shown.dataset.kept = kept.join();
      if (kept.length || pieces.length > 1)
        shown.dataset.state = JSON.stringify({ ...pictured, ...Object.fromEntries(kept.map(name => [name, state[name]])) });
      shown.dataset.answer = n;
      drawn();
      const spoken = sentences.filter(Boolean).join(" ");
      if (spoken && !kept.length) sentence.textContent = `What you see: ${spoken}`;
    },
  };
};
