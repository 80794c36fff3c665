/* What is pointed at, with a pointer or by the focus: its tip is written beside it, and the parts that it names light up.
   What is chosen at a glance is set while a mouse is over it. A part of the layer (`touch.js`). */
function pointing(place, content, over, { boxOf, isHeld, now, set, holds }) {
  const tip = make("div", { className: "mha-tip", hidden: true });
  let pointed = null, pressed; // the input that a pointer or a key is at, and what is pressed until the pointer leaves it
  let glanced = null; // what was chosen before

  const called = target => target.dataset.mark ?? target.closest("[data-also]")?.dataset.also;
  function show(target) { // what is pressed says nothing: it would lie over what changes
    const mark = target?.mark ?? target?.closest("[data-tip], [data-lights], .mha-idle");
    const text = mark?.classList.contains("mha-idle") ? "Only in the notebook." : mark?.dataset.tip;
    for (const lit of content.querySelectorAll(".mha-lit")) lit.classList.remove("mha-lit");
    for (const name of read(mark?.dataset.lights) ?? [])
      content.querySelector(`[data-part="${CSS.escape(name)}"]`)?.classList.add("mha-lit");
    tip.hidden = !text || (pressed && called(target) === pressed);
    if (tip.hidden) return;
    tip.textContent = text;
    const at = boxOf(mark), room = place.scrollWidth - tip.offsetWidth, above = at.y - tip.offsetHeight - 6;
    const [x, y] = [Math.max(0, Math.min(at.x, room)), above < 0 ? at.y + at.height + 6 : above];
    tip.style.cssText = `left:${x}px; top:${y}px`;
  }
  const point = target => show(pointed = target);

  function glance(sets) { // while a pointer is over it; then what was chosen is shown again
    const shown = sets ?? glanced;
    if (!shown) return;
    glanced = sets && (glanced ?? Object.fromEntries(Object.keys(sets).map(name => [name, now()[name]])));
    if (!holds(shown)) set(shown);
  }
  over.addEventListener("change", () => { glanced = null; });

  place.addEventListener("pointerover", ({ target, pointerType }) => {
    if (isHeld()) return;
    glance(pointerType === "mouse" && target.mark?.dataset.glance ? target.sets : null);
    pointed = target.mark ? target : null;
    if (pointerType === "touch") pressed = called(target);
    else if (called(target) !== pressed) pressed = undefined;
    show(target);
  });
  place.addEventListener("pointerdown", ({ target }) => {
    [pressed, glanced] = [called(target), null]; // a press keeps what was seen at a glance
    show(target);
  }, { capture: true });
  place.addEventListener("pointerleave", () => {
    if (isHeld()) return;
    glance(null);
    pressed = null;
    point(null);
  });
  over.addEventListener("keydown", ({ target, key }) => {
    if (key.startsWith("Arrow")) pressed = called(target);
    if (key === " ") glanced = null; // a key keeps it, too: it is checked already, and no change comes
    point(key === "Escape" ? null : target);
  });
  over.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible") && called(target) !== pressed) point(target);
  });
  over.addEventListener("focusout", ({ target }) => point(pointed === target ? null : pointed));

  place.append(tip);
  return { point, again: () => show(pointed) }; // `again`: in a picture that is new
}
