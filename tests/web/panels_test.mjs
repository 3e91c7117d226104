// Every picture of every verb's page: true to its figures, told to pointer and keys, zoomed, printed, reached and read by everybody.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faintLetters, folder, open, pageOf, verbs } from "./browser.mjs";

const pages = new Map();
const pageOfVerb = (name) => {
  if (!pages.has(name)) pages.set(name, pageOf("panels-" + name, ...verbs[name]).path);
  return pages.get(name);
};

// Calls a check with the opened page of every verb, and with its pictures as data.
const onEveryPage = async (browser, check, options = {}) => {
  for (const name of Object.keys(verbs)) {
    const { page, faults, close } = await open(browser, pageOfVerb(name), options);
    const pictures = (await page.$("#pictures")) ? JSON.parse(await page.$eval("#pictures", (all) => all.textContent)) : [];
    await check(name, page, pictures);
    assert.deepEqual(options.javaScriptEnabled === false ? [] : faults, [], name);
    await close();
  }
};

// What stands on the canvas of a picture.
const written = (figure) => figure.$eval(".chart", (place) => window.podsimCharts.getInstanceByDom(place).getZr().storage.getDisplayList(true)
  .map((each) => (each.style && each.style.text) || "").join(" "));
const plain = (text) => text.replace(/\s/g, "");

// The middle of a mark on the canvas, or nothing where it lies outside of what is shown.
const placeOf = (figure, { s, i }, shape) => figure.$eval(".chart", (place, [s, i, shape]) => {
  const chart = window.podsimCharts.getInstanceByDom(place), of = chart.getOption().series[s].data[i];
  const middle = { box: () => [(of[0] + of[1]) / 2, of[2]], tick: () => [of[0], of[1] + of[2] / 2] }[shape] ?? (() => [of[0], of[1]]);
  const at = chart.convertToPixel("grid", middle());
  return at[0] > 0 && at[1] > 0 && at[0] < place.clientWidth && at[1] < place.clientHeight ? at : null;
}, [s, i, shape]);

// The longest mark with a text of a picture: the one that a pointer finds.
const tellingMark = (picture) => {
  const all = picture.series.flatMap((series, s) => (series.text ?? []).map((text, i) => ({ s, i, text, extent: series.extent[i] })));
  return all.filter((mark) => mark.text !== "").sort((a, b) => b.extent - a.extent)[0];
};

export const panelTests = {
  "on the pages of all verbs bars are as long as their values within a pixel": async (browser) => {
    let held = 0;
    await onEveryPage(browser, async (name, page) => {
      const drawings = await page.$$eval("figure.drawn", (all) => all.map((figure) => [figure.dataset.picture,
        [...figure.querySelectorAll("rect[data-key]")].map((bar) => [Number(bar.dataset.value), bar.getBoundingClientRect().width])]));
      for (const [id, bars] of drawings) {
        const longest = bars.reduce((most, bar) => (bar[1] > most[1] ? bar : most), [0, 0]);
        if (longest[0] <= 0) continue;
        for (const [value, width] of bars) assert.ok(Math.abs(width - (longest[1] * value) / longest[0]) < 1, `${name}: ${id}: ${value}`);
        held += bars.length;
      }
    }, { javaScriptEnabled: false });
    assert.ok(held > 50, `${held} bars`);
  },

  "on the pages of all verbs the pointer is told what a mark is": async (browser) => {
    let told = 0;
    await onEveryPage(browser, async (name, page, pictures) => {
      for (const [f, figure] of (await page.$$("figure.drawn")).entries()) {
        const mark = tellingMark(pictures[f]);
        if (!mark) continue;
        await figure.scrollIntoViewIfNeeded();
        const at = await placeOf(figure, mark, pictures[f].series[mark.s].shape), box = await (await figure.$("canvas")).boundingBox();
        assert.ok(at, `${name}: ${pictures[f].id}`);
        await page.mouse.move(box.x + at[0], box.y + at[1]);
        await page.waitForTimeout(150);
        const words = plain(await written(figure)), texts = pictures[f].series.flatMap((series) => series.text ?? []);
        assert.ok(texts.some((text) => text !== "" && words.includes(plain(text))), `${name}: ${pictures[f].id} says ${words.slice(0, 200)}`);
        await page.mouse.move(2, 2);
        ++told;
      }
    });
    assert.ok(told > 20, `${told} pictures`);
  },

  "on the pages of all verbs Ctrl and the wheel zoom every picture": async (browser) => {
    await onEveryPage(browser, async (name, page, pictures) => {
      for (const [f, figure] of (await page.$$("figure.drawn")).entries()) {
        const shown = () => figure.$eval(".chart", (place) => {
          const { start, end } = window.podsimCharts.getInstanceByDom(place).getOption().dataZoom[0];
          return end - start;
        });
        await figure.scrollIntoViewIfNeeded();
        const box = await (await figure.$("canvas")).boundingBox();
        await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
        await page.keyboard.down("Control");
        await page.mouse.wheel(0, -300);
        await page.keyboard.up("Control");
        await page.waitForTimeout(60);
        assert.ok((await shown()) < 100, `${name}: ${pictures[f].id}`);
      }
    });
  },

  "on the pages of all verbs Enter tells the mark that the arrow keys have come to": async (browser) => {
    await onEveryPage(browser, async (name, page, pictures) => {
      for (const [f, figure] of (await page.$$("figure.drawn")).entries()) {
        if (!tellingMark(pictures[f])) continue;
        await figure.focus();
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        const series = pictures[f].series.find((each) => each.text);
        assert.equal(await figure.$eval(".told", (all) => all.textContent), (series.more && series.more[0]) || series.text[0] || series.name, `${name}: ${pictures[f].id}`);
      }
    });
  },

  "on the pages of all verbs one click gives the numbers behind every picture": async (browser) => {
    await onEveryPage(browser, async (name, page, pictures) => {
      for (const [f, figure] of (await page.$$("figure.drawn")).entries()) {
        const [saved] = await Promise.all([page.waitForEvent("download"), (await figure.$("button.numbers")).click()]);
        const rows = readFileSync(await saved.path(), "utf8").trim().split("\n").length - 1;
        assert.ok(rows >= Number(await figure.getAttribute("data-drawn")), `${name}: ${pictures[f].id}`);
      }
    }, { acceptDownloads: true });
  },

  "on paper the pages of all verbs have every picture": async (browser) => {
    await onEveryPage(browser, async (name, page) => {
      await page.emulateMedia({ media: "print" });
      const [wanted, seen] = await page.$$eval("figure.drawn", (all) => [all.length,
        all.filter((figure) => figure.querySelector("svg.picture").getBoundingClientRect().height > 50).length]);
      assert.equal(seen, wanted, name);
    });
  },

  "on the pages of all verbs letters stand out from their paper, light and dark": async (browser) => {
    for (const colorScheme of ["light", "dark"])
      await onEveryPage(browser, async (name, page) => assert.deepEqual(await page.evaluate(faintLetters), [], `${name}, ${colorScheme}`), { colorScheme });
  },

  "on the pages of all verbs Tab reaches every picture, table and text that scrolls": async (browser) => {
    await onEveryPage(browser, async (name, page) => {
      const wanted = await page.$$eval("figure, .wide, main pre", (all) => all.filter((each) => each.checkVisibility()).map((each, i) => {
        each.dataset.stop = String(i);
        return String(i);
      }));
      const reached = new Set();
      for (let i = 0; i < 40 + 4 * wanted.length; ++i) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.dataset.stop ?? ""));
      }
      assert.deepEqual(wanted.filter((each) => !reached.has(each)), [], name);
    });
  },

  "names in recorded traces and tables of measurements stay text": async (browser) => {
    const hostile = "</script><img src=x onerror=alert(1)><b>' &";
    const meta = join(folder, "meta.yaml"), runs = join(folder, "runs.csv");
    writeFileSync(meta, readFileSync("tests/hostile/inputs/meta.yaml", "utf8") + `\ntrial_name: ${hostile}\n`);
    const table = readFileSync("scenarios/measurements/gpu_runs.csv", "utf8");
    const [head, ...rows] = table.split("\n"), row = rows.find((each) => each.startsWith("g057,"));
    writeFileSync(runs, head + "\n" + row.replace("g057", hostile) + "\n");
    const words = { replay: [...verbs.replay.slice(0, 3), meta], validate: ["validate", runs] };
    for (const [name, command] of Object.entries(words)) {
      const { page, faults, close } = await open(browser, pageOf("named-" + name, ...command).path);
      assert.deepEqual(faults, [], name);
      assert.equal((await page.$$("img:not(.still img), b")).length, 0, name);
      if (name === "validate") assert.ok((await page.textContent("main")).includes(hostile), "it stands there as text");
      await close();
    }
  },
};
