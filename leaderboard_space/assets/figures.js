// Figures: each is fetched and drawn when it comes into view, and drawn again when the theme changes.
"use strict";
{
  const PLOTLY = document.currentScript.dataset.plotly;
  // What Python draws with on light pages, and its counterpart on dark ones.
  const DARK = {
    "#1c2127": "#f1f3f5", "#5f6770": "#a9b1ba",
    "#0072B2": "#56B4E9", "#C24E00": "#F0883E", "#00795A": "#3CC99B", "#9A4C80": "#E29AC8",
    "rgba(0, 114, 178, 0.16)": "rgba(86, 180, 233, 0.22)",
  };
  const SETTINGS = { displayModeBar: false, responsive: true, scrollZoom: false };
  const NARROW = 520;
  let loading = null;

  function plotly() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = PLOTLY;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => { loading = null; reject(new Error("plotly.js could not be loaded")); };
      document.head.append(script);
    });
    return loading;
  }

  function dark() {
    const parts = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255];
    return 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] < 128;
  }

  function coloured(part) {
    if (typeof part === "string") return DARK[part] ?? part;
    if (Array.isArray(part)) return part.map(coloured);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, coloured(value)]));
  }

  // A fresh copy each time: plotly writes into what it draws.
  function styled(figure, place) {
    const { data, layout } = dark() ? coloured(figure) : structuredClone(figure);
    layout.font = { ...layout.font, color: getComputedStyle(place).color };
    if (place.clientWidth < NARROW) {
      layout.font.size = 11;
      if (layout.polar) layout.margin = { ...layout.margin, l: 66, r: 66 };
      else if (layout.margin) layout.margin = { ...layout.margin, l: Math.min(layout.margin.l ?? 80, 44), r: 10 };
      if (layout.scene) {
        layout.height = 420;
        for (const axis of ["x", "y", "z"]) layout.scene.camera.eye[axis] *= 1.25; // so that its names fit in
      }
    }
    place.style.minHeight = `${layout.height}px`;
    return { data, layout };
  }

  const figures = new Map();

  async function draw(place) {
    try {
      if (!figures.has(place)) {
        const [answer] = await Promise.all([fetch(place.dataset.figure), plotly()]);
        if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
        figures.set(place, await answer.json());
      }
      const { data, layout } = styled(figures.get(place), place);
      if (!place.dataset.drawn) place.replaceChildren();
      await window.Plotly.react(place, data, layout, SETTINGS);
      place.dataset.drawn = "yes";
    } catch (error) {
      const told = document.createElement("p");
      told.className = "plot-wait quiet small";
      told.textContent = `The figure could not be drawn: ${error.message}. The table below has its numbers.`;
      place.replaceChildren(told);
    }
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "200px" });

  for (const place of document.querySelectorAll("[data-figure]")) seen.observe(place);

  const again = () => { for (const place of figures.keys()) draw(place); };
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme", "class"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}
