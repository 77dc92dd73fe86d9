// Compares rows score by score as `fairspace compare` does: paired draws, Holm's correction, distance from the ideal.
"use strict";
const root = document.querySelector("[data-compare]"), out = root.querySelector("[data-result]"), form = root.querySelector("form");
const RULES = JSON.parse(root.dataset.scores), RATIOS = "ratios" in root.dataset;
const Z = 1.959963984540054, FEWEST = 20, LEVEL = 0.05, MOST = 4, ENDLESS = 20;
const rows = new Map();
let tables = [];

const number = (x) => (x === null || x === undefined ? "–" : x.toFixed(Math.abs(x) < 10 ? 4 : 2).replace(/^-(?=0\.?0*$)/, "").replace("-", "−"));
function element(name, content = "", about = {}) {
  const made = Object.assign(document.createElement(name), about);
  made.append(...[content].flat());
  return made;
}
async function json(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}

// Difference of two scores with its interval and its standard errors from equality; null without a margin.
function difference(other, first, rule, same) {
  const common = Math.min(other.draws?.length ?? 0, first.draws?.length ?? 0), pairs = [];
  for (let i = 0; i < common; i++) if (other.draws[i] !== null && first.draws[i] !== null) pairs.push([other.draws[i], first.draws[i]]);
  const paired = pairs.length >= FEWEST, points = [[other.value, first.value], [other.debiased, first.debiased], ...(paired ? pairs : [])];
  const ratio = RATIOS && points.every((point) => Math.min(...point) > 0), scale = ratio ? Math.log : (x) => x;
  const [value, debiased, ...apart] = points.map(([x, y]) => scale(x) - scale(y));
  const [top, base] = [other, first].map((score) => (same ? null : score.bounds) ?? [score.value, score.value]);
  let error = null;
  if (paired) {
    const mean = apart.reduce((sum, x) => sum + x, 0) / apart.length;
    error = Math.sqrt(apart.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (apart.length - 1));
  } else if (other.error !== null && first.error !== null) {
    error = Math.hypot(...[other, first].map((score) => score.error / (ratio ? score.value : 1)));
  }
  const shown = ratio ? other.value / first.value : value;
  if (error === null || [...top, ...base].includes(null)) return { value: shown, ratio, errors: null };
  const least = scale(top[0]) - scale(base[1]), most = scale(top[1]) - scale(base[0]), away = Math.max(least, -most, 0);
  const errors = error > 0 ? away / error : away ? Infinity : 0;
  let low = Math.min(least, debiased) - Z * error, high = Math.max(most, debiased) + Z * error;
  if (ratio) [low, high] = [low, high].map((end) => Math.exp(Math.min(Math.max(end, -ENDLESS), ENDLESS)));
  else if (!rule.limits.includes(null)) [low, high] = [Math.max(low, rule.limits[0] - rule.limits[1]), Math.min(high, rule.limits[1] - rule.limits[0])];
  return { value: shown, ratio, errors, low: Math.min(low, shown), high: Math.max(high, shown) };
}

// 1 where the first is nearer to the ideal whatever is missing, -1 where the other is, else 0; also 0 where the
// numbers are on both sides of it and the intervals do not say the same.
function nearer(first, other, rule, same) {
  if (!rule.quality) return 0;
  const distances = ([low, high]) => {
    if (low === null || high === null) return [NaN, NaN];
    if (rule.best === null) return [-high, -low];
    const ends = [Math.abs(low - rule.best), Math.abs(high - rule.best)];
    return [low < rule.best && rule.best < high ? 0 : Math.min(...ends), Math.max(...ends)];
  };
  const side = ([mine, theirs]) => Number(mine[1] < theirs[0]) - Number(theirs[1] < mine[0]);
  const better = side([first, other].map((score) => distances((same ? null : score.bounds) ?? [score.value, score.value])));
  const crossed = rule.best !== null && (first.value - rule.best) * (other.value - rule.best) < 0;
  return crossed && better !== side([first, other].map((score) => distances(score.interval))) ? 0 : better;
}

// Two-sided p of so many standard errors (Abramowitz and Stegun 7.1.26, to 1.5e-7).
function chance(errors) {
  const x = errors / Math.SQRT2, t = 1 / (1 + 0.3275911 * x);
  return errors === Infinity ? 0 : t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x);
}

function correct(lines) {
  let least = 0;
  lines.sort((a, b) => b.between.errors - a.between.errors);
  lines.forEach((line, place) => { line.p = least = Math.max(least, Math.min(1, (lines.length - place) * chance(line.between.errors))); });
}

function verdict({ between: { errors, ratio, low, high }, p }) {
  if (errors === null) return "no margin known";
  if (p >= LEVEL || errors <= Z) return "not significant";
  const equal = Number(ratio);
  return low <= equal && equal <= high ? "significant if their biases are alike" : "significant";
}

const MORE = { even: "more even", right: "right more often" };
// The answer, as in "B is more even than A in 5 of 6; 2 sure: IFS Gen, BIS Gen."
function answer(names, lines) {
  const sentences = Object.keys(MORE).flatMap((quality) => {
    const those = lines.filter((line) => line.quality === quality), known = those.some((line) => line.between.errors !== null);
    const sides = [1, -1].map((side, place) => {
      const more = those.filter((line) => line.better === side), sure = more.filter((line) => line.verdict === "significant");
      const words = known ? `; ${sure.length} sure${sure.length ? `: ${sure.map((line) => line.header).join(", ")}` : ""}` : "";
      return { more, sure, text: `${names[place]} is ${MORE[quality]} than ${names[1 - place]} in ${more.length} of ${those.length}${words}.` };
    }).sort((a, b) => b.more.length - a.more.length || b.sure.length - a.sure.length);
    return sides.filter((side, place) => side.more.length && (place === 0 || side.sure.length || side.more.length === sides[0].more.length)).map((side) => side.text);
  });
  if (lines.every((line) => line.between.errors === null)) sentences.push("Nobody knows whether these differences are real: there are no answers to resample.");
  return sentences.join(" ");
}

const sharing = (first, other) => tables.find((table) => table.byEntry.has(first.entry) && table.byEntry.has(other.entry));
function pair(first, other, margins) {
  const [base, drawn] = [first, other].map((row) => margins.get(row.entry) ?? { same: "", scores: {} });
  const same = base.same !== "" && base.same === drawn.same, lines = [], shared = sharing(first, other);
  for (const { key, header, words } of shared.scores.filter((score) => RULES[score.key])) {
    const both = [[first, base], [other, drawn]].map(([row, held]) => {
      const [value, error, low, high] = shared.byEntry.get(row.entry).values[key] ?? [null, null, null, null];
      const known = held.scores[key] || row.class === "printed"; // else nobody knows what is missing
      const score = { value, error: known ? error : null, interval: [low, high], debiased: value, ...held.scores[key] };
      return first.protocol === other.protocol ? score : { ...score, draws: [] };
    });
    if (both.every((score) => score.value === null)) continue;
    const line = { header, words, both, quality: "", better: 0, between: { value: null, errors: null } };
    if (both.every((score) => score.value !== null)) {
      line.between = difference(both[1], both[0], RULES[key], same);
      line.quality = RULES[key].quality;
      line.better = nearer(both[0], both[1], RULES[key], same);
    }
    lines.push(line);
  }
  return lines;
}

function table(names, lines) {
  const cell = ({ value, interval: [low, high] }) => element("td", [number(value), ...(low === null ? [] : [element("span", ` ${number(low)} to ${number(high)}`, { className: "below sure" })])], { className: "number" });
  const body = lines.map((line) => {
    const { value, ratio, errors, low, high } = line.between, fairer = line.verdict === "significant" && line.better;
    const shown = value === null ? "–" : ratio ? `× ${number(value)}` : (value > 0 ? "+" : "") + number(value);
    const p = errors === null ? "" : element("span", line.p < 0.001 ? "p < 0.001" : `p ${line.p.toFixed(3)}`, { className: "below" });
    const words = [fairer ? `significant: ${names[line.better > 0 ? 0 : 1]} is ${MORE[line.quality]}` : line.verdict, p];
    return element("tr", [
      element("th", [line.header, element("span", line.words, { className: "below" })], { scope: "row" }), ...line.both.map(cell),
      element("td", [shown, ...(errors === null ? [] : [element("span", ` ${number(low)} to ${number(high)}`, { className: "below sure" })])], { className: "number" }), element("td", words),
    ]);
  });
  const heads = ["Score", ...names, "Difference, 95 % interval", "Verdict"].map((text, place) => element("th", text, { scope: "col", className: place % 4 ? "number" : "" }));
  const made = element("table", [element("thead", element("tr", heads)), element("tbody", body)]);
  return element("div", made, { className: "scroll", role: "region", ariaLabel: `${names[1]} against ${names[0]}`, tabIndex: 0 });
}

const kind = (row) => [row.cohort, row.group || row.protocol].filter(Boolean).join(", ");
function show(chosen, margins) {
  const [first, ...others] = chosen;
  const pairs = others.map((other) => [other, kind(other) === kind(first) && sharing(first, other) ? pair(first, other, margins) : null]);
  correct(pairs.flatMap(([, lines]) => lines ?? []).filter((line) => line.between.errors !== null));
  for (const [other, lines] of pairs) {
    const names = first.model === other.model ? [first, other].map((row) => `${row.model} (${row.entry})`) : [first.model, other.model];
    const heading = element("h2", [element("a", names[1], { href: other.address }), " against ", element("a", names[0], { href: first.address })], { className: "untrusted" });
    for (const line of lines ?? []) line.verdict = verdict(line);
    if (!lines) out.append(heading, element("p", `Not compared: ${names[1]} was measured in another way than ${names[0]}: ${kind(other) || "not stated"}; ${kind(first) || "not stated"}.`, { className: "notice" }));
    else out.append(heading, element("p", answer(names, lines), { className: "lead" }), table(names, lines));
  }
}

function choose(entries) {
  const label = (row) => `${row.model}, ${row.organisation || "maker not stated"} [${row.entry}]`;
  form.querySelector("datalist").append(...[...rows.values()].map((row) => element("option", "", { value: label(row) })));
  const count = Math.min(MOST, Math.max(2, entries.length + 1));
  for (let place = 0; place < count; place++) {
    const field = element("input", "", { type: "search", name: "row", value: rows.has(entries[place]) ? label(rows.get(entries[place])) : "", autocomplete: "off", size: 32 });
    field.setAttribute("list", "rows");
    form.querySelector("[data-fields]").append(element("label", [place ? (place > 1 ? "And" : "Against") : "Model", field], { className: "field" }));
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const texts = new FormData(form).getAll("row").map((text) => text.trim()).filter(Boolean);
    const named = texts.map((text) => [...rows.values()].find((row) => label(row) === text || row.entry === text || row.model.toLowerCase() === text.toLowerCase())?.entry ?? text);
    location.assign(`?rows=${named.map(encodeURIComponent).join(",")}`);
  });
}

(async () => {
  try {
    tables = await Promise.all(root.dataset.tables.split(" ").map(json));
    for (const table of tables) {
      table.byEntry = new Map(table.rows.map((row) => [row.entry, row]));
      for (const row of table.rows) rows.set(row.entry, row);
    }
    const entries = [...new Set((new URLSearchParams(location.search).get("rows") ?? "").split(",").filter(Boolean))].slice(0, MOST);
    choose(entries);
    const chosen = entries.filter((entry) => rows.has(entry)).map((entry) => rows.get(entry));
    for (const entry of entries.filter((entry) => !rows.has(entry))) out.append(element("p", `This board has no row “${entry}”. Choose one of the names that the field offers.`, { className: "notice" }));
    const drawn = chosen.length > 1 ? chosen.filter((row) => row.class !== "printed") : [];
    show(chosen, new Map(await Promise.all(drawn.map(async (row) => [row.entry, await json(`${root.dataset.compare}${row.entry}.json`)]))));
  } catch (error) {
    out.append(element("p", `The numbers could not be loaded (${error.message}). Load the page again.`, { className: "notice" }));
  }
})();
