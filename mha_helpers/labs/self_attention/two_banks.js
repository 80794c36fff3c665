/* `two_banks.parts` in the page: a test holds the two against each other. */
(globalThis.mhaLive ??= {}).two_banks = (state, { words, near: neighbours, plane, unit, left, bar }) => {
  const pixel = value => String(Math.round(value * 10) / 10), two = value => value.toFixed(2);
  const percent = value => value < 0.005 ? "< 1 %" : value > 0.995 ? "> 99 %" : `${Math.round(100 * value)} %`, dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const vector = word => [state[`${word}: water`], state[`${word}: money`]];
  const place = ([x, y]) => [plane[0] + unit * x, plane[3] - unit * y].map(pixel);
  const parts = {}, sentences = [], tips = [], names = [], bank = vector("bank"), [x1, y1] = place(bank);
  for (const word of words) {
    const [x, y] = place(vector(word));
    parts[`dot ${word}`] = { cx: x, cy: y };
    parts[`arrow ${word}`] = { x2: x, y2: y };
    const name = parts[`name ${word}`] = { x: String(Math.min(Math.max(x, 26), 284)), y: pixel(y - 16) };
    tips.push([Number(x), Number(y)]);
    names.push([Number(name.x), Number(name.y)]);
  }
  const range = [...Array(17).keys()], meets = (at, up, x, y) =>
    range.some(k => Math.abs(plane[0] + (x - plane[0]) * k / 16 - at) < 30 && Math.abs(plane[3] + (y - plane[3]) * k / 16 - (up - 4)) < 9) ||
    (Math.abs(x - at) < 38 && Math.abs(y - (up - 4)) < 16);
  function beside(x, y) {
    const called = Math.min(Math.max(x, 54), 266), above = [called, y - 11];
    const isClear = ([at, up]) => 54 <= at && at <= 280 && up < plane[3] - 4 && !tips.some(tip => meets(at, up, ...tip)) &&
      !names.some(([name, line]) => Math.abs(name - at) < 46 && Math.abs(line - up) < 13);
    return [[x + 37, y + 4], above, [called, y + 19], [x - 37, y + 4], [x - 37, y - 11]].find(isClear) ?? above;
  }
  for (const near of neighbours) {
    const scores = [dot(bank, bank), dot(bank, vector(near))], its = 1 / (1 + Math.exp(scores[0] - scores[1]));
    const context = bank.map((value, i) => (1 - its) * value + its * vector(near)[i]), [x2, y2] = place(context);
    const becomes = `(${context.map(two).join(", ")})`;
    parts[`new ${near}`] = { cx: x2, cy: y2 };
    const [at, up] = beside(Number(x2), Number(y2));
    parts[`called ${near}`] = { x: pixel(at), y: pixel(up) };
    names.push([at, up]);
    parts[`pull ${near}`] = { x1, y1, x2, y2 };
    parts[`own ${near}`] = { width: pixel(bar * (1 - its)) };
    parts[`its ${near}`] = { x: pixel(left + bar * (1 - its)), width: pixel(bar * its) };
    parts[`scores ${near}`] = { text: `bank · bank = ${two(scores[0])},  bank · ${near} = ${two(scores[1])}` };
    parts[`becomes ${near}`] = { text: `${percent(1 - its)} bank + ${percent(its)} ${near} = ${becomes}` };
    sentences.push(`With “${near}”, “bank” becomes ${becomes}: ${percent(its)} of it is “${near}”.`);
  }
  return { parts, sentence: sentences.join(" ").replaceAll("<", "less than").replaceAll(">", "more than") };
};
