// Makes the pictures of a page answer the pointer: the same data that the drawings show, by ECharts. Without it the drawings stay.
"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Colours are those of the drawings: the style sheet has them once.
  const paint = (role) => {
    const probe = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    probe.setAttribute("class", "r-" + role);
    document.querySelector("svg.patterns").appendChild(probe);
    const style = getComputedStyle(probe);
    const colour = { line: style.stroke, hatched: style.fill.includes("url") };
    probe.remove();
    return colour;
  };
  const look = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of("--ink"), faint: of("--faint"), line: of("--line"), paper: of("--paper") };
  };

  // Windows of an axis lie side by side: values and places on it are then two things.
  const gaps = (axis) => {
    const windows = axis.windows;
    if (!windows) return { to: (x) => x, from: (x) => x, end: undefined };
    const whole = windows.reduce((sum, w) => sum + w[1] - w[0], 0), gap = whole * 0.025;
    const starts = [];
    let at = 0;
    for (const w of windows) {
      starts.push(at);
      at += w[1] - w[0] + gap;
    }
    const last = windows.length - 1;
    return {
      to: (x) => {
        let w = 0;
        while (w < last && x >= windows[w + 1][0]) ++w;
        return starts[w] + Math.min(x, windows[w][1]) - windows[w][0];
      },
      from: (x) => {
        let w = 0;
        while (w < last && x >= starts[w + 1]) ++w;
        return windows[w][0] + x - starts[w];
      },
      end: at - gap,
    };
  };

  const prefixed = (value) => {
    const units = [[1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
    for (const [unit, name] of units) if (Math.abs(value) >= unit) return +(value / unit).toPrecision(3) + name;
    return String(+value.toPrecision(6));
  };
  const titled = (axis) => (axis.unit ? axis.label + ", " + axis.unit : axis.label);

  // Least and greatest value of the marks along an axis.
  const ends = (picture, vertical) => {
    const all = picture.series.flatMap((series) => (vertical ? series.y : series.x));
    return [Math.min(...all), Math.max(...all)];
  };

  const axis = (of, colours, map, vertical, [least, most]) => {
    const common = {
      name: titled(of), nameLocation: "middle", nameGap: vertical ? (of.names ? 8 : 48) : 28,
      nameTextStyle: { color: colours.faint }, axisLabel: { color: colours.faint, hideOverlap: true },
      axisLine: { show: true, lineStyle: { color: colours.faint } }, splitLine: { lineStyle: { color: colours.line } },
    };
    if (of.names) {
      return { ...common, type: "category", data: of.names, inverse: vertical, splitLine: { show: false }, name: vertical ? "" : common.name,
        axisLabel: { ...common.axisLabel, width: 210, overflow: "truncate" } };
    }
    const range = of.windows ? { min: 0, max: map.end } : { min: of.low, max: of.high };
    common.axisLabel.showMinLabel = !range.min;
    common.axisLabel.showMaxLabel = range.max === undefined || range.max === 100;
    common.axisLabel.formatter = (value) => prefixed(map.from(value));
    const decades = of.log && most / least > 12;  // fewer have no round number to stand beside them
    if (of.log) Object.assign(range, { min: least / (decades ? 1.6 : 1.1), max: most * (decades ? 1.6 : 1.1) });
    if (of.log) common.axisLabel.showMinLabel = common.axisLabel.showMaxLabel = false;
    return { ...common, ...range, type: decades ? "log" : "value", scale: Boolean(of.log) };
  };

  const fill = (colour) =>
    colour.hatched ? { fill: colour.line, opacity: 0.5, decal: { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: 0.785,
      color: colour.line } } : { fill: colour.line };

  const boxes = (series, colour, map) => ({
    type: "custom", name: series.name, clip: true,
    encode: { x: [0, 1], y: 2 }, itemStyle: { color: colour.line },
    data: series.x.map((x, i) => [map.to(x), map.to(x + series.extent[i]), series.y[i], i]),
    renderItem: (_, api) => {
      const from = api.coord([api.value(0), api.value(2)]), to = api.coord([api.value(1), api.value(2)]);
      const height = api.size([0, 1])[1] * 0.78;
      return { type: "rect", shape: { x: from[0], y: from[1] - height / 2, width: Math.max(to[0] - from[0], 0.3), height },
        style: fill(colour), emphasis: { style: { stroke: "#000", lineWidth: 1 } } };
    },
  });

  const cells = (series, colour, picture) => {
    const low = picture.scale.low || 0, high = picture.scale.high || 1;
    return {
      type: "custom", name: series.name, itemStyle: { color: colour.line },
      data: series.x.map((x, i) => [x, series.y[i], series.extent[i], i]), encode: { x: 0, y: 1 },
      renderItem: (_, api) => {
        const at = api.coord([api.value(0), api.value(1)]), size = api.size([1, 1]);
        const share = Math.min(1, Math.max(0, (api.value(2) - low) / (high - low || 1)));
        return { type: "rect", shape: { x: at[0] - size[0] / 2, y: at[1] - size[1] / 2, width: size[0] * 0.96, height: size[1] * 0.94 },
          style: { fill: colour.line, opacity: 0.06 + 0.94 * share } };
      },
    };
  };

  const area = (series, colour, map) => ({
    type: "custom", name: series.name, clip: true, itemStyle: { color: colour.line }, data: [[0, 0]],
    renderItem: (_, api) => {
      const top = series.x.map((x, i) => api.coord([map.to(x), series.y[i] + series.extent[i]]));
      const bottom = series.x.map((x, i) => api.coord([map.to(x), series.y[i]])).reverse();
      return { type: "polygon", shape: { points: top.concat(bottom) }, style: fill(colour) };
    },
  });

  const dots = (series, colour) => ({
    type: "scatter", name: series.name, symbol: series.dot || "circle", itemStyle: { color: colour.line, opacity: 0.75 },
    data: series.x.map((x, i) => [x, series.y[i], series.extent[i], i]),
    symbolSize: (value) => Math.max(6, 2 * Math.sqrt(9000 * value[2] / Math.PI)),
  });

  const ticks = (series, colour, map) => ({
    type: "custom", name: series.name, clip: true, itemStyle: { color: colour.line }, encode: { x: 0, y: 1 },
    data: series.x.map((x, i) => [map.to(x), series.y[i], series.extent[i], i]),
    renderItem: (_, api) => {
      const [x, foot] = api.coord([api.value(0), api.value(1)]), top = api.coord([api.value(0), api.value(1) + api.value(2)])[1];
      return { type: "rect", shape: { x: x - 1, y: top, width: 2, height: foot - top }, style: fill(colour) };
    },
  });

  const line = (series, colour) => ({
    type: "line", name: series.name, showSymbol: Boolean(series.text), symbol: "circle", symbolSize: 8, lineStyle: { color: colour.line, width: 2 }, itemStyle: { color: colour.line },
    data: series.x.map((x, i) => [x, series.y[i], 0, i]),
  });

  const drawn = (series, picture, map) => {
    const colour = paint(series.role);
    switch (series.shape) {
      case "box": return boxes(series, colour, map);
      case "cell": return cells(series, colour, picture);
      case "area": return area(series, colour, map);
      case "tick": return ticks(series, colour, map);
      case "dot": return dots(series, colour);
      default: return line(series, colour);
    }
  };

  // Lines of picture.lines, on the first series, which then carries them; the ends of the axes make room for them.
  const held = (picture, colours, map) => ({
    silent: true, symbol: "none", lineStyle: { color: paint("limit").line, type: "dashed" },
    label: { color: colours.ink, position: "insideEndTop" },
    data: picture.lines.map((each) => ({ [each.vertical ? "xAxis" : "yAxis"]: each.vertical ? map.to(each.at) : each.at,
      label: { formatter: each.text } })),
  });

  const top = (picture, vertical) => {
    const of = picture.lines.filter((each) => each.vertical === vertical).map((each) => each.at);
    for (const series of picture.series)
      series.x.forEach((x, i) => of.push(vertical ? x + (series.shape === "box" ? series.extent[i] : 0)
        : series.y[i] + (series.shape === "area" ? series.extent[i] : 0)));
    return Math.max(...of);
  };

  const option = (picture) => {
    const colours = look(), map = gaps(picture.x);
    const x = axis(picture.x, colours, map, false, ends(picture, false)), y = axis(picture.y, colours, { from: (v) => v }, true, ends(picture, true));
    for (const [each, vertical, room] of [[x, true, 1.02], [y, false, 1.05]]) {
      if (!picture.lines.length || each.type !== "value" || each.max !== undefined) continue;
      each.max = top(picture, vertical) * room;
      each.axisLabel.showMaxLabel = false;
    }
    const series = picture.series.map((each) => drawn(each, picture, map));
    if (picture.lines.length) series.push({ type: "line", data: [], markLine: held(picture, colours, map) });
    const widest = Math.max(0, ...(picture.y.names || []).map((name) => name.length));
    const zoom = picture.y.names && picture.y.names.length > 40 ? [{ type: "inside", yAxisIndex: 0, zoomOnMouseWheel: "ctrl" }] : [];
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "system-ui, sans-serif", color: colours.ink },
      grid: { left: picture.y.names ? Math.min(230, 28 + 7 * widest) : 64, right: 26, top: 44, bottom: 46 },
      legend: { type: "scroll", top: 4, textStyle: { color: colours.ink }, inactiveColor: colours.line,
        data: picture.series.map((each) => each.name) },
      // Text, not HTML: names come from scenarios.
      tooltip: { trigger: "item", renderMode: "richText", confine: true, backgroundColor: colours.paper, borderColor: colours.line,
        textStyle: { color: colours.ink, fontSize: 12.5 },
        formatter: (at) => {
          const of = picture.series[at.seriesIndex];
          if (!of) return "";
          const index = at.value[3], text = of.text && of.text[index];
          const meaning = of.meaning && picture.meanings[of.meaning[index]];
          return (text || (of.note ? `${of.name}: ${of.note}` : of.name)) + (meaning ? "\n" + folded(meaning) : "");
        } },
      dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl" }, ...zoom],
      xAxis: x, yAxis: y, series,
    };
  };

  // In lines that a tooltip has room for.
  const folded = (text) => text.replace(/(.{40,70}?) /g, "$1\n");

  // What a mark is, in full, below its picture, and its row in the tables beside it.
  const choose = (figure, picture, s, i) => {
    const of = picture.series[s], panel = figure.closest("section"), row = of && of.row && of.row[i];
    if (!of || i === undefined) return;
    let told = figure.querySelector(".told");
    if (!told) {
      told = document.createElement("p");
      told.className = "told";
      told.setAttribute("aria-live", "polite");
      figure.append(told);
    }
    told.textContent = (of.more && of.more[i]) || (of.text && of.text[i]) || of.name;
    panel.querySelectorAll("tr.chosen").forEach((each) => each.classList.remove("chosen"));
    const line = row && [...panel.querySelectorAll("tbody tr")].find((each) => each.cells[0].textContent === row);
    if (!line) return;
    line.classList.add("chosen");
    line.scrollIntoView({ block: "nearest" });
  };

  // The numbers behind a picture, one line for each mark.
  const csv = (picture) => {
    const quoted = (text) => `"${String(text).replace(/"/g, '""')}"`;
    const place = (axis, value) => (axis.names ? quoted(axis.names[value] ?? value) : value);
    const lines = [["series", titled(picture.x) || "x", titled(picture.y) || "y", "extent", "what"].map(quoted).join()];
    for (const of of picture.series)
      of.x.forEach((x, i) => lines.push([quoted(of.name), place(picture.x, x), place(picture.y, of.y[i]), of.extent[i],
        quoted((of.text && of.text[i]) || "")].join()));
    return lines.join("\n") + "\n";
  };
  const offer = (figure, picture) => {
    const button = document.createElement("button");
    button.className = "numbers";
    button.textContent = "Numbers as CSV";
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv(picture));
      link.download = picture.id + ".csv";
      link.click();
    });
    figure.append(button);
  };

  const height = (figure) => {
    const box = figure.querySelector("svg.picture").getBoundingClientRect();
    return Math.max(190, Math.min(1500, Math.round(box.height * 0.95)));
  };

  const all = [];
  const draw = (figure, picture) => {
    const tall = height(figure), place = document.createElement("div");
    place.className = "chart";
    place.style.height = tall + "px";
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", picture.title + ". " + picture.summary);
    figure.insertBefore(place, figure.firstChild);
    figure.classList.add("live");
    const chart = window.podsimCharts.init(place, null, { renderer: "canvas" });
    chart.setOption(option(picture));
    chart.on("click", (at) => at.value && choose(figure, picture, at.seriesIndex, at.value[3]));
    offer(figure, picture);
    figure.dataset.drawn = String(picture.series.reduce((sum, series) => sum + series.x.length, 0));
    all.push({ chart, picture });
  };

  // Drawings tell of the box that is pointed to, or that the arrow keys have come to.
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  document.querySelectorAll("figure.still").forEach((figure, f) => {
    const { width, height, box, x, y, names, loads, load } = drawings[f], image = figure.querySelector("img");
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    tip.hidden = true;
    figure.append(tip);
    let at = -1;
    const tell = (i) => {
      at = i;
      tip.hidden = i < 0;
      if (i < 0) return;
      tip.textContent = names[i] + loads[load[i]];
      const scale = image.clientWidth / width, left = (x[i] + box[0] + 6) * scale;
      tip.style.left = Math.max(0, Math.min(left, image.clientWidth - tip.offsetWidth)) + "px";
      tip.style.top = (y[i] + box[1] + 6) * scale + "px";
    };
    image.addEventListener("pointermove", (event) => {
      const px = event.offsetX * width / image.clientWidth, py = event.offsetY * height / image.clientHeight;
      tell(x.findIndex((left, i) => px >= left - 2 && px <= left + box[0] + 2 && py >= y[i] - 2 && py <= y[i] + box[1] + 2));
    });
    image.addEventListener("pointerleave", () => tell(-1));
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || names.length === 0) return;
      tell((Math.max(at, step < 0 ? 0 : -1) + step + names.length) % names.length);
      event.preventDefault();
    });
  });

  const figures = [...document.querySelectorAll("figure.drawn")];
  // The library is read once the still pictures are seen, and each is drawn by itself, so that the page answers meanwhile.
  const drawAll = async () => {
    const library = document.createElement("script");
    library.textContent = document.getElementById("charts").textContent;
    document.head.append(library);
    for (const [i, figure] of figures.entries()) {
      await new Promise((resolve) => setTimeout(resolve));
      draw(figure, pictures[i]);
    }
    performance.mark("ready");
    document.documentElement.dataset.ready = "true";
  };
  requestAnimationFrame(() => setTimeout(drawAll));
  dark.addEventListener("change", () => all.forEach(({ chart, picture }) => chart.setOption(option(picture), true)));
  window.addEventListener("resize", () => all.forEach(({ chart }) => chart.resize()));
  // Arrow keys walk along the marks of a picture, and Enter chooses one, for those without a pointer.
  figures.forEach((figure, f) => {
    let at = -1;
    figure.addEventListener("keydown", (event) => {
      if (!["ArrowRight", "ArrowLeft", "Enter"].includes(event.key) || event.target !== figure || !all[f]) return;
      const { chart, picture } = all[f];
      const marks = picture.series.flatMap((series, s) => series.text ? series.x.map((_, i) => [s, i]) : []);
      if (!marks.length) return;
      if (event.key === "Enter") {
        if (at >= 0) choose(figure, picture, ...marks[at]);
        return;
      }
      at = (at + (event.key === "ArrowRight" ? 1 : marks.length - 1)) % marks.length;
      if (at < 0) at = 0;
      chart.dispatchAction({ type: "showTip", seriesIndex: marks[at][0], dataIndex: marks[at][1] });
      event.preventDefault();
    });
  });
})();
