/* What goes on by itself: a button of the lab is pressed again and again, until the lab is touched or nothing changes.
   A part of the layer (`touch.js`), which says what is set and presses the button. */
const MOST_BEATS = 80; // it comes to an end by itself

function playing(card, place, { now, set, changed }) {
  let played = null, beats = 0, last = "", timer = 0; // which mark, how often, and from which state

  function play(mark) { // or nothing
    [played, beats, last] = [mark?.dataset ?? null, 0, ""];
    card.classList.toggle("mha-plays", !!played); // the picture has both signs: to go on, and to stop
    clearTimeout(timer);
    changed();
    if (played?.sets) set(read(played.sets)); // from the beginning; the answer goes on
    else beat();
  }
  function beat() {
    if (!played) return;
    const state = JSON.stringify(now()), { play: press, every } = played;
    if (state === last || ++beats > MOST_BEATS) return play(null); // it has come to its end
    last = state;
    timer = setTimeout(() => set({}, { press }), beats > 1 || played.sets ? Number(every) : 0);
  }
  for (const touched of ["pointerdown", "keydown"])
    card.addEventListener(touched, ({ target, key = " " }) => {
      const clicks = target.mark?.dataset.play && " Enter".includes(key); // its own button, which is clicked next
      if (played && !clicks) play(null);
    }, { capture: true });

  return { isOn: () => !!played, toggle: mark => play(played ? null : mark), beat };
}
