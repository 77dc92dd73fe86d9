// The search of the front page: Enter, or a name chosen from the list, opens the model's page.
"use strict";
const form = document.querySelector("[data-find]"), field = form.querySelector("input"), names = [...form.querySelectorAll("option")].map((option) => option.value);
form.hidden = false;
function open() {
  const slug = field.value.toLowerCase().replace(/[^\p{L}\p{N}_.]+/gu, "-").slice(0, 60).replace(/^[-.]+|[-.]+$/g, "");
  if (slug) location.assign(`/models/${encodeURIComponent(slug)}`);
}
form.addEventListener("submit", (event) => { event.preventDefault(); open(); });
field.addEventListener("input", (event) => { if (!event.inputType?.startsWith("insertText") && names.includes(field.value)) open(); });
