// The theme: that of the system, until the switch in the page's head sets another one, which this browser keeps.
"use strict";
const THEMES = ["system", "light", "dark"];

function storedTheme() {
  try {
    const name = localStorage.getItem("theme");
    return THEMES.includes(name) ? name : "system";
  } catch {
    return "system"; // a frame without storage
  }
}

function applyTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

applyTheme(storedTheme());

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    const show = () => {
      button.querySelector("[data-theme-name]").textContent = storedTheme();
      button.setAttribute("aria-label", `Theme: ${storedTheme()}`);
    };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length];
      try { localStorage.setItem("theme", next); } catch { return; }
      applyTheme(next);
      show();
      document.dispatchEvent(new CustomEvent("themechange"));
    });
  }
});
