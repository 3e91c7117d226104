// Pages in a browser: drawn, true, silent, harmless, and reachable without a pointer or scripts.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { panelTests } from "./panels_test.mjs";
import { serveTests } from "./serve_test.mjs";
import { launch, missing, open, pageOf, scenario, small, verbs } from "./browser.mjs";

// {key, digits} of everything on a page that names a figure, and of the tables of every figure.
const figures = async (page) => [
  ...(await page.$$eval("[data-key]", (all) => all.map((each) => [each.dataset.key, each.dataset.value]))),
  ...(await listed(page)),
];

// Keys are those of a row and of a column one after the other, in the order in which a key has them.
const listed = (page) => page.$$eval("table.values", (all) => all.flatMap((table) => {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  return [...table.tBodies[0].rows].flatMap((row) => {
    const [head, ...cells] = [...row.cells].map((cell) => cell.textContent);
    if (heads[0] === "key") return [[head, cells[0]]];
    return cells.map((text, i) => [heads[0] === "entry" ? head + heads[i + 1] : heads[i + 1] + head, text, heads[i + 1]])
      .filter(([, text, column]) => text !== "" && (column.startsWith(".") || column.endsWith("]"))).map(([key, text]) => [key, text]);
  });
}));

// The value at "a.b[1].c".
const at = (json, key) => key.split(/[.[]/).filter((part) => part !== "")
  .reduce((value, part) => (part.endsWith("]") ? value[Number(part.slice(0, -1))] : value[part]), json);

// Keys of all values that are no objects or lists.
const leaves = (json, key = "") => {
  if (json === null || typeof json !== "object") return [key];
  if (Array.isArray(json)) return json.flatMap((each, i) => leaves(each, `${key}[${i}]`));
  return Object.entries(json).flatMap(([name, each]) => leaves(each, key === "" ? name : `${key}.${name}`));
};

// Pixels of a picture that are not paper, as a share.
const inked = (figure) => figure.$eval("canvas", (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let drawn = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++drawn;
  return drawn / (data.length / 4);
});

// What the picture at a place says of the mark that is pointed to, beside what always stands there.
const toldAt = (place) => window.podsimCharts.getInstanceByDom(place).getZr().storage.getDisplayList(true)
  .map((each) => (each.style && each.style.text) || "").join(" ");

const tests = {
  ...serveTests,
  ...panelTests,

  "pages of all verbs are silent, every picture is drawn and tells what its marks are": async (browser) => {
    for (const [name, words] of Object.entries(verbs)) {
      const { page, faults, close } = await open(browser, pageOf(name, ...words).path);
      const drawings = await page.$$("figure.drawn");
      assert.ok(drawings.length >= 1, name);
      const pictures = JSON.parse(await page.$eval("#pictures", (element) => element.textContent));
      for (const [place, figure] of drawings.entries()) {
        const id = await figure.getAttribute("data-picture");
        assert.ok(Number(await figure.getAttribute("data-drawn")) > 0, `${name}: ${id}`);
        assert.ok((await inked(figure)) > 0.01, `${name}: ${id} has no ink`);
        const texts = pictures[place].series.flatMap((series) => series.text ?? []);
        if (texts.length === 0) continue;
        await figure.focus();
        await page.keyboard.press("ArrowRight");
        await page.waitForTimeout(100);
        const told = await figure.$eval(".chart", toldAt);
        assert.ok(texts[0] === "" || told.replace(/\s/g, "").includes(texts[0].replace(/\s/g, "")), `${name}: ${id} says ${told}`);
      }
      const silent = await page.$$eval("figure.drawn .chart, svg.picture", (all) =>
        all.filter((each) => each.getAttribute("role") !== "img" || (each.getAttribute("aria-label") ?? "").length < 20).length);
      assert.equal(silent, 0, name);
      assert.deepEqual(faults, [], name);
      await close();
    }
  },

  "figures are those of the JSON, on the pages of all verbs": async (browser) => {
    for (const [name, words] of Object.entries(verbs)) {
      const { path, out } = pageOf("figures", ...words, "--format", "json");
      const { page, close } = await open(browser, path, { javaScriptEnabled: false });
      const json = JSON.parse(out), shown = await figures(page);
      const values = leaves(json).filter((key) => at(json, key) !== "");
      assert.deepEqual(new Set((await listed(page)).map(([key]) => key)), new Set(values.slice(0, 8000)), name + ": every value is listed");
      for (const [key, value] of shown) {
        const expected = at(json, key);
        assert.ok(typeof expected === "number" ? Number(value) === expected : value === String(expected), `${name}: ${key}`);
      }
      await close();
    }
  },

  "bars are as long as their seconds within a pixel": async (browser) => {
    const { path, out } = pageOf("bars", "run", small, "--format", "json");
    const { page, close } = await open(browser, path, { javaScriptEnabled: false });
    const json = JSON.parse(out);
    const bars = await page.$$eval("figure[data-picture=breakdown] rect[data-key]", (all) =>
      all.map((bar) => [bar.dataset.key, bar.getBoundingClientRect().width]));
    const perSecond = bars[0][1] / at(json, bars[0][0]);
    for (const [key, width] of bars) assert.ok(Math.abs(width - perSecond * at(json, key)) < 1, key);
    await close();
  },

  "a step on 16,384 chips is small and soon ready": async (browser) => {
    const { path } = pageOf("large", "run", "scenarios/llama31_405b_16384_h100.textproto");
    assert.ok(readFileSync(path).length <= 1_500_000);
    const { page, close } = await open(browser, path);
    const ready = await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime);
    const seen = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    console.log(`seen after ${Math.round(seen)} ms, ready after ${Math.round(ready)} ms`);
    assert.ok(ready < 10000, "it is ready in about a second on a machine that does nothing else");
    await close();
  },

  "the page of every scenario that comes with podsim is at most 1.5 MB": async () => {
    for (const file of readdirSync("scenarios").filter((each) => each.endsWith(".textproto"))) {
      const { size } = statSync(pageOf("sized", "run", "scenarios/" + file).path);
      assert.ok(size <= 1_500_000, `${file}: ${size} bytes`);
    }
  },

  "the pointer and the arrow keys tell what a mark is": async (browser) => {
    const { page, close } = await open(browser, pageOf("hover", "run", small).path);
    const told = () => page.$eval("figure[data-picture=breakdown] .chart", toldAt);
    const figure = await page.$("figure[data-picture=breakdown]");
    const box = await (await figure.$("canvas")).boundingBox();
    assert.ok(!(await told()).includes("compute: "));
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5);
    await page.waitForTimeout(300);
    assert.match(await told(), /compute: [0-9.]+ s/);
    await page.mouse.move(5, 5);
    await figure.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(300);
    assert.match(await told(), /: [0-9.]+ s, [0-9.]+%/);
    await close();
  },

  "a click tells why not another layout, and leads to the row of a worker": async (browser) => {
    for (const [name, id, words] of [["search", "layouts", / s over the | is the fastest/], ["run", "heat", /data rank/]]) {
      const { page, faults, close } = await open(browser, pageOf("click-" + name, ...verbs[name]).path);
      const figure = await page.$(`figure[data-picture=${id}]`);
      const marks = JSON.parse(await page.$eval("#pictures", (all) => all.textContent)).find((each) => each.id === id)
        .series.flatMap((series, s) => (series.row ?? []).map((row, i) => ({ s, i, row })));
      assert.ok(marks.length > 0, name);
      const place = await figure.$eval(".chart", (chart, { s, i }) => {
        const live = window.podsimCharts.getInstanceByDom(chart);
        const of = live.getOption().series[s].data[i];
        return live.convertToPixel("grid", [of[0], of[1]]);
      }, marks[0]);
      await figure.scrollIntoViewIfNeeded();
      const box = await (await figure.$("canvas")).boundingBox();
      await page.mouse.click(box.x + place[0], box.y + place[1]);
      await page.waitForSelector(`figure[data-picture=${id}] .told`);
      assert.match(await figure.$eval(".told", (told) => told.textContent), words);
      const rows = await page.$$eval("tr.chosen", (all) => all.map((each) => each.cells[0].textContent));
      assert.equal(rows.length, 1, name);
      assert.ok(marks.some((mark) => mark.row === rows[0]), rows[0]);
      assert.deepEqual(faults, []);
      await close();
    }
  },

  "one click gives the numbers behind a picture, and Enter chooses a mark": async (browser) => {
    const { page, close } = await open(browser, pageOf("numbers", "run", small).path, { acceptDownloads: true });
    const figure = await page.$("figure[data-picture=breakdown]");
    const [saved] = await Promise.all([page.waitForEvent("download"), (await figure.$("button.numbers")).click()]);
    assert.equal(saved.suggestedFilename(), "breakdown.csv");
    const lines = readFileSync(await saved.path(), "utf8").trim().split("\n");
    assert.equal(lines.length - 1, Number(await figure.getAttribute("data-drawn")));
    assert.match(lines[1], /^"compute",0,/);
    await figure.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    assert.match(await figure.$eval(".told", (told) => told.textContent), /compute: [0-9.]+ s/);
    await close();
  },

  "Ctrl and the wheel zoom, and the wheel alone scrolls the page": async (browser) => {
    const { page, close } = await open(browser, pageOf("zoom", "run", small).path);
    const figure = await page.$("figure[data-picture=breakdown]");
    await figure.scrollIntoViewIfNeeded();
    const box = await (await figure.$("canvas")).boundingBox();
    const shown = () => figure.$eval(".chart", (chart) => {
      const { start, end } = window.podsimCharts.getInstanceByDom(chart).getOption().dataZoom[0];
      return end - start;
    });
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -200);
    await page.waitForTimeout(100);
    assert.equal(await shown(), 100);
    const again = await (await figure.$("canvas")).boundingBox();
    await page.mouse.move(again.x + again.width / 2, again.y + again.height / 2);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    await page.waitForTimeout(100);
    assert.ok((await shown()) < 100);
    await close();
  },

  "figures say what they are, and the network is drawn with its load": async (browser) => {
    const { page, faults, close } = await open(browser, pageOf("means", "run", small).path);
    const figure = await page.$("figure[data-picture=breakdown]");
    await figure.focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(200);
    const title = await page.$eval("#step tbody [title]", (cell) => cell.title);
    assert.ok((await figure.$eval(".chart", toldAt)).replace(/\s/g, "").includes(title.replace(/\s/g, "")), title);
    const drawn = await page.$eval(".still img", async (image) => {
      await image.decode();
      return [image.naturalWidth, image.alt.length];
    });
    assert.ok(drawn[0] > 100 && drawn[1] > 20);
    assert.deepEqual(faults, []);
    await close();
  },

  "the drawing of the network tells of the box that is pointed to, and follows the arrow keys": async (browser) => {
    const { page, faults, close } = await open(browser, pageOf("network", "run", "scenarios/llama3_70b_512_v5p.textproto").path);
    const [drawing] = JSON.parse(await page.$eval("#drawings", (all) => all.textContent));
    assert.equal(drawing.names.length, 512);
    const text = (i) => drawing.names[i] + drawing.loads[drawing.load[i]];
    const image = await page.$(".still img");
    await image.scrollIntoViewIfNeeded();
    const box = await image.boundingBox(), scale = box.width / drawing.width, last = 511;
    await page.mouse.move(box.x + (drawing.x[last] + drawing.box[0] / 2) * scale, box.y + (drawing.y[last] + drawing.box[1] / 2) * scale);
    const tip = () => page.$eval(".still .tip", (all) => (all.hidden ? "" : all.textContent));
    assert.equal(await tip(), text(last));
    assert.match(await tip(), /^chip 511 at \(7, 7, 7\): x [0-9.]+%; y [0-9.]+%; z [0-9.]+%$/);
    await page.mouse.move(5, 5);
    assert.equal(await tip(), "");
    await page.focus("figure.still");
    await page.keyboard.press("ArrowRight");
    assert.equal(await tip(), text(0));
    assert.deepEqual(faults, []);
    await close();
  },

  "without scripts, and on paper, every picture is there": async (browser) => {
    const { path } = pageOf("still", "run", "scenarios/one_slow_chip_512.textproto");
    const still = await open(browser, path, { javaScriptEnabled: false });
    const visible = (page) => page.$$eval("figure.drawn svg.picture", (all) => all.filter((svg) => svg.getBoundingClientRect().height > 50).length);
    assert.equal(await visible(still.page), 9);
    assert.deepEqual(still.faults.filter((fault) => !fault.includes("script")), []);
    await still.close();
    const live = await open(browser, path);
    assert.equal(await visible(live.page), 0);
    await live.page.emulateMedia({ media: "print" });
    assert.equal(await visible(live.page), 9);
    await live.close();
  },

  "without scripts the pages of all verbs have every picture and every table": async (browser) => {
    for (const [name, words] of Object.entries(verbs)) {
      const { path } = pageOf("still-" + name, ...words);
      const live = await open(browser, path), still = await open(browser, path, { javaScriptEnabled: false });
      const wanted = (await live.page.$$("figure.drawn")).length;
      const seen = await still.page.$$eval("figure.drawn svg.picture", (all) => all.filter((svg) => svg.getBoundingClientRect().height > 50).length);
      assert.equal(seen, wanted, name);
      const rows = (page) => page.$$eval("main tbody tr", (all) => all.length);
      assert.equal(await rows(still.page), await rows(live.page), name);
      assert.deepEqual(still.faults.filter((fault) => !fault.includes("script")), [], name);
      await live.close();
      await still.close();
    }
  },

  "on a plane of choices size is chips, shape the kind of chip, and a click says why not": async (browser) => {
    for (const [name, id, words] of [["search", "money", / over the [0-9.]+ s of | is the fastest/], ["plan", "clusters", /than the first choice| is the first choice/]]) {
      const { page, faults, close } = await open(browser, pageOf("plane-" + name, ...verbs[name]).path);
      const picture = JSON.parse(await page.$eval("#pictures", (all) => all.textContent)).find((each) => each.id === id);
      const dots = picture.series.filter((series) => series.shape === "dot");
      assert.ok(dots.length > 0 && dots.every((series) => /^room-/.test(series.role) && /free$|or more$/.test(series.name)), name);
      const marks = dots.flatMap((series) => series.more);
      assert.ok(marks.every((more) => words.test(more)), name);
      assert.ok(dots.flatMap((series) => series.text).every((text) => /memory free; .*compute \d/.test(text)), name);
      const figure = await page.$(`figure[data-picture=${id}]`);
      await figure.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      assert.match(await figure.$eval(".told", (told) => told.textContent), words);
      assert.deepEqual(faults, []);
      await close();
    }
  },

  "what is assumed stands on the page: what the scenario leaves out, and numbers without a source": async (browser) => {
    const { page, close } = await open(browser, pageOf("assumed", "run", small).path, { javaScriptEnabled: false });
    const tables = await page.$$eval("#origin table", (all) => all.map((table) => [...table.rows].map((row) => row.cells[0].textContent)));
    assert.equal(tables.length, 2);
    assert.ok(tables[0].includes("cluster.prices") && tables[1].includes("chip h100"));
    await close();
  },

  "whatever a scenario is called stays text": async (browser) => {
    const hostile = "</script><img src=x onerror=alert(1)><svg onload=alert(2)> \u202e \u{1F680} ' \" & " + "x".repeat(380);
    const text = readFileSync(small, "utf8").replace(/question: ".*"/, () => "question: " + JSON.stringify(hostile).replace(/'/g, "\\'"));
    const { page, faults, close } = await open(browser, pageOf("hostile", "run", scenario("<b>&<title>", text)).path);
    assert.deepEqual(faults, []);
    assert.equal((await page.$$("img:not(.still img), svg[onload], b")).length, 0);
    assert.ok(await page.$$eval(".still img", (all) => all.every((each) => each.src.startsWith("data:image/svg+xml;charset=utf-8,%3Csvg "))));
    assert.equal(await page.$eval(".question", (question) => question.textContent), hostile);
    await close();
  },

  "on the pages of all verbs names of scenarios stay text": async (browser) => {
    const hostile = "</script><img src=x onerror=alert(1)><svg onload=alert(2)> \u202e ' \" & </title><b>" + "y".repeat(200);
    const named = (path) => {
      const text = readFileSync(path, "utf8").replace(/^(name|question): .*\n/gm, "");
      return scenario("<i>&'", `name: ${JSON.stringify(hostile).replace(/'/g, "\\'")}\nquestion: ${JSON.stringify(hostile).replace(/'/g, "\\'")}\n` + text);
    };
    for (const [name, words] of Object.entries(verbs)) {
      const at = words.findIndex((word) => word.endsWith(".textproto"));
      if (at < 0) continue;
      const path = named(words[at]);
      const { page, faults, close } = await open(browser, pageOf("named-" + name, ...words.map((word, i) => (i === at ? path : word))).path);
      assert.deepEqual(faults, [], name);
      assert.equal((await page.$$("img:not(.still img), svg[onload], b, i")).length, 0, name);
      assert.ok((await page.textContent("main")).includes("onerror=alert(1)"), name + ": it stands there as text");
      await close();
    }
    const jobs = await open(browser, pageOf("named-jobs", "run", named("scenarios/two_jobs_oversubscribed.textproto")).path);
    assert.deepEqual(jobs.faults, []);
    assert.ok((await jobs.page.$$("figure.drawn")).length >= 5, "each of several jobs has its panels");
    await jobs.close();
  },
};

// Told as GoogleTest tells, so that `./dev test` counts them.
const why = missing();
if (why !== "") {
  console.log(`${Object.keys(tests).length} tests of pages are skipped: ${why}`);
  console.log(`[  SKIPPED ] ${Object.keys(tests).length} tests, listed below:`);
  process.exit(77);
}
const browser = await launch();
const only = process.argv[4] ?? "";  // those whose name has these words
let passed = 0;
const failed = [];
for (const [name, test] of Object.entries(tests).filter(([each]) => each.includes(only))) {
  const begun = Date.now();
  try {
    await test(browser);
    ++passed;
    console.log(`[       OK ] ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed.push(name);
    console.log(error);
    console.log(`[  FAILED  ] ${name}`);
  }
}
await browser.close();
console.log(`[  PASSED  ] ${passed} tests.`);
if (failed.length > 0) console.log(`[  FAILED  ] ${failed.length} tests, listed below:`);
process.exit(failed.length > 0 ? 1 : 0);
