/* The front page's film: once the lab can be seen, "river" and "money" travel out by themselves, and "bank" follows.
Whoever touches the lab or presses a key then, or doesn't want things to move, sees its end at once. */

const hero = document.querySelector(".hero .mha-lab"), SECONDS = 1.8, FROM = 0.6;
const ACTS = [["river: water", 2, 3], ["money: money", 2, 3]]; // what moves, from where, to where: names have room there

const input = name => hero.querySelector(`[data-mark="${name}"]`);
function move(name, value) {
  input(name).value = String(value);
  input(name).dispatchEvent(new Event("input", { bubbles: true }));
}

function film() {
  if (!ACTS.every(([name]) => input(name))) return; // no layer, no film
  const status = hero.querySelector("[role=status]"), begun = performance.now();
  let over = false;
  status.setAttribute("aria-live", "off"); // nobody asked
  const end = () => {
    if (over) return;
    over = true;
    for (const [name, , to] of ACTS) move(name, to);
    status.removeAttribute("aria-live");
    hero.dataset.film = "over";
  };
  hero.addEventListener("pointerdown", end, { once: true, capture: true });
  addEventListener("keydown", end, { once: true, capture: true });
  hero.dataset.film = "plays";
  for (const [name, from] of ACTS) move(name, from);
  const draw = now => {
    if (over) return;
    const at = (now - begun) / 1000 - FROM;
    ACTS.forEach(([name, from, to], act) => {
      const share = Math.min(Math.max(at / SECONDS - act, 0), 1), eased = (1 - Math.cos(Math.PI * share)) / 2;
      move(name, Math.round(10 * (from + (to - from) * eased)) / 10);
    });
    if (at < ACTS.length * SECONDS) requestAnimationFrame(draw);
    else end();
  };
  requestAnimationFrame(draw);
}

if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const seen = new IntersectionObserver(([{isIntersecting}]) => {
    if (!isIntersecting) return;
    seen.disconnect();
    film();
  }, { threshold: 0.4 });
  seen.observe(hero);
  for (const tried of ["pointerdown", "keydown"]) hero.addEventListener(tried, () => seen.disconnect(), { once: true });
}
