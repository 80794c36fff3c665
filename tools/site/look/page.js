/* What scrolls within itself can be reached by keys, and casts a shadow where there is more of it. */
const look = node => {
  const left = node.scrollLeft > 1, right = node.scrollLeft + node.clientWidth < node.scrollWidth - 1;
  node.parentElement.classList.toggle("more-left", left);
  node.parentElement.classList.toggle("more-right", right);
  if (left || right) node.tabIndex = 0;
  else node.removeAttribute("tabindex");
};
const widths = new ResizeObserver(changes => changes.forEach(({ target }) => look(target)));
document.querySelectorAll(".sideways, .highlight > pre, .jp-RenderedText > pre").forEach(node => {
  widths.observe(node);
  node.addEventListener("scroll", () => look(node), { passive: true });
});

/* The list of contents marks the section that is being read, and how much of the page has been. */
const list = document.querySelector(".contents");
if (list) {
  const links = new Map([...list.querySelectorAll("ol a")].map(link => [link.getAttribute("href").slice(1), link]));
  const headings = [...document.querySelectorAll("main h2")].filter(heading => links.has(heading.id));
  const progress = list.querySelector("progress");
  let waits = false;
  list.querySelector("details").open = matchMedia("(min-width: 1240px)").matches; // beside the text, or above it
  const follow = () => {
    waits = false;
    const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
    progress.value = scrollTop / Math.max(1, scrollHeight - clientHeight);
    const now = headings.findLast(heading => heading.getBoundingClientRect().top < clientHeight / 3);
    for (const [id, link] of links) {
      if (id === now?.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => {
    if (!waits) requestAnimationFrame(follow);
    waits = true;
  }, { passive: true });
  follow();
}

/* On paper what is folded in the text is open: no style sheet opens a fold. */
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not(.folded, [open])")];
  opened.forEach(fold => fold.open = true);
});
addEventListener("afterprint", () => opened.forEach(fold => fold.open = false));
