"use strict";
(() => {
  const { light, dark } = {{ palette|safe }};
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const night = window.matchMedia("(prefers-color-scheme: dark)");

  function trace(given, palette) {
    if (given.meta === "heat") return { ...given, colorscale: palette.heat };
    const color = palette.roles[given.meta];
    const marker = { ...given.marker, color };
    return { ...given, marker, line: { ...given.line, color }, textfont: { color: given.type === "bar" ? palette.ink : color } };
  }

  function axis(given, palette) {
    return { gridcolor: palette.line, linecolor: palette.line, zeroline: false, automargin: true, ...given };
  }

  function layout(given, palette) {
    const axes = Object.entries(given).filter(([name]) => /^[xy]axis/.test(name));
    return {
      margin: { l: 60, r: 20, t: 20, b: 50 }, height: 384, legend: { orientation: "h", y: 1.12 },
      ...given,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: palette.ink, family: "system-ui, sans-serif" },
      separators: ".,",
      ...Object.fromEntries(axes.map(([name, each]) => [name, axis(each, palette)])),
    };
  }

  function draw(palette) {
    for (const [id, figure] of Object.entries(figures)) {
      Plotly.react(`${id}-plot`, figure.data.map((each) => trace(each, palette)),
        layout(figure.layout, palette), { displayModeBar: false, responsive: true });
    }
  }

  const asSeen = () => draw(night.matches ? dark : light);
  night.addEventListener("change", asSeen);
  window.addEventListener("beforeprint", () => draw(light));
  window.addEventListener("afterprint", asSeen);
  asSeen();
})();
