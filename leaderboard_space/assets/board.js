// The board with script: what is changed about rows, order and columns shows at once and stands in the address; four rows
// at most are chosen.
"use strict";
const MOST = 4, WAIT = 250;
const filters = document.querySelector("[data-filters]");
let asked = 0, shown = location.search;

// The parts of a page that follow from its address, without loading the page anew.
async function show(address) {
  const turn = ++asked, chosen = new Set(chosenBoxes().map((box) => box.value));
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (turn !== asked) return;
    const focused = document.activeElement?.closest("[data-live]") ? document.activeElement : null;
    for (const part of document.querySelectorAll("[data-live]")) part.replaceWith(document.adoptNode(next.getElementById(part.id)));
    history.pushState({}, "", address);
    shown = location.search;
    for (const box of document.querySelectorAll("input[name=models]")) box.checked = chosen.has(box.value);
    showChosen();
    if (focused) sameAs(focused)?.focus();
  } catch {
    location.assign(address);
  }
}

function sameAs(before) {
  if (before.id) return document.getElementById(before.id);
  const words = (element) => element.textContent.replace(/[▲▼]/, "").trim();
  return [...document.querySelectorAll("[data-live] a")].find((link) => words(link) === words(before));
}

function filtered() {
  const address = new URL(filters.getAttribute("action"), location.href);
  const columns = [];
  for (const [name, value] of new FormData(filters)) {
    if (name === "columns") columns.push(value);
    else if (value !== "") address.searchParams.set(name, value);
  }
  const named = columns.length > 1 ? columns.filter((key) => key !== "none") : columns;
  if (named.join() !== filters.dataset.first) address.searchParams.set("columns", named.sort().join());
  return address.href.replaceAll("%2C", ",").replaceAll("%3A", ":");
}

if (filters) {
  let waiting;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(() => show(filtered()), WAIT); };
  filters.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); show(filtered()); });
  filters.addEventListener("input", soon);
  filters.querySelector("[data-apply]").hidden = true;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#rows thead a, #rows .pages a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link.href);
    if (link.closest(".pages")) document.getElementById("rows").scrollIntoView();
  });
  window.addEventListener("popstate", () => { if (location.search !== shown) location.reload(); });
}

const chosenBoxes = () => [...document.querySelectorAll("input[name=models]:checked")];

function showChosen() {
  const form = document.querySelector("[data-compare]");
  if (!form) return;
  const chosen = chosenBoxes();
  for (const box of document.querySelectorAll("input[name=models]")) box.disabled = chosen.length >= MOST && !box.checked;
  form.querySelector("[data-chosen]").textContent = chosen.length ? `${chosen.length} of ${MOST} rows selected` : "Select up to four rows";
  for (const button of form.querySelectorAll("button")) button.hidden = !chosen.length;
}

document.addEventListener("change", (event) => { if (event.target.matches("input[name=models]")) showChosen(); });
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-compare]")) return;
  event.preventDefault();
  const path = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const address = new URL(path, location.href);
  const kept = path === "/" ? [...form.querySelectorAll("input[type=hidden]")] : [form.elements.benchmark, form.elements.standard];
  for (const field of kept) address.searchParams.set(field.name, field.value);
  location.assign(`${address}&models=${chosenBoxes().map((box) => box.value).join(",")}`);
});
window.addEventListener("pageshow", showChosen);
