// A page of what waits is loaded again by itself, unless somebody is reading elsewhere or is about to use something.
"use strict";
{
  const seconds = Number(document.currentScript.dataset.seconds);
  setInterval(() => {
    const used = document.activeElement !== document.body || document.querySelector("main details[open]");
    if (document.visibilityState === "visible" && !used) location.reload();
  }, 1000 * seconds);
}
