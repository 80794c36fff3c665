/* The picture is the control: over each mark of a lab's picture lies a native input.

Python draws the picture and says in data attributes what can be touched (`mha_helpers.drawing.marks`). The inputs
(radio, check box, range, button) stand in a layer of their own, beside the picture and not in it: it is replaced at every
change, and they stay, and with them the focus, the arrow keys, the names and the colours that a reader has forced.

Who answers a touch: the kernel, through two widgets of the lab (`ofKernel`); or, on a page without one, the pictures that
Python drew beforehand (`ofFrames`). While something is dragged the page may compute what moves by itself (`mhaLive`);
the answer then takes its place. */

const MARKS = "[data-choose], [data-switch], [data-press], [data-sets], [data-play], [data-scrub], [data-drag]";
const FINGER = 24; // pixels: no input is smaller
const SPEECH = 350; // milliseconds: no more often does the read-out change, or a drag floods a screen reader
const GLIDE = { duration: 450, easing: "ease-in-out" };
const MOST_BEATS = 80; // what goes on by itself comes to an end by itself
const ARROWS = { ArrowLeft: ["across", "stepDown"], ArrowRight: ["across", "stepUp"],
  ArrowUp: ["up", "stepUp"], ArrowDown: ["up", "stepDown"] };

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const read = text => (text === undefined ? undefined : JSON.parse(text));
const words = sets => Object.values(sets).join(", ");
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
let nLabs = 0;

/* Lay the layer over one lab. `answerer.ask({n, set, press})` sees to it that the picture is replaced sooner or later,
   by one that says which question it answers. */
function attach(card, answerer) {
  const place = card.querySelector(".mha-picture"), content = place.querySelector(".widget-html-content");
  const readout = card.querySelector(".mha-readout"), sentence = readout.querySelector(".widget-html-content");
  const own = card.querySelector(".mha-modules script[data-live]");
  const id = `mha${++nLabs}`, inputs = new Map(), groups = new Map(); // both by what they set
  const over = make("div", { className: "mha-over" }), tip = make("div", { className: "mha-tip", hidden: true });
  const status = make("p", { className: "mha-status", role: "status" });
  let state = {}, inPicture = {}, asked = 0, unanswered = {}; // what is set here, and in the picture that is shown
  let live = null, parts = new Map(), places = new Map(), held = null, isDragged = false;
  let pointed = null, pressed; // the input that a pointer or a key is at, and what is pressed until the pointer leaves it
  let playing = null, beats = 0, beaten = "", timer = 0; // what goes on by itself, how often it has, and from which state

  /* ---- what is shown ---- */

  function drawn() {
    const shown = content.querySelector("[data-state]");
    if (!shown) return lay([]); // the lab stopped, and says so
    card.dataset.lab = shown.dataset.pictureOf;
    inPicture = read(shown.dataset.state);
    const late = Number(shown.dataset.answer) < asked; // an older question's answer: what is set here is newer
    if (!late) [state, unanswered] = [inPicture, {}];
    const computes = globalThis.mhaLive?.[shown.dataset.live];
    live = computes && (now => computes(now, read(own.dataset.given)));
    parts = new Map([...content.querySelectorAll("[data-part]")].map(node => [node.dataset.part, node]));
    lay([...content.querySelectorAll(MARKS)]);
    if (live && (late ? isDragged : shown.dataset.kept)) compute();
    point(pointed);
    if (playing && !late) beat();
  }
  function glide(before) { // what was there travels to its new place; what a hand has hold of is there already
    if (held || calm()) return;
    for (const [name, now] of places) {
      const old = before.get(name), [dx, dy] = old ? [old.x - now.x, old.y - now.y] : [0, 0];
      const isSame = old && Math.abs(old.width - now.width) + Math.abs(old.height - now.height) < 2; // and not redrawn
      if (isSame && Math.abs(dx) + Math.abs(dy) > 1)
        parts.get(name).animate([{ translate: `${dx}px ${dy}px` }, { translate: "0 0" }], GLIDE);
    }
  }
  function compute() { // what the page knows by itself while the answer is awaited
    const { parts: changed, said } = live(state);
    for (const [name, attributes] of Object.entries(changed))
      for (const [attribute, value] of Object.entries(attributes))
        if (attribute === "text") parts.get(name).textContent = value;
        else parts.get(name).setAttribute(attribute, value);
    places.clear();
    put(handles());
    say(`What you see: ${said}`);
  }
  let waiting = 0, last = 0, next = "";
  function say(text) {
    next = text;
    waiting ||= setTimeout(() => {
      [waiting, last] = [0, performance.now()];
      if (status.textContent !== next) status.textContent = next;
    }, playing ? 0 : Math.max(0, last + SPEECH - performance.now())); // what plays is not read aloud, and is kept in step
  }

  /* ---- the layer of inputs ---- */

  function boxOf(node) { // in the layer's own pixels, wherever the page or the picture is scrolled to
    const at = node.getBoundingClientRect(), base = over.getBoundingClientRect();
    return { x: at.left - base.left, y: at.top - base.top, width: at.width, height: at.height };
  }
  function lay(marks) {
    const wanted = marks.flatMap(mark => [...inputsOf(mark)]), homes = new Map([[over, []]]);
    for (const { key, type, group, properties, ...about } of wanted) {
      const input = inputs.get(key) ?? make(type === "button" ? "button" : "input", { type });
      inputs.set(key, input);
      input.dataset.mark = key;
      Object.assign(input, about, { ariaDescription: about.mark.dataset.tip ?? null });
      for (const [property, value] of Object.entries(properties ?? {}))
        if (input[property] !== value) input[property] = value;
      if (about.mark.dataset.sweep) input.dataset.sweep = about.mark.dataset.sweep;
      show(input);
      const home = group ? groupOf(group) : over;
      homes.set(home, [...(homes.get(home) ?? []), input]);
      if (group && !homes.get(over).includes(home)) homes.get(over).push(home);
    }
    const kept = new Set(wanted.map(({ key }) => key)), hadFocus = over.contains(document.activeElement);
    for (const [key, input] of inputs) if (!kept.has(key)) { input.remove(); inputs.delete(key); }
    for (const [name, group] of groups) if (!homes.has(group)) { group.remove(); groups.delete(name); }
    for (const [home, children] of homes) arrange(home, children);
    const before = places; // all is measured before anything is moved, or the page is laid out for each
    places = new Map([...parts].map(([name, node]) => [name, boxOf(node)]));
    for (const { mark, type } of inputs.values()) if (type === "range" && !live) places.delete(mark.dataset.part);
    put(inputs.values());
    if (hadFocus && !over.contains(document.activeElement)) // what had it is gone: it stays in the lab
      over.querySelector(":checked, button, [type=range]")?.focus({ preventScroll: true });
    glide(before);
  }
  function arrange(home, children) { // the picture's order is Tab's; what has the focus is not moved: it would lose it
    if (children.every((child, i) => home.children[i] === child)) return;
    const fixed = children.findIndex(child => child.contains(document.activeElement));
    for (const child of children.slice(0, Math.max(fixed, 0))) home.insertBefore(child, children[fixed]);
    home.append(...children.slice(fixed + 1));
  }
  function groupOf(name) {
    if (!groups.has(name)) groups.set(name, make("div", { role: "radiogroup", ariaLabel: name }));
    return groups.get(name);
  }
  const holds = (sets, now = state) => Object.entries(sets).every(([control, value]) => now[control] === value);
  const stopOf = (stops, now = state) => Math.max(stops.findIndex(sets => holds(sets, now)), 0);
  function* inputsOf(mark) {
    const { name, press, play, scrub, ...given } = mark.dataset;
    const [choose, off, sets, stops, drag] = [given.choose, given.off, given.sets, given.stops, given.drag].map(read);
    const on = given.switch && (off ? read(given.switch) : { [given.switch]: true });
    const all = [choose, on, sets, ...(stops ?? [])].filter(Boolean);
    const isIdle = !answerer.knows(all, press ?? play) && !(live && (drag || sets)); // these the page computes itself
    mark.classList.toggle("mha-idle", isIdle); // paler: it takes a kernel
    if (isIdle) return;
    if (choose) {
      const group = Object.keys(choose).join(" and "), value = words(choose);
      yield { key: `${group}=${value}`, mark, type: "radio", ariaLabel: name ?? value, group, sets: choose,
        properties: { name: `${id} ${group}`, value } };
    } else if (on) {
      const key = off ? name : given.switch;
      yield { key, mark, type: "checkbox", ariaLabel: name ?? key, sets: on, off: off ?? { [given.switch]: false } };
    } else if (scrub) {
      yield { key: scrub, mark, type: "range", ariaLabel: name ?? scrub, sets: stops,
        properties: { min: "0", max: String(stops.length - 1), step: "1" } };
    } else if (drag) {
      const [, , , , x0, x1, y0, y1, step] = read(given.plane);
      for (const [axis, control, min, max] of [["across", drag[0], x0, x1], ["up", drag[1], y0, y1]])
        yield { key: control, mark, type: "range", ariaLabel: `${name}, ${axis}`, axis,
          properties: { min: String(min), max: String(max), step: String(step) } };
    } else yield { key: name ?? press, mark, type: "button", ariaLabel: name ?? press, sets };
  }
  function show(input) { // what is set here; a handle follows at once, whoever draws the rest
    const { type, mark, axis, sets } = input;
    if (mark.dataset.play) input.ariaPressed = String(!!playing);
    else if (type !== "range") input.checked = type !== "button" && holds(sets);
    else {
      input.value = String(axis ? state[input.dataset.mark] : stopOf(sets));
      if (!axis) input.ariaValueText = words(sets[input.value]);
      const [now, drawn] = [state, inPicture].map(of => standsAt(input, of));
      if (!live) mark.style.translate = `${now[0] - drawn[0]}px ${now[1] - drawn[1]}px`;
    }
  }
  function standsAt({ mark, axis, sets }, now) { // in the picture's own pixels
    if (!axis) return read(mark.dataset.track)[stopOf(sets, now)];
    const [left, top, right, bottom, x0, x1, y0, y1] = read(mark.dataset.plane), [across, up] = read(mark.dataset.drag);
    return [left + (right - left) * (now[across] - x0) / (x1 - x0), bottom - (bottom - top) * (now[up] - y0) / (y1 - y0)];
  }
  const handles = () => [...inputs.values()].filter(input => input.type === "range");
  function put(some) { // over their marks
    for (const [input, at] of Array.from(some, input => [input, boxOf(input.mark)])) {
      const width = Math.max(at.width, FINGER), height = Math.max(at.height, FINGER);
      const [x, y] = [at.x + (at.width - width) / 2, at.y + (at.height - height) / 2];
      const where = `left:${x}px; top:${y}px; width:${width}px; height:${height}px`;
      if (input.where !== where) input.style.cssText = input.where = where;
    }
  }

  /* ---- what is done to it ---- */

  function set(values, more) { // `more`: a button that is pressed after
    Object.assign(unanswered, values);
    state = { ...state, ...values };
    inputs.forEach(show); // all that says the same, too
    if (!live) put(handles());
    isDragged = handles().some(input => input.axis && input.dataset.mark in values);
    if (live && isDragged) compute(); // what else is set may set more: only the answer knows
    ask(more);
  }
  const ask = more => answerer.ask({ n: ++asked, set: unanswered, ...more }, state);

  over.addEventListener("change", ({ target }) => { // keys, screen readers, and a plain press
    if (target.type === "radio") set(target.sets), glanced = null;
    if (target.type === "checkbox") set(target.checked ? target.sets : target.off);
  });
  over.addEventListener("input", ({ target }) => {
    if (target.type !== "range") return;
    set(target.axis ? { [target.dataset.mark]: Number(target.value) } : target.sets[target.value]);
  });
  over.addEventListener("click", event => {
    const { target } = event, { play: plays, press } = target.mark?.dataset ?? {};
    if (plays) play(playing ? null : target.mark);
    else if (target.type === "button") set(target.sets ?? {}, press && { press });
    if (target.dataset.sweep && event.detail) event.preventDefault(); // the sweep has set it already
  });
  content.addEventListener("click", event => {
    const also = event.target.closest("[data-also]"), input = inputs.get(event.target.closest("[data-grip]")?.dataset.grip);
    if (also) set(read(also.dataset.also));
    if (!input) return; // else a handle's track or plane: it comes to the pointer
    input.focus({ preventScroll: true });
    held = { input, dx: 0, dy: 0 };
    pull(event);
    held = null;
  });

  /* ---- what goes on by itself, until it is touched ---- */

  function play(mark) {
    [playing, beats, beaten] = [mark?.dataset ?? null, 0, ""];
    card.classList.toggle("mha-plays", !!playing); // the picture has both signs: to go on, and to stop
    status.ariaLive = playing ? "off" : "polite"; // what is not waited for is not read aloud
    inputs.forEach(show);
    clearTimeout(timer);
    if (!playing) {
      status.textContent = ""; // or where it stopped would not be read aloud, as it is there already
      return say(sentence.textContent);
    }
    if (playing.sets) set(read(playing.sets)); // from the beginning; the answer goes on
    else beat();
  }
  function beat() {
    const now = JSON.stringify(state), { play: press, every } = playing;
    if (now === beaten || ++beats > MOST_BEATS) return play(null); // it has come to its end
    beaten = now;
    timer = setTimeout(() => ask({ press }), beats > 1 || playing.sets ? Number(every) : 0);
  }
  for (const touched of ["pointerdown", "keydown"])
    card.addEventListener(touched, ({ target, key = " " }) => {
      const clicks = target.mark?.dataset.play && " Enter".includes(key); // its own button, which is clicked next
      if (playing && !clicks) play(null);
    }, { capture: true });
  new IntersectionObserver(([{ isIntersecting }], observer) => {
    const starts = content.querySelector("[data-starts]");
    if (!isIntersecting) return;
    observer.disconnect();
    if (starts && !calm()) play(starts);
  }, { threshold: 0.7 }).observe(place);

  over.addEventListener("keydown", event => {
    const [axis, step] = ARROWS[event.key] ?? [], { target } = event, { slots, enter: press } = target.mark?.dataset ?? {};
    pointed = event.key === "Escape" ? null : target;
    point(pointed);
    if (event.key === "Enter" && press) ask({ press });
    if (event.key === " " && slots) toss(target);
    if (!target.axis || !axis) return;
    event.preventDefault(); // in a plane up and down are up, and left and right across
    const other = handles().find(input => input.mark === target.mark && input.axis === axis);
    other.focus();
    other[step]();
    other.dispatchEvent(new Event("input", { bubbles: true }));
  });

  over.addEventListener("touchstart", event => { // or the browser's own slider would follow the finger, too, and jump
    if (event.target.type === "range") event.preventDefault();
  }, { passive: false });
  over.addEventListener("pointerdown", event => {
    const { target } = event, isHandle = target.type === "range";
    if (event.button || !(isHandle || target.dataset.sweep)) return;
    event.preventDefault();
    target.focus({ preventScroll: true });
    const at = target.getBoundingClientRect(); // a handle is held where it was taken, and does not jump to the pointer
    held = { input: target, value: !target.checked,
      dx: at.left + at.width / 2 - event.clientX, dy: at.top + at.height / 2 - event.clientY };
    if (!isHandle) cross(target);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", event => {
    if (!held) return;
    if (held.input.type === "range") return pull(event);
    for (const { clientX, clientY } of event.getCoalescedEvents?.() ?? [event]) {
      const under = document.elementsFromPoint(clientX, clientY).find(one => one.dataset.sweep && over.contains(one));
      if (under) cross(under);
    }
  });
  for (const end of ["pointerup", "pointercancel"])
    over.addEventListener(end, ({ type }) => {
      if (type === "pointerup" && held?.input.mark.dataset.slots && !held.moved) toss(held.input);
      held = null;
    });
  const toss = ({ sets }) => set(sets[stopOf(sets) ? 0 : sets.length - 1]); // from home to the last slot, or back
  function cross(input) { // of radio buttons the one that is crossed is chosen: a film of what they choose
    const value = input.type === "radio" || held.value;
    if (input.dataset.sweep !== held.input.dataset.sweep || input.checked === value) return;
    input.mark.classList.add("mha-wet"); // at once, whoever draws the rest
    if (input.type === "radio") input.focus({ preventScroll: true });
    pointed = input;
    set(value ? input.sets : input.off);
  }
  function pull(event) {
    const { input, dx, dy } = held, { mark } = input;
    const matrix = mark.ownerSVGElement.getScreenCTM().inverse();
    const at = new DOMPoint(event.clientX + dx, event.clientY + dy).matrixTransform(matrix);
    const values = input.axis ? inPlane(mark, at) : input.sets[nearest(mark.dataset, at)];
    if (holds(values)) return;
    held.moved = true;
    set(values);
  }
  function inPlane(mark, at) {
    const [left, top, right, bottom, x0, x1, y0, y1, step] = read(mark.dataset.plane), [across, up] = read(mark.dataset.drag);
    const fit = (share, low, high) => {
      const value = low + Math.min(Math.max(share, 0), 1) * (high - low);
      return Number((Math.round(value / step) * step).toFixed(6));
    };
    return { [across]: fit((at.x - left) / (right - left), x0, x1),
      [up]: fit((bottom - at.y) / (bottom - top), y0, y1) };
  }
  function nearest({ track: points, slots }, at) { // along its longer side: a steep curve does not make the handle jump
    const track = read(points), extent = i => Math.max(...track.map(one => one[i])) - Math.min(...track.map(one => one[i]));
    const isWide = extent(0) >= extent(1), far = track.map(([x, y]) =>
      slots ? Math.hypot(x - at.x, y - at.y) : Math.abs(isWide ? x - at.x : y - at.y));
    return far.indexOf(Math.min(...far));
  }

  /* ---- what is pointed at, with a pointer or by the focus ---- */

  let glanced = null; // what was chosen before
  function glance(sets) { // while a pointer is over it; then what was chosen is shown again
    const shown = sets ?? glanced;
    if (!shown) return;
    glanced = sets && (glanced ?? Object.fromEntries(Object.keys(sets).map(name => [name, state[name]])));
    if (!holds(shown)) set(shown);
  }
  const called = target => target.dataset.mark ?? target.closest("[data-also]")?.dataset.also;
  function point(target) { // what is pressed says nothing: it would lie over what changes
    const mark = target?.mark ?? target?.closest("[data-tip], [data-lights]");
    for (const lit of content.querySelectorAll(".mha-lit")) lit.classList.remove("mha-lit");
    for (const name of read(mark?.dataset.lights) ?? []) parts.get(name)?.classList.add("mha-lit");
    tip.hidden = !mark?.dataset.tip || called(target) === pressed;
    if (tip.hidden) return;
    tip.textContent = mark.dataset.tip;
    const at = boxOf(mark), room = place.scrollWidth - tip.offsetWidth, above = at.y - tip.offsetHeight - 6;
    const [x, y] = [Math.max(0, Math.min(at.x, room)), above < 0 ? at.y + at.height + 6 : above];
    tip.style.cssText = `left:${x}px; top:${y}px`;
  }
  place.addEventListener("pointerover", ({ target, pointerType }) => {
    if (held) return;
    glance(pointerType === "mouse" && target.mark?.dataset.glance ? target.sets : null);
    pointed = target.mark ? target : null;
    if (pointerType === "touch") pressed = called(target);
    else if (called(target) !== pressed) pressed = undefined;
    point(target);
  });
  place.addEventListener("pointerdown", ({ target }) => {
    [pressed, glanced] = [called(target), null]; // a press keeps what was seen at a glance
    point(target);
  }, { capture: true });
  place.addEventListener("pointerleave", () => {
    if (held) return;
    glance(null);
    pointed = pressed = null;
    point(null);
  });
  over.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible") && called(target) !== pressed) point(pointed = target);
  });
  over.addEventListener("focusout", ({ target }) => point(pointed = pointed === target ? null : pointed));

  card.classList.add("mha-touched"); // the form that the picture replaces goes
  status.textContent = sentence.textContent;
  place.append(over, tip);
  readout.append(status);
  new MutationObserver(drawn).observe(content, { childList: true });
  new MutationObserver(() => say(sentence.textContent)).observe(sentence, { childList: true });
  new ResizeObserver(() => put(inputs.values())).observe(place);
  drawn();
}

/* ---- who answers ---- */

function ofKernel(card) { // ipywidgets keeps, of the questions that wait, only the last: each holds all that is unanswered
  const wish = card.querySelector(".mha-wish input");
  return wish && {
    knows: () => true,
    ask(question) {
      wish.value = JSON.stringify(question);
      wish.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
}

function ofFrames(card) { // every picture there is, drawn beforehand and packed: whole, or in pieces of their own states
  const packed = card.querySelector("script.mha-frames");
  if (!packed) return null;
  const { offers, pieces, pressed, frames: inBase64 } = JSON.parse(packed.textContent);
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(inBase64), letter => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(plain).json();
  };
  const content = card.querySelector(".mha-picture .widget-html-content");
  const sentence = card.querySelector(".mha-readout .widget-html-content");
  const numberOf = (names, now) => names.reduce((at, name) => at * offers[name].length + offers[name].indexOf(now[name]), 0);
  let frames = null, newest = 0, before = read(content.querySelector("[data-state]").dataset.state);
  return {
    knows: (all, press) => (press ? pressed.includes(press) : all.length > 0 && all.every(sets =>
      Object.entries(sets).every(([name, value]) => offers[name]?.includes(value)))),
    async ask({ n, set, press }, state) {
      newest = n;
      if (!press && !Object.keys(set).some(name => name in offers)) return; // it is computed in the page
      const [tags, all] = await (frames ??= unpack()), whole = numbers => numbers.map(number => tags[number]).join("");
      if (n !== newest) return;
      const goes = press ? all[0][numberOf(pieces[0], state)][2][press] : {}, now = { ...state, ...goes }, said = [];
      pieces.forEach((names, k) => {
        if (!names.some(name => name in set || name in goes)) return;
        const [drawn, says] = all[k][numberOf(names, now)];
        said.push(whole(says));
        if (Array.isArray(drawn)) content.innerHTML = whole(drawn);
        else for (const [part, fragment] of Object.entries(drawn))
          content.querySelector(`[data-part="${part}"]`).outerHTML = whole(fragment);
      });
      const shown = content.querySelector("[data-state]"), drawn = pieces.length > 1 ? now : read(shown.dataset.state);
      const kept = shown.dataset.live ? Object.keys(drawn).filter(name => // dragged, and nothing else has moved it since
        !(name in offers) && drawn[name] === before[name] && state[name] !== drawn[name]) : [];
      before = drawn;
      shown.dataset.kept = kept.join();
      if (kept.length || pieces.length > 1)
        shown.dataset.state = JSON.stringify({ ...drawn, ...Object.fromEntries(kept.map(name => [name, state[name]])) });
      shown.dataset.answer = n;
      content.append(...content.childNodes); // for whoever watches for pictures
      if (said.some(Boolean) && !kept.length) sentence.textContent = `What you see: ${said.filter(Boolean).join(" ")}`;
    },
  };
}

function look() { // for labs that have come and have no layer yet
  for (const card of document.querySelectorAll(".mha-lab:not(.mha-touched)")) {
    if (!card.querySelector(".mha-readout .widget-html-content > *")) continue; // it is being built
    const answerer = ofKernel(card) ?? ofFrames(card);
    if (!answerer) continue; // a still picture, or a card that is not all there yet
    for (const code of card.querySelectorAll(".mha-modules script[data-live]")) // what the page computes by itself
      if (!globalThis.mhaLive?.[code.dataset.live]) document.head.append(make("script", { text: code.text }));
    attach(card, answerer);
  }
}
if (!globalThis.mhaTouch) {
  globalThis.mhaTouch = new MutationObserver(look);
  globalThis.mhaTouch.observe(document.body, { childList: true, subtree: true });
  look();
}
