// Sizes and times of pages, traces and the server, against their bars: node bench/pages.mjs PODSIM build/web. bench/README.md says what they are.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { folder, launch, missing, open, pageOf, podsim, started } from "../tests/web/browser.mjs";

const large = "scenarios/llama31_405b_16384_h100.textproto", usual = "scenarios/llama3_70b_512_h100.textproto";
const kRounds = 9;

if (missing() !== "") {
  console.error("nothing is measured: " + missing());
  process.exit(1);
}

const told = (what, bar, values, unit) => {
  const sorted = [...values].sort((a, b) => a - b), at = (i) => +sorted[i].toPrecision(3);
  const measured = sorted.length === 1 ? `${at(0)} ${unit}` : `least ${at(0)}, median ${at(sorted.length >> 1)} ${unit}`;
  console.log(`${what} (bar ${bar}): ${measured}`);
};

// CPU seconds of a command, user and system.
const cpu = (...words) => {
  const timed = spawnSync("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$0" "$@" >/dev/null', podsim, ...words], { encoding: "utf8" });
  return timed.stderr.trim().split("\n").at(-1).split(" ").reduce((sum, each) => sum + Number(each), 0);
};

const trace = join(folder, "step.pftrace"), page = join(folder, "timed.html");
told("page of 405B on 16,384 GPUs", "1.5 MB", [statSync(pageOf("large", "run", large).path).size / 1e6], "MB");
spawnSync(podsim, ["run", large, "--quiet", "--perfetto", trace]);
told("its trace for Perfetto", "6 MB", [statSync(trace).size / 1e6], "MB");
const plain = [], html = [];
for (let i = 0; i < kRounds; ++i) {
  plain.push(1000 * cpu("run", large, "--quiet"));
  html.push(1000 * cpu("run", large, "--quiet", "--html", page));
}
told("what --html adds there, CPU", "100 ms", [Math.min(...html) - Math.min(...plain)], "ms");

const browser = await launch();
const ready = [];
for (let i = 0; i < kRounds; ++i) {
  const opened = await open(browser, join(folder, "large.html"));
  ready.push(await opened.page.evaluate(() => performance.getEntriesByName("ready")[0].startTime));
  await opened.close();
}
told("until all of its pictures answer the pointer", "1 s", ready, "ms");

// In the editor of the server: from a key to the problems, and from a click on Run to what is painted first of the report.
const { server, address } = await started(usual);
const editor = await (await browser.newContext({ viewport: { width: 1360, height: 860 } })).newPage();
await editor.goto(address);
await editor.waitForSelector("#run:enabled");
const typed = (from, to) => editor.evaluate(([from, to]) => new Promise((resolve) => {
  const text = document.getElementById("scenario"), begun = performance.now();
  new MutationObserver((_, observer) => {
    observer.disconnect();
    resolve(performance.now() - begun);
  }).observe(document.getElementById("problems"), { childList: true });
  text.value = text.value.replace(from, to);
  text.dispatchEvent(new Event("input"));
}), [from, to]);
const painted = () => editor.evaluate(() => new Promise((resolve) => {
  const begun = performance.timeOrigin + performance.now(), frame = document.getElementById("page").contentWindow;
  const look = () => {
    const paint = frame.performance.timeOrigin > begun && frame.performance.getEntriesByName("first-contentful-paint")[0];
    if (paint) resolve(frame.performance.timeOrigin + paint.startTime - begun);
    else setTimeout(look, 5);
  };
  document.getElementById("run").click();
  look();
}));
const keys = [], pictures = [];
for (let i = 0; i < kRounds; ++i) {
  keys.push(await typed("h100", "h10O"));
  await typed("h10O", "h100");
  await editor.waitForSelector("#run:enabled");
  await editor.waitForTimeout(200);
  pictures.push(await painted());
  await editor.waitForFunction(() => document.getElementById("state").textContent === "done");
  await (await (await editor.$("#page")).contentFrame()).waitForSelector("html[data-ready]");
}
told("from a key to problems, 70B on 512 GPUs", "50 ms", keys, "ms");
told("from a click on Run to its picture", "300 ms", pictures, "ms");
await browser.close();
server.kill("SIGINT");
