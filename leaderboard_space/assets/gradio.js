// Gradio's pages as ours: they follow the theme of the page's head, which Gradio knows as a class of the body.
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

// Gradio lets every link of a text open a new tab. Ours stay in this one, but for what leads out of the Hub's frame:
// it lets nothing in it take the place of the whole page, and browsers keep no session for a page in a frame.
const framed = window !== window.top;
document.documentElement.classList.toggle("framed", framed);
document.addEventListener("click", (event) => {
  const link = event.target.closest(".ours a");
  if (!link || link.origin !== location.origin) return;
  const leaves = framed && (link.pathname.endsWith("/login") || link.closest(".when-framed"));
  link.target = leaves ? "_blank" : "_self";
  link.rel = "noopener";
}, true);

// Screen readers are told the lines of the list that have changed: Gradio replaces the list as a whole.
let lines = null;
new MutationObserver(() => {
  if (!document.querySelector("#own h2")) return;
  const now = [...document.querySelectorAll("#own tbody tr")].map((row) => row.innerText);
  const changed = lines && now.filter((line) => !lines.includes(line));
  if (changed && changed.length) document.getElementById("told").textContent = changed.join("\n");
  lines = now;
}).observe(document, { childList: true, subtree: true, characterData: true });
