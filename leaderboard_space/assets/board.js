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
    said.textContent = chosen.length ? `${chosen.length} of ${MOST} rows chosen` : "Choose up to four rows";
    for (const button of form.querySelectorAll("button")) button.disabled = !chosen.length;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const path = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    const address = new URL(path, location.href);
    for (const name of ["benchmark", "standard"]) address.searchParams.set(name, form.elements[name].value);
    const models = boxes.filter((box) => box.checked).map((box) => box.value).join(",");
    location.assign(`${address}&models=${models}`);
  });
  for (const box of boxes) box.addEventListener("change", show);
  window.addEventListener("pageshow", show);
}
