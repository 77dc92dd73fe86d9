// The board with script: a changed filter applies at once, addresses name only what is set, four rows at most are chosen.
"use strict";
const MOST = 4;

for (const form of document.querySelectorAll("[data-filters]")) {
  const apply = () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
    form.submit();
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.addEventListener("change", (event) => {
    if (event.target.matches("select, input[type=checkbox]")) apply();
  });
}

for (const form of document.querySelectorAll("[data-compare]")) {
  const boxes = [...form.elements].filter((field) => field.name === "models");
  const said = form.querySelector("[data-chosen]");
  const show = () => {
    const chosen = boxes.filter((box) => box.checked);
    for (const box of boxes) box.disabled = chosen.length >= MOST && !box.checked;
    said.textContent = chosen.length ? `${chosen.length} of ${MOST} rows selected` : "Select up to four rows";
    for (const button of form.querySelectorAll("button")) button.disabled = !chosen.length;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const path = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    const address = new URL(path, location.href);
    const kept = path === "/" ? [...form.querySelectorAll("input[type=hidden]")] : [form.elements.benchmark, form.elements.standard];
    for (const field of kept) address.searchParams.set(field.name, field.value);
    const models = boxes.filter((box) => box.checked).map((box) => box.value).join(",");
    location.assign(`${address}&models=${models}`);
  });
  for (const box of boxes) box.addEventListener("change", show);
  window.addEventListener("pageshow", show);
}

// A reader's adjustment of the standard: what is changed stands in the address, and the page comes back where it was.
const PLACE = "fairspace-adjusting";
for (const form of document.querySelectorAll("[data-sensitivity]")) {
  const said = form.querySelector("[data-said]");
  const fields = (begin) => [...form.elements].filter((field) => field.name?.startsWith(begin) && field.value !== "");
  const decimal = (text) => String(Number(Number(text).toFixed(6)));
  const pairs = (begin, own) => own.map((field) => `${field.name.slice(begin.length)}:${decimal(field.value)}`).sort().join(",");
  const wrong = () => {
    if (!form.checkValidity()) return "A number is outside its range.";
    if (form.elements.reference?.value !== "own") return "";
    let some = false;
    for (const attribute of form.querySelectorAll("[data-shares]")) {
      const shares = [...attribute.querySelectorAll("input")];
      const given = shares.filter((field) => field.value !== "");
      if (!given.length) continue;
      some = true;
      const sum = given.reduce((total, field) => total + Number(field.value), 0);
      if (given.length < shares.length || Math.abs(sum - 1) > 0.005) return `The shares of ${attribute.dataset.shares} must add up to 1.`;
    }
    return some ? "" : "Give the shares of at least one attribute.";
  };
  const apply = () => {
    said.textContent = wrong();
    if (said.textContent) return;
    const address = new URL(form.getAttribute("action"), location.href);
    const own = form.elements.reference?.value === "own";
    const parts = [...form.querySelectorAll("input[type=hidden]")].map((field) => [field.name, field.value]);
    parts.push(["weights", pairs("weight.", fields("weight.").filter((field) => Number(field.value) !== 1))]);
    parts.push(["drop", [...form.querySelectorAll("[name=drop]:checked")].map((box) => box.value).sort().join(",")]);
    parts.push(["reference", form.elements.reference?.value ?? ""]);
    parts.push(["own", own ? pairs("share.", fields("share.")) : ""]);
    for (const name of ["smallest", "tau"]) {
      const field = form.elements[name];
      parts.push([name, field && field.value && field.value !== field.dataset.standard ? decimal(field.value) : ""]);
    }
    for (const [name, value] of parts) if (value) address.searchParams.set(name, value);
    sessionStorage.setItem(PLACE, JSON.stringify([document.activeElement?.id ?? "", scrollY]));
    said.textContent = "Computing the scores …";
    location.assign(address.href.replaceAll("%2C", ",").replaceAll("%3A", ":"));
  };
  let waiting;
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); apply(); });
  form.addEventListener("change", () => { clearTimeout(waiting); waiting = setTimeout(apply, 500); });
}
const place = sessionStorage.getItem(PLACE);
if (place) {
  sessionStorage.removeItem(PLACE);
  const [id, top] = JSON.parse(place);
  const field = id ? document.getElementById(id) : null;
  field?.closest("details")?.setAttribute("open", "");
  field?.focus({ preventScroll: true });
  scrollTo(0, top);
}
