// The board with scripts: rows are searched, filtered and sorted here, and the address keeps the choice. All rows of a long
// table are loaded first.
"use strict";
const WAIT = 200;
const form = document.querySelector("[data-filters]"), section = document.querySelector("#rows[data-pages]");
const NAMES = ["q", "provenance", "licence", "architecture", "open_weights", "task", "size_from", "size_to", "ranked"];
const named = new URLSearchParams(location.search).get("models")?.split(",");
let sorted = "";

const rows = () => [...section.querySelectorAll("tr[data-q]")];

// Puts the rows of all pages into the first table, with a heading for each part.
let loading;
function loadAll() {
  loading ??= (async () => {
    const answer = await fetch(section.dataset.all);
    if (!answer.ok) throw new Error(String(answer.status));
    const data = await answer.json(), table = section.querySelector("table.board"), width = table.tHead.rows[0].cells.length;
    const parts = Object.entries(data.sections).filter(([name]) => name !== "baseline").map(([name, title]) => {
      const lines = data.rows.filter((row) => row.part === name).map((row) => row.tr).join("");
      return lines && `<tbody role="rowgroup"><tr class="part" role="row"><th scope="rowgroup" role="rowheader" colspan="${width}">${title}</th></tr>${lines}</tbody>`;
    });
    for (const body of [...table.tBodies]) body.remove();
    table.insertAdjacentHTML("beforeend", parts.join("")); // lines of our own pages, escaped there
    for (const other of section.querySelectorAll(":scope > .scroll, :scope > h2, :scope > p.small")) if (!other.contains(table)) other.remove();
    for (const extra of document.querySelectorAll("nav.pages, [data-range]")) extra.remove();
    place();
    fillAll();
  })();
  return loading;
}

// The rank sorts by the order of the board.
const place = () => rows().forEach((row, number) => { const cell = row.querySelector("td.rank"); if (cell) cell.dataset.key = number; });

function matches(row, wanted) {
  const { dataset } = row, size = dataset.size === undefined ? NaN : Number(dataset.size);
  if (named && !named.includes(dataset.entry)) return false;
  return Object.entries(wanted).every(([name, value]) => {
    if (name === "q") return value.toLowerCase().split(/\s+/).every((word) => dataset.q.includes(word));
    if (name === "size_from") return size >= Number(value);
    if (name === "size_to") return size <= Number(value);
    if (name === "task") return (dataset.task ?? "").split(" ").includes(value);
    return (dataset[name] ?? "").toLowerCase() === value.toLowerCase();
  });
}

function order(body, place, falling) {
  const key = (row) => row.cells[place].dataset.key;
  const compare = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b) * (falling ? -1 : 1);
  const those = [...body.rows].filter((row) => row.dataset.q !== undefined);
  const last = those.filter((row) => key(row) === undefined);
  body.append(...those.filter((row) => key(row) !== undefined).sort((a, b) => compare(key(a), key(b))), ...last);
}

function sort() {
  const name = sorted.replace(/^-/, "") || "rank", falling = sorted.startsWith("-");
  for (const head of section.querySelectorAll("th[data-sort]")) {
    const here = head.dataset.sort.replace(/^-/, "") === name;
    if (here) head.setAttribute("aria-sort", falling ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    if (here) for (const body of head.closest("table").tBodies) order(body, head.cellIndex, falling);
  }
}

async function apply() {
  const wanted = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
  if (section.dataset.pages > 1 && (named || sorted || Object.keys(wanted).length)) {
    try { await loadAll(); } catch {
      loading = undefined;
      document.querySelector("[data-failed]").hidden = false;
      return;
    }
  }
  document.querySelector("[data-failed]").hidden = true;
  for (const row of rows()) row.hidden = !matches(row, wanted);
  for (const body of section.querySelectorAll("tbody")) body.hidden = ![...body.rows].some((row) => row.dataset.q !== undefined && !row.hidden);
  for (const table of section.querySelectorAll("table")) table.closest(".scroll").hidden = [...table.tBodies].every((body) => body.hidden);
  const baselines = section.querySelector("details.baselines");
  if (baselines && (named || wanted.provenance === "baseline")) baselines.open = true;
  const left = rows().filter((row) => !row.hidden && !row.closest("details.baselines")).length;
  if (named || Object.keys(wanted).length) document.querySelector("[data-count]").textContent = left;
  else if (section.dataset.pages === "1" || loading) document.querySelector("[data-count]").textContent = left;
  form.querySelector("summary").textContent = `Filter${Object.keys(wanted).some((name) => name !== "q") ? " (set)" : ""}`;
  sort();
  const address = new URL(location.href);
  for (const name of NAMES) address.searchParams.delete(name);
  address.searchParams.delete("sort");
  for (const [name, value] of Object.entries(wanted)) address.searchParams.set(name, value);
  if (sorted) address.searchParams.set("sort", sorted);
  if (address.href !== location.href) history.replaceState({}, "", address);
}

const fillAll = () => form.querySelectorAll("select:not([name=provenance])").forEach(fill);
function fill(select) {
  const name = select.name;
  const values = rows().flatMap((row) => (name === "task" ? (row.dataset.task ?? "").split(" ") : [row.dataset[name] ?? ""]));
  const known = [...select.options].map((option) => option.value);
  for (const value of [...new Set(values)].filter((value) => !known.includes(value)).sort()) select.add(new Option(value.replaceAll("_", " "), value));
}

if (form && section) {
  const asked = new URLSearchParams(location.search);
  sorted = asked.get("sort") ?? "";
  form.hidden = false;
  document.querySelector("[data-named]")?.toggleAttribute("hidden", !named);
  place();
  fillAll();
  for (const name of NAMES) {
    const field = form.elements[name], value = asked.get(name);
    if (value === null) continue;
    if (field.type === "checkbox") field.checked = value === "1"; else field.value = value;
    if (field.type === "select-one" && field.value !== value) field.add(new Option(value, value, true, true)); // of another page
  }
  let waiting;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, WAIT); });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  for (const head of section.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.querySelector("span").childNodes);
    head.querySelector("span").replaceWith(button);
  }
  section.addEventListener("click", (event) => {
    const head = event.target.closest("th[data-sort] button")?.closest("th");
    if (!head) return;
    const first = head.dataset.sort, name = first.replace(/^-/, "");
    const other = first.startsWith("-") ? name : `-${name}`;
    sorted = head.hasAttribute("aria-sort") && sorted !== other ? other : first;
    apply();
  });
  apply();
}

// The chosen rows as one parameter.
document.querySelector("#compare")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = [...document.querySelectorAll("input[name=rows]:checked")].map((box) => box.value);
  location.assign(`${event.target.action}${chosen.length ? `?rows=${chosen.join(",")}` : ""}`);
});
