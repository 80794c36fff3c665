/* The picture is the control: over each mark of a lab's picture lies a native input.

Python draws the picture and says in data attributes what can be touched (`live_pictures.marks`). The inputs
(radio, check box, range, button) stand in a layer of their own, beside the picture and not in it: it is replaced at every
change, and they stay, and with them the focus, the arrow keys, the names and the colours that a reader has forced.

Who answers a touch: the kernel, through two widgets of the lab (`ofKernel`); or, on a page without one, the pictures that
Python drew beforehand (`frames.js`). While something is dragged the page may compute what moves by itself (`mhaLive`);
when the hand rests the answer takes its place.

Tips (`pointing.js`) and what goes on by itself (`playing.js`) have files of their own; Python makes one module of all. */

const MARKS = "[data-choose], [data-switch], [data-press], [data-sets], [data-play], [data-scrub], [data-drag]";
const FINGER = 24; // pixels: no input is smaller
const REST = 100; // milliseconds without a move, after which what the page has computed is asked for, too
const SPEECH = 350; // milliseconds: no more often does the read-out change, or a drag floods a screen reader
const GLANCE = 28; // words of the read-out that are seen at once, with "What you see:"
const NEXT = 6; // letters: so soon what is pressed while they are written takes effect, or not at all
const GLIDE = { duration: 450, easing: "ease-in-out" };
const FLOW = { duration: 700, easing: "ease-in-out" }, RISES = 16; // pixels, half the way
const WAITS = ["mha-reveal", "mha-later", "mha-cut"]; // animations whose end is seen with the next press
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
  const data = read(card.querySelector(".mha-modules script[data-live]")?.dataset.given);
  const id = `mha${++nLabs}`, inputs = new Map(), groups = new Map(); // both by what they set
  const over = make("div", { className: "mha-over" }), status = make("p", { className: "mha-status", role: "status" });
  const more = make("details", { className: "mha-more" }), rest = make("p");
  more.append(make("summary", { textContent: "more" }), rest);
  const drop = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  let state = {}, inPicture = {}, asked = 0, unanswered = {}; // what is set here, and in the picture that is shown
  let live = null, parts = new Map(), places = new Map(), held = null, isDragged = false;
  let gliding = []; // what is on its way to its place
  let answered = null; // the last question that was
  const trails = new Map(); // by part: where it has been
  let resting = 0; // until what is dragged is asked for
  const pointed = pointing(place, content, over, {
    boxOf, isHeld: () => !!held, now: () => state, holds: sets => holds(sets), set });
  const played = playing(card, place, { now: () => state, set, changed: startedOrStopped });

  /* ---- what is shown ---- */

  function drawn() {
    const shown = content.querySelector("[data-state]");
    if (!shown) return lay([]); // the lab stopped, and says so
    card.dataset.lab = shown.dataset.pictureOf;
    const before = inPicture;
    inPicture = read(shown.dataset.state);
    const answer = Number(shown.dataset.answer);
    const late = answer < asked; // an older question's answer: what is set here is newer
    if (answer === answered || answer === Infinity) trails.clear(); // nobody has asked here: it is reset
    answered = answer;
    if (!late) [state, unanswered] = [inPicture, {}];
    const computes = globalThis.mhaLive?.[shown.dataset.live];
    live = computes && (now => computes(now, data));
    parts = new Map([...content.querySelectorAll("[data-part]")].map(node => [node.dataset.part, node]));
    lay([...content.querySelectorAll(MARKS)]);
    if (live && (late ? isDragged : shown.dataset.kept)) {
      compute();
      put(handles());
    } else leaveTrails();
    pointed.again();
    flow(before);
    if (!late) played.beat();
  }
  function flow(before) { // what was switched off gives what it had to others
    if (calm()) return;
    for (const drop of content.querySelectorAll("[data-leaves]")) {
      const { leaves, from } = drop.dataset;
      if (before[leaves] !== true || inPicture[leaves] !== false) continue;
      const [dx, dy] = read(from), between = { translate: `${dx / 2}px ${dy / 2 - RISES}px` };
      drop.animate([{ opacity: 1, translate: `${dx}px ${dy}px` }, { opacity: 1, ...between },
        { opacity: 1, translate: "0 0", offset: 0.9 }, { opacity: 0, translate: "0 0" }], FLOW);
    }
  }
  function glide(before) { // what was there travels to its new place, and makes room for what a hand carries
    gliding = [];
    if (calm() || (held && !held.at)) return;
    for (const [name, now] of places) {
      const old = before.get(name), part = parts.get(name), isBlock = part.tagName === "rect";
      if (!old || part === held?.input.mark || part.getAttribute("fill") === "transparent") continue;
      const [dx, dy, wider, higher] = ["x", "y", "width", "height"].map(side => old[side] - now[side]);
      const isSame = Math.abs(wider) + Math.abs(higher) < 2; // and not redrawn; but a block grows and shrinks
      if (!(isBlock || isSame) || (isSame && Math.abs(dx) + Math.abs(dy) <= 1)) continue;
      const way = (read(part.dataset.way) ?? []).map(([x, y], _, all) => [x - all.at(-1)[0], y - all.at(-1)[1]]);
      if (way.length && Math.hypot(way[0][0] - dx, way[0][1] - dy) < FINGER) { // it comes from where its way begins
        const along = way.map(([x, y]) => ({ translate: `${x}px ${y}px` }));
        gliding.push(part.animate(along, { ...GLIDE, duration: 2 * GLIDE.duration }));
        continue;
      }
      const after = Number(part.dataset.after ?? 0), when = { ...GLIDE, delay: after, fill: "backwards" };
      const scale = isBlock ? `${old.width / now.width} ${old.height / now.height}` : "1";
      gliding.push(part.animate([{ translate: `${dx}px ${dy}px`, scale }, { translate: "0 0", scale: "1" }], when));
    }
  }
  function compute() { // what the page knows by itself while the answer is awaited
    const { parts: changed, sentence: spoken } = live(state);
    for (const [name, attributes] of Object.entries(changed)) {
      const part = parts.get(name);
      for (const [attribute, value] of Object.entries(attributes))
        if (attribute === "text") {
          if (part.textContent !== value) part.textContent = value; // what is set is laid out again
        } else if (part.getAttribute(attribute) !== value) part.setAttribute(attribute, value);
    }
    places.clear();
    leaveTrails();
    content.querySelector("svg").ariaLabel = spoken; // or it would say what was shown before
    say(`What you see: ${spoken}`);
  }
  function leaveTrails() { // pictures come and go, and these stay
    for (const path of content.querySelectorAll("[data-trail]")) {
      const { trail } = path.dataset, part = parts.get(trail), been = trails.get(trail) ?? new Set();
      const [x, y] = ["cx", "cy"].map(name => Math.round(part.getAttribute(name)));
      trails.set(trail, been.add(`M${x} ${y}h0`));
      path.setAttribute("d", [...been].join(""));
    }
  }
  let waiting = 0, last = 0, next = "";
  function say(text) {
    next = text;
    waiting ||= setTimeout(() => {
      [waiting, last] = [0, performance.now()];
      tell(next);
    }, status.ariaLive === "off" ? 0 : Math.max(0, last + SPEECH - performance.now())); // what plays is not read aloud, and is kept in step
  }

  function tell(text) { // what has not changed is not written anew, or it would be read aloud again
    const [first, others] = inShort(text);
    if (status.textContent !== first) status.textContent = first;
    if (rest.textContent !== others) rest.textContent = others;
    more.classList.toggle("mha-empty", !others);
  }

  function startedOrStopped() {
    const isOn = played.isOn();
    status.ariaLive = isOn ? "off" : "polite"; // what is not waited for is not read aloud
    inputs.forEach(show);
    if (isOn) return;
    status.textContent = ""; // or where it stopped would not be read aloud, as it is there already
    say(sentence.textContent);
  }

  /* ---- the layer of inputs ---- */

  function boxOf(node, within = over) { // in the layer's own pixels, wherever the page or the picture is scrolled to
    const at = node.getBoundingClientRect(), base = within.getBoundingClientRect();
    return { x: at.left - base.left, y: at.top - base.top, width: at.width, height: at.height };
  }
  // A part's, in the picture, which itself is moved by a line above it: that is no way to glide.
  const placeOf = part => boxOf(part, part.closest(".mha-parts"));
  function lay(marks) {
    const wanted = marks.flatMap(mark => [...inputsOf(mark)]), homes = new Map([[over, []]]);
    for (const { key, type, group, ...about } of wanted) {
      const input = inputs.get(key) ?? make(type === "button" ? "button" : "input", { type });
      const { tip: ariaDescription = null, sweep } = about.mark.dataset;
      inputs.set(key, input);
      input.dataset.mark = key;
      if (sweep) input.dataset.sweep = sweep;
      for (const [property, value] of Object.entries({ ...about, ariaDescription }))
        if (input[property] !== value) input[property] = value; // what is set again is a change to the browser
      show(input);
      const home = group ? groupOf(group) : over;
      homes.set(home, [...(homes.get(home) ?? []), input]);
      if (group && !homes.get(over).includes(home)) homes.get(over).push(home);
    }
    const kept = new Set(wanted.map(({ key }) => key)), hadFocus =
      over.contains(document.activeElement) && document.activeElement;
    for (const [key, input] of inputs) if (!kept.has(key)) { input.remove(); inputs.delete(key); }
    for (const [name, group] of groups) if (!homes.has(group)) { group.remove(); groups.delete(name); }
    for (const [home, children] of homes) arrange(home, children);
    gliding.forEach(animation => animation.cancel()); // where it is going is measured, not where it is
    const before = places; // all is measured before anything is moved, or the page is laid out for each
    places = new Map([...parts].map(([name, node]) => [name, placeOf(node)]));
    for (const { mark, type } of inputs.values()) if (type === "range" && !live && !mark.dataset.carried) places.delete(mark.dataset.part);
    put(inputs.values());
    if (hadFocus && !hadFocus.isConnected) heir(hadFocus)?.focus({ preventScroll: true });
    glide(before);
  }
  function arrange(home, children) { // the picture's order is Tab's; what has the focus is not moved: it would lose it
    const isGroup = home !== over && home.childElementCount === children.length; // its order stays, or arrows would turn back
    if (children.every((child, i) => (isGroup ? child.parentNode === home : home.children[i] === child))) return;
    const fixed = children.findIndex(child => child.contains(document.activeElement));
    for (const child of children.slice(0, Math.max(fixed, 0))) home.insertBefore(child, children[fixed]);
    home.append(...children.slice(fixed + 1));
  }
  function heir({ type, at }) { // of the focus, where what had it is gone: what lies nearest, if it is pressed like it
    const far = input => Math.hypot(input.at.x - at.x, input.at.y - at.y);
    const alike = [...inputs.values()].filter(input => input.type === type).sort((a, b) => far(a) - far(b));
    return alike[0] ?? over.querySelector(":checked, button, [type=range]");
  }
  function groupOf(name) {
    if (!groups.has(name)) groups.set(name, make("div", { role: "radiogroup", ariaLabel: name }));
    return groups.get(name);
  }
  const holds = (sets, now = state) => Object.entries(sets).every(([control, value]) => now[control] === value);
  const stopOf = (stops, now = state) => Math.max(stops.findIndex(sets => holds(sets, now)), 0);
  function* inputsOf(mark) {
    const { name, press, play, scrub, ...data } = mark.dataset;
    const [choose, off, sets, stops, track, drag, plane] = ["choose", "off", "sets", "stops", "track", "drag", "plane"]
      .map(kind => read(data[kind]));
    const on = data.switch && (off ? read(data.switch) : { [data.switch]: true });
    const all = [choose, on, sets, ...(stops ?? [])].filter(Boolean);
    const isIdle = !answerer.knows(all, press ?? play) && !(live && (drag || sets)); // these the page computes itself
    mark.classList.toggle("mha-idle", isIdle); // paler: it takes a kernel
    if (isIdle) { // nor does its track or its plane look as if it could be pressed
      for (const grip of content.querySelectorAll(`[data-grip="${scrub ?? drag?.[0]}"]`)) grip.removeAttribute("data-grip");
      return;
    }
    if (choose) {
      const group = Object.keys(choose).join(" and "), value = words(choose);
      yield { key: `${group}=${value}`, mark, type: "radio", ariaLabel: name ?? value, group, sets: choose,
        name: `${id} ${group}`, value };
    } else if (on) {
      const key = off ? name : data.switch;
      yield { key, mark, type: "checkbox", ariaLabel: name ?? key, sets: on, off: off ?? { [data.switch]: false } };
    } else if (scrub) {
      yield { key: scrub, mark, type: "range", ariaLabel: name ?? scrub, sets: stops, track,
        min: "0", max: String(stops.length - 1), step: "1" };
    } else if (drag) {
      const [x0, x1, y0, y1, step] = plane.slice(4);
      for (const [axis, control, min, max] of [["across", drag[0], x0, x1], ["up", drag[1], y0, y1]])
        yield { key: control, mark, type: "range", ariaLabel: `${name}, ${axis}`, axis, drag, plane,
          min: String(min), max: String(max), step: String(step) };
    } else yield { key: name ?? press, mark, type: "button", ariaLabel: name ?? press, sets };
  }
  function show(input) { // what is set here; a handle follows at once, whoever draws the rest
    const { type, mark, axis, sets } = input;
    if (mark.dataset.play) input.ariaPressed = String(played.isOn());
    else if (type !== "range") input.checked = type !== "button" && holds(sets);
    else {
      input.value = String(axis ? state[input.dataset.mark] : stopOf(sets));
      if (!axis) input.ariaValueText = words(sets[input.value]);
      const drawn = standsAt(input, inPicture), inHand = held?.input === input && held.at;
      const now = inHand || (mark.dataset.carried ? drawn : standsAt(input)); // what is carried glides when it is answered
      if (!live) mark.style.translate = `${now[0] - drawn[0]}px ${now[1] - drawn[1]}px`;
      if (inHand) lift(mark, standsAt(input), drawn);
    }
  }
  function lift(mark, there, drawn) { // above all others, and draw an outline where it would be dropped
    if (mark.nextSibling) held.next = mark.nextSibling;
    if (mark.nextSibling || mark.previousSibling !== drop) mark.parentNode.append(drop, mark);
    const { x, y, width, height } = mark.getBBox();
    const place = { x: x + there[0] - drawn[0], y: y + there[1] - drawn[1], width, height };
    for (const [attribute, value] of Object.entries(place)) drop.setAttribute(attribute, value);
  }
  function standsAt({ sets, track, drag, plane }, now = state) { // in the picture's own pixels
    if (track) return track[stopOf(sets, now)];
    const [left, top, right, bottom, x0, x1, y0, y1] = plane, [across, up] = drag.map(name => now[name]);
    return [left + (right - left) * (across - x0) / (x1 - x0), bottom - (bottom - top) * (up - y0) / (y1 - y0)];
  }
  const handles = () => [...inputs.values()].filter(input => input.type === "range");
  function put(some) { // over their marks
    const all = [...some];
    for (const input of all) input.at = boxOf(input.mark.querySelector("[data-hold]") ?? input.mark);
    for (const input of all) {
      const { at } = input;
      const width = Math.max(at.width, FINGER), height = Math.max(at.height, FINGER);
      const [x, y] = [at.x + (at.width - width) / 2, at.y + (at.height - height) / 2];
      const where = `left:${x}px; top:${y}px; width:${width}px; height:${height}px`;
      if (input.where !== where || input.style.translate) input.style.cssText = input.where = where;
      if (input.axis) [input.stood, input.scale] = [standsAt(input), input.mark.ownerSVGElement.getScreenCTM().a];
    }
  }
  function follow(input) { // its mark, which is not measured: that would have the page laid out twice for each move
    const [dx, dy] = standsAt(input).map((at, i) => input.scale * (at - input.stood[i]));
    input.style.translate = `${dx}px ${dy}px`;
  }

  /* ---- what is done to it ---- */

  function set(values, more) { // `more`: a button that is pressed after
    Object.assign(unanswered, values);
    state = { ...state, ...values };
    asked += 1;
    isDragged = handles().some(input => input.axis && input.dataset.mark in values);
    clearTimeout(resting);
    if (live && isDragged) resting = setTimeout(ask, REST); // a picture for each move would only be in the way
    else ask(more); // before anything is shown here, which the answer is not to wait for
    inputs.forEach(show); // all that says the same, too
    if (live && isDragged) { // what else is set may set more: only the answer knows
      compute();
      handles().forEach(follow);
    } else if (!live) put(handles());
  }
  const bring = ({ mark }, values) => set({ ...values, ...read(mark.dataset.brings), ...moment(mark.dataset) });
  function moment({ moment: name }) { // at which letter of what is being written it is pressed, after those of before
    const isWriting = ({ animationName }) => animationName === "mha-write";
    const [writing] = name ? content.getAnimations({ subtree: true }).filter(isWriting) : [];
    if (!writing) return name && { [name]: "0" };
    const { effect } = writing, [first, n] = read(effect.target.dataset.write);
    const now = first + Math.floor(n * effect.getComputedTiming().progress);
    const before = state[name] === "0" ? "" : `${state[name]} `;
    const letters = Array.from({ length: NEXT }, (_, i) => `${before}${now + i}`.trim()); // a page knows few of them
    return { [name]: letters.find(value => answerer.knows([{ [name]: value }])) ?? "0" };
  }
  const ask = more => answerer.ask({ n: asked, set: unanswered, ...more }, state, drawn);

  over.addEventListener("change", ({ target }) => { // keys, screen readers, and a plain press
    if (target.type === "radio") bring(target, target.sets);
    if (target.type === "checkbox") bring(target, target.checked ? target.sets : target.off);
  });
  over.addEventListener("input", ({ target }) => {
    if (target.type !== "range") return;
    bring(target, target.axis ? { [target.dataset.mark]: Number(target.value) } : target.sets[target.value]);
  });
  over.addEventListener("click", event => {
    const { target } = event, { play: plays, press } = target.mark?.dataset ?? {};
    if (plays) played.toggle(target.mark);
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
    release();
  });

  over.addEventListener("keydown", event => {
    const [axis, step] = ARROWS[event.key] ?? [], { target } = event, { slots, enter: press } = target.mark?.dataset ?? {};
    if (event.key === "Enter" && press) set({}, { press });
    if (event.key === " " && slots) toss(target);
    if (!axis) return;
    const next = target.type === "radio" && axis === "up" && inColumn(target, step === "stepUp" ? -1 : 1);
    if (next) {
      event.preventDefault();
      next.focus();
      next.click();
    }
    if (target.axis) { // in a plane up and down are up, and left and right across
      const other = handles().find(input => input.mark === target.mark && input.axis === axis);
      other.focus();
      move(event, other, step);
    } else if (target.track && runsBack(target.track, axis)) move(event, target, step === "stepUp" ? "stepDown" : "stepUp");
  });
  function inColumn(input, way) { // of choices in rows and columns, the next above or below: the browser's goes by rows
    const others = [...inputs.values()].filter(({ name }) => name === input.name);
    const near = (one, side, length) => Math.abs(one.at[side] - input.at[side]) < input.at[length] / 2;
    if (!others.some(one => one !== input && near(one, "y", "height"))) return null; // one column: the browser's is right
    const column = others.filter(one => near(one, "x", "width")).sort((a, b) => a.at.y - b.at.y);
    return column.length > 1 ? column.at((column.indexOf(input) + way) % column.length) : null;
  }
  function runsBack(track, axis) { // where it goes left or down from stop to stop, along this axis: a key goes where it points
    const [[x0, y0], [x1, y1]] = [track[0], track.at(-1)], isAcross = Math.abs(x1 - x0) >= Math.abs(y1 - y0);
    return isAcross ? axis === "across" && x1 < x0 : axis === "up" && y1 > y0;
  }
  function move(event, input, step) {
    event.preventDefault();
    input[step]();
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  for (const touched of ["pointerdown", "keydown"])
    card.addEventListener(touched, () => {
      for (const shows of content.getAnimations({ subtree: true })) if (WAITS.includes(shows.animationName)) shows.finish();
    }, { capture: true });
  over.addEventListener("touchstart", event => { // or the browser's own slider would follow the finger, too, and jump
    if (event.target.type === "range") event.preventDefault();
  }, { passive: false });
  over.addEventListener("pointerdown", event => {
    const { target } = event, isHandle = target.type === "range";
    if (event.button || !(isHandle || target.dataset.sweep)) return;
    event.preventDefault();
    target.focus({ preventScroll: true });
    held = { input: target, value: !target.checked };
    if (isHandle) { // held where it was taken, it does not jump to the pointer
      const at = inPixels(event, target), [x, y] = standsAt(target);
      Object.assign(held, { dx: x - at.x, dy: y - at.y });
      for (const glides of target.mark.getAnimations()) glides.cancel(); // it may be on its way yet
    } else cross(target);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", event => {
    if (!held) return;
    if (held.input.type === "range") return pull(event);
    for (const { clientX, clientY } of event.getCoalescedEvents?.() ?? [event]) {
      const under = document.elementsFromPoint(clientX, clientY).find(node => node.dataset.sweep && over.contains(node));
      if (under) cross(under);
    }
  });
  for (const end of ["pointerup", "pointercancel"])
    over.addEventListener(end, ({ type }) => {
      if (type === "pointerup" && held?.input.mark.dataset.slots && !held.moved) toss(held.input);
      release();
    });
  function release() { // what was carried glides from under the hand to its place
    const { input, at, next } = held ?? {};
    held = null;
    if (!at) return;
    drop.remove();
    next?.before(input.mark);
    places.set(input.mark.dataset.part, placeOf(input.mark));
    if (!Object.keys(unanswered).length) lay([...content.querySelectorAll(MARKS)]); // else it is when it is answered
  }
  const toss = input => bring(input, input.sets[stopOf(input.sets) ? 0 : input.sets.length - 1]); // from home to the last slot, or back
  function cross(input) { // of radio buttons the one that is crossed is chosen: a film of what they choose
    const value = input.type === "radio" || held.value;
    if (input.dataset.sweep !== held.input.dataset.sweep || input.checked === value) return;
    input.mark.classList.add("mha-wet"); // at once, whoever draws the rest
    if (input.type === "radio") input.focus({ preventScroll: true });
    pointed.point(input);
    set(value ? input.sets : input.off);
  }
  const inPixels = ({ clientX, clientY }, { mark }) => // the picture's own
    new DOMPoint(clientX, clientY).matrixTransform(mark.ownerSVGElement.getScreenCTM().inverse());
  function pull(event) {
    const { input, dx, dy } = held, at = inPixels(event, input);
    [at.x, at.y] = [at.x + dx, at.y + dy];
    const values = input.track ? input.sets[nearest(input, at)] : inPlane(input, at), isNew = !holds(values);
    if (input.mark.dataset.carried) held.at = onTrack(input, at);
    held.moved ||= isNew;
    if (isNew) bring(input, values);
    if (!held.at) return;
    show(input);
    put([input]);
  }
  const spans = ({ track }) => [0, 1].map(i => track.map(point => point[i])).map(all => [Math.min(...all), Math.max(...all)]);
  function onTrack(input, { x, y }) { // a straight one is not left
    const between = spans(input), isStraight = between.some(([low, high]) => low === high);
    return isStraight ? [x, y].map((at, i) => Math.min(Math.max(at, between[i][0]), between[i][1])) : [x, y];
  }
  function inPlane({ drag: [across, up], plane: [left, top, right, bottom, x0, x1, y0, y1, step] }, at) {
    const fit = (share, low, high) => {
      const value = low + Math.min(Math.max(share, 0), 1) * (high - low);
      return Number((Math.round(value / step) * step).toFixed(6));
    };
    return { [across]: fit((at.x - left) / (right - left), x0, x1), [up]: fit((bottom - at.y) / (bottom - top), y0, y1) };
  }
  function nearest(input, at) { // along its longer side: a steep curve does not make the handle jump
    const [width, height] = spans(input).map(([low, high]) => high - low), far = input.track.map(([x, y]) =>
      input.mark.dataset.slots ? Math.hypot(x - at.x, y - at.y) : Math.abs(width >= height ? x - at.x : y - at.y));
    return far.indexOf(Math.min(...far));
  }

  drop.classList.add("mha-drop");
  card.classList.add("mha-touched"); // the form that the picture replaces goes
  tell(sentence.textContent);
  place.append(over);
  readout.append(status, more);
  new MutationObserver(drawn).observe(content, { childList: true });
  new MutationObserver(() => say(sentence.textContent)).observe(sentence, { childList: true });
  new ResizeObserver(async () => { // what glides is measured when it has arrived
    await Promise.allSettled(gliding.map(animation => animation.finished));
    put(inputs.values());
  }).observe(place);
  drawn();
}

function inShort(text) { // the sentences that a glance takes in, and those behind "more"
  const sentences = text.split(/(?<=[.?]) +/), isWord = piece => /[\p{L}\p{N}]/u.test(piece);
  let n = 0;
  for (let words = 0; n < sentences.length; n += 1) {
    words += sentences[n].split(" ").filter(isWord).length;
    if (n && words > GLANCE) break;
  }
  return [sentences.slice(0, n).join(" "), sentences.slice(n).join(" ")];
}

/* ---- who answers ---- */

function ofKernel(card) { // ipywidgets keeps, of the questions that wait, only the last: each holds all that is unanswered
  const message = card.querySelector(".mha-message input");
  return message && {
    knows: () => true,
    ask(question) {
      message.value = JSON.stringify(question);
      message.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
}

function look() { // for labs that have come and have no layer yet
  for (const card of document.querySelectorAll(".mha-lab:not(.mha-touched)")) {
    if (!card.querySelector(".mha-readout .widget-html-content > *")) continue; // it is being built
    const answerer = ofKernel(card) ?? globalThis.mhaFrames?.(card);
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
