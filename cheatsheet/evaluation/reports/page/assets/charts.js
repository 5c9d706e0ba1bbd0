"use strict";

/* Charts are drawn when they come near the window. Their colours are the page's own, by name, so that they follow it
   into the dark and onto paper without being drawn again. */
{
  const quiet = { labelColor: "var(--quiet)", titleColor: "var(--quiet)", titleFontWeight: "normal" };
  const CONFIG = {
    aria: false, // the frame of a chart says what it shows, and the table below it tells the numbers
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    axis: {
      ...quiet,
      labelFontSize: 12,
      titleFontSize: 12,
      gridColor: "var(--line)",
      domainColor: "var(--edge)",
      tickColor: "var(--edge)",
      labelLimit: 120,
    },
    text: { color: "var(--ink)", fontSize: 12 },
    rule: { color: "var(--edge)" },
  };

  const draw = async (place, spec) => {
    try {
      // `ast`: expressions are read by an interpreter, since the page forbids to make code from text.
      await vegaEmbed(place, spec, { actions: false, renderer: "svg", ast: true, config: CONFIG });
      place.dataset.drawn = "";
    } catch (error) {
      place.textContent = `This chart could not be drawn: ${error.message}`;
      throw error;
    }
  };

  const start = async () => {
    const specs = await unpacked("charts");
    const waiting = new Set(document.querySelectorAll("[data-spec]"));
    const show = (place) => waiting.delete(place) && draw(place, specs[place.dataset.spec]);
    const near = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => show(entry.target)),
      { rootMargin: "600px" },
    );
    waiting.forEach((place) => near.observe(place));
    addEventListener("beforeprint", () => [...waiting].forEach(show));
  };

  start();
}
