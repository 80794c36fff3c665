/* What goes on by itself: a button of the lab is pressed again and again, until the lab is touched or nothing changes.
   A part of the layer (`touch.js`), which says what is set and presses the button. */
const MAX_BEATS = 80; // it comes to an end by itself
const LOOK_AT_IT = 2000; // milliseconds: so long what has played by itself is left to be read

function playing(card, place, { now, set, changed }) {
  let played = null, beats = 0, last = "", timer = 0; // which mark, how often, and from which state
  let opening = null; // what it goes back to when it has played by itself

  function play(mark, from = null) { // or nothing
    [played, beats, last, opening] = [mark?.dataset ?? null, 0, "", from];
    card.classList.toggle("mha-plays", !!played); // the picture has both signs: to go on, and to stop
    clearTimeout(timer);
    changed();
    if (played?.sets) set(read(played.sets)); // from the beginning; the answer goes on
    else beat();
  }
  function beat() {
    if (!played) return;
    const state = JSON.stringify(now()), { play: press, every } = played;
    if (state === last || ++beats > (opening ? played.starts : MAX_BEATS)) { // it has come to its end
      if (!opening) return play(null);
      clearTimeout(timer);
      timer = setTimeout(goBack, LOOK_AT_IT);
      return;
    }
    last = state;
    timer = setTimeout(() => set({}, { press }), beats > 1 || played.sets ? Number(every) : 0);
  }
  function goBack() {
    const gone = Object.entries(opening).filter(([name, value]) => now()[name] !== value);
    play(null);
    if (gone.length) set(Object.fromEntries(gone));
  }
  for (const touched of ["pointerdown", "keydown"])
    card.addEventListener(touched, ({ target, key = " " }) => {
      const clicks = target.mark?.dataset.play && " Enter".includes(key); // its own button, which is clicked next
      if (played && !clicks) play(null);
    }, { capture: true });
  new IntersectionObserver(([{ isIntersecting }], observer) => {
    const starts = place.querySelector("[data-starts]");
    if (!isIntersecting) return;
    observer.disconnect();
    if (starts && !calm()) play(starts, now());
  }, { threshold: 0.7 }).observe(place);

  return { isOn: () => !!played, toggle: mark => play(played ? null : mark), beat };
}
