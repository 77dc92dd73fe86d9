// Gradio's pages follow the theme that the switch in the page's head sets: Gradio knows it as a class of the body.
"use strict";

function followTheme() {
  const name = storedTheme(); // of theme.js
  const dark = name === "dark" || (name === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  if (document.body && document.body.classList.contains("dark") !== dark) document.body.classList.toggle("dark", dark);
}

document.addEventListener("DOMContentLoaded", () => {
  followTheme();
  new MutationObserver(followTheme).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
document.addEventListener("themechange", followTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", followTheme);
