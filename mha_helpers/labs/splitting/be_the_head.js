/* `be_the_head.parts` in the page, for the time that a query is turned: a test holds the two against each other. */
(globalThis.mhaLive ??= {}).be_the_head = (state, { tokens, wanted, keys, plane, shares, bars, enough }) => {
  const pixel = value => String(Math.round(value * 10) / 10), two = value => value.toFixed(2), parts = {};
  const heads = state.heads === "two" ? [0, 1] : [0], begins = wanted.map(() => bars.left), contributions = [];
  const spot = values => values.map((value, axis) =>
    shares.origin[axis] + (axis ? -1 : 1) * shares.unit * Math.min(value, shares.farthest));
  for (const head of heads) {
    const query = ["across", "up"].map(axis => state[`query ${head} ${axis}`]);
    const powers = keys[head].map(key => Math.exp((query[0] * key[0] + query[1] * key[1]) / Math.sqrt(key.length)));
    const whole = powers.reduce((sum, power) => sum + power), weights = powers.map(power => power / whole);
    const x = plane.left + plane.unit * (query[0] - plane.low[0]), y = plane.tops[head] + plane.unit * (plane.high[1] - query[1]);
    parts[`query ${head}`] = { cx: pixel(x), cy: pixel(y) };
    parts[`arrow ${head}`] = { x2: pixel(x), y2: pixel(y) };
    parts[`digit ${head}`] = { x: pixel(x), y: pixel(y + 5) };
    tokens.forEach((token, j) => { parts[`key ${head} ${token}`] = { "stroke-width": pixel(1 + 11 * weights[j]) }; });
    contributions.push(wanted.map(token => weights[tokens.indexOf(token)]));
    const [cx, cy] = spot(contributions[head]).map(pixel);
    parts[`point ${head}`] = { cx, cy };
    parts[`number ${head}`] = { x: cx, y: pixel(Number(cy) + 4) };
    wanted.forEach((token, k) => {
      const share = contributions[head][k], width = bars.unit * share;
      parts[`share ${head} ${token}`] = { text: `${token} ${two(share)}` };
      parts[`bar ${head} ${token}`] = { x: pixel(begins[k]), width: pixel(width) };
      begins[k] += width;
    });
  }
  const total = wanted.map((_, k) => contributions.reduce((sum, shares) => sum + shares[k], 0));
  const isEnough = total.map(share => Number(two(share)) >= enough), both = isEnough.every(Boolean);
  wanted.forEach((token, k) => { parts[`total ${token}`] = { text: two(total[k]) + (isEnough[k] ? " ✓" : "") }; });
  parts.goal = { text: both ? "✓ enough of both" : `${two(enough)} of each` };
  if (heads.length === 2) {
    const [x, y] = spot(total).map(pixel);
    parts.together = { cx: x, cy: y };
    parts.plus = { x, y: pixel(Number(y) + 5) };
    for (const head of heads) {
      const [x1, y1] = spot(contributions[head]).map(pixel);
      parts[`from ${head}`] = { x1, y1, x2: x, y2: y };
    }
  }
  const who = heads.length === 1 ? "One head brings" : "Two heads bring";
  const each = wanted.map((token, k) => `${two(total[k])} of “${token}”`).join(" and ");
  return { parts, sentence: `${who} ${each}. ${both ? "That is enough of both." : `“It” needs ${two(enough)} of each.`}` };
};
