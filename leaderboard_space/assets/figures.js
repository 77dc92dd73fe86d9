// Figures: each is fetched as wide as its place when it comes into view. Its marks are links with names: the arrow keys
// go from mark to mark, and the name of the one that has the focus or the pointer is shown above it.
"use strict";
{
  const tip = document.createElement("div");
  tip.className = "plot-tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the mark has the same name
  document.body.append(tip);

  function address(place) {
    const end = place.clientWidth >= 1160 ? ".1160" : place.clientWidth >= 760 ? "" : ".360";
    return new URL(place.dataset.figure.replace(/\.svg$/, `${end}.svg`), location.href);
  }

  async function draw(place) {
    const wanted = address(place);
    if (place.dataset.asked === wanted.href) return;
    place.dataset.asked = wanted.href;
    try {
      const answer = await fetch(wanted);
      if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
      const text = await answer.text();
      if (place.dataset.asked === wanted.href) put(place, text); // else another width has been asked for since
    } catch (error) {
      const told = document.createElement("p");
      told.className = "plot-wait quiet small";
      told.textContent = `The figure could not be drawn: ${error.message}. The table below has its numbers.`;
      place.replaceChildren(told);
    }
  }

  function put(place, text) {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    svg.querySelector("title").remove(); // the place around has the same name
    const marks = [...svg.querySelectorAll(".mark")];
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.setAttribute("aria-label", title.textContent);
      mark.setAttribute("tabindex", mark === marks[0] ? "0" : "-1");
      if (mark.localName === "g") mark.setAttribute("role", "img");
      title.remove();
    }
    place.replaceChildren(document.importNode(svg, true));
    place.dataset.drawn = "yes";
  }

  // Printing waits for no answer that comes later, so that the figures not yet seen are asked for one by one.
  addEventListener("beforeprint", () => {
    for (const place of document.querySelectorAll("[data-figure]:not([data-drawn])")) {
      const asked = new XMLHttpRequest();
      asked.open("GET", address(place), false);
      asked.send();
      if (asked.status === 200) put(place, asked.responseText);
    }
  });

  function show(mark) {
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("aria-label");
    const box = (mark.querySelector("circle, path:not([fill='none'])") ?? mark).getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 8)) + scrollX}px`;
    tip.style.top = `${(box.top > tip.offsetHeight + 12 ? box.top - tip.offsetHeight - 8 : box.bottom + 8) + scrollY}px`;
  }

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  function move(event) {
    if (event.key === "Escape") return show(null);
    const mark = event.target.closest(".mark"), step = STEPS[event.key];
    if (!mark || !step) return;
    event.preventDefault();
    const marks = [...mark.closest("svg").querySelectorAll(".mark")];
    const next = marks[(marks.indexOf(mark) + step + marks.length) % marks.length];
    mark.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  // The image as it stands on the page, three times as large, on the page's ground.
  function save(svg, name) {
    const copy = svg.cloneNode(true), shown = [...svg.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((part, place) => {
      const style = getComputedStyle(shown[place]);
      for (const look of ["fill", "stroke"]) if (part.hasAttribute(look)) part.setAttribute(look, style[look]);
    });
    copy.querySelector(".ground").setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [3 * svg.width.baseVal.value, 3 * svg.height.baseVal.value];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      const link = document.createElement("a");
      link.download = `${name}.png`;
      link.href = canvas.toDataURL("image/png");
      link.click();
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  }

  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.clientWidth) draw(target);
  });
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
      seen.observe(target);
    }
  }, { rootMargin: "200px" });

  for (const place of document.querySelectorAll("[data-figure]")) {
    near.observe(place);
    place.addEventListener("keydown", move);
    for (const kind of ["focusin", "pointerover"]) {
      place.addEventListener(kind, (event) => show(event.target.closest(".mark")));
    }
    for (const kind of ["focusout", "pointerleave"]) place.addEventListener(kind, () => show(null));
    for (const button of place.closest("figure").querySelectorAll("[data-png]")) {
      button.hidden = false;
      button.addEventListener("click", () => save(place.querySelector("svg"), button.dataset.png));
    }
  }
}
