// Buttons that copy the text of a field; without script the field can be selected.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const label = button.innerHTML;
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      return; // the text stays selected
    }
    button.textContent = "Copied";
    setTimeout(() => { button.innerHTML = label; }, 2000);
  });
}
