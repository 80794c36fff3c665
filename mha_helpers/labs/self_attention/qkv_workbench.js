/* `qkv_workbench.parts` in the page, for the time that the query is dragged: a test holds the two against each other. */
(globalThis.mhaLive ??= {}).qkv_workbench = (state, data) => {
  const { tokens, X, middle, unit, farthest, longest, bar, shades } = data;
  const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);
  const projected = matrix => X.map(x => [0, 1].map(k => dot(x, x.map((_, i) => state[`${matrix}[${i},${k}]`]))));
  const fixed = (value, decimals) => value.toFixed(decimals).replace(/^-(?=[0.]+$)/, "").replace("-", "−");
  const short = (value, decimals) => {
    while (decimals && fixed(value, decimals).length > 6) decimals--;
    return fixed(value, decimals);
  };
  const plain = value => short(value, Number.isInteger(value) ? 0 : Number.isInteger(10 * value) ? 1 : 2);
  const signed = value => (value < 0 ? `(${plain(value)})` : plain(value));
  const brief = value => [...(Number.isInteger(value) ? [0] : [1, 0])].map(d => fixed(value, d)).find(t => t.length <= 4) ?? "…";
  const pixel = value => String(Math.round(value * 10) / 10);

  const [q, keys, values] = [[state["query across"], state["query up"]], projected("W_K"), projected("W_V")];
  const scores = keys.map(key => dot(q, key)), highest = Math.max(...scores);
  const powers = scores.map(score => Math.exp(score - highest)), whole = powers.reduce((a, b) => a + b);
  const weights = powers.map(power => power / whole);
  const context = [0, 1].map(k => dot(weights, values.map(value => value[k])));

  const own = projected("W_Q")[tokens.indexOf(state.query)];
  const times = Math.max(1, ...[...keys, ...values, own].map(([x, y]) => Math.ceil(Math.max(Math.abs(x) / farthest[0], Math.abs(y) / farthest[1]))));
  const place = ([across, up]) => [middle[0] + (unit / times) * across, middle[1] - (unit / times) * up].map(pixel);
  const [[x, y], [at, up]] = [place(q), place(context)];
  const product = j => `${q.map((number, k) => `${signed(number)} × ${signed(keys[j][k])}`).join(" + ")} = ${plain(scores[j])}`;
  const highestWeight = Math.max(...weights), first = weights.findIndex(weight => highestWeight - weight < 1e-6);
  const key = tokens.includes(state.key) ? tokens.indexOf(state.key) : first;
  let mixture = "";
  for (const j of tokens.map((_, j) => j).sort((a, b) => weights[b] - weights[a])) {
    const term = `${short(weights[j], 2)} × [${values[j].map(brief).join(", ")}] + `;
    if (mixture && (mixture + term).length > 34) break;
    mixture += term;
  }
  const parts = {
    "query arrow": { x2: x, y2: y },
    query: { cx: x, cy: y },
    context: { cx: at, cy: up },
    "name of the context": { x: pixel(Number(at) + 12), y: pixel(Number(up) + 4) },
    "dot product": { text: `= ${product(key)}` },
    "name of the score": { text: `score(${state.query}, ${tokens[key]})` },
    "lit row": { y: pixel(data.rows[0] + key * data.rows[1]) },
    mixture: { text: `= ${mixture}…` },
  };
  for (const k of [0, 1]) {
    parts[`query ${k}`] = { text: plain(q[k]) };
    parts[`context ${k}`] = parts[`its context ${k}`] = { text: short(context[k], 2) };
  }
  tokens.forEach((token, j) => {
    const [fill, ink] = shades[Math.floor(weights[j] * (shades.length - 1) + 0.5)], weight = short(weights[j], 2);
    parts[`cell ${token}`] = { fill };
    parts[`in cell ${token}`] = { fill: ink, text: weight.replace(/^0/, "") };
    parts[`asks ${token}`] = { "data-tip": `${state.query} asks ${token}: score ${plain(scores[j])}, weight ${weight}` };
    parts[`row ${token}`] = parts[`tip ${token}`] = { "data-tip": `${state.query} · ${token} = ${product(j)}` };
    parts[`arrow ${token}`] = { "stroke-width": pixel(2 + 6 * weights[j]) };
    parts[`pull ${token}`] = { x2: at, y2: up, "stroke-width": pixel(6 * weights[j]) };
    parts[`score ${token}`] = { text: plain(scores[j]) };
    parts[`bar ${token}`] = { width: pixel(longest * weights[j]) };
    parts[`weight ${token}`] = { text: weight, x: pixel(bar + 4 + longest * weights[j]) };
  });
  const share = fixed(highestWeight, 2);
  const most = tokens.filter((_, j) => highestWeight - weights[j] < 1e-6);
  const whom = most.length === tokens.length ? `to all alike (${share})` :
    `most to ${most.map(token => `“${token}”`).join(" and ")} (${share}${most.length > 1 ? " each" : ""})`;
  const told = of => `(${of.map(plain).join(", ")})`, isOwn = own.every((number, k) => number === q[k]);
  const who = isOwn ? `“${state.query}”` : `Dragged to ${told(q)}, the query of “${state.query}”`;
  const sentence = `${who} attends ${whom}.` + (isOwn ? "" : ` Its own is ${told(own)}.`);
  return { parts, sentence };
};
