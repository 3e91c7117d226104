// A browser without a network, and pages of podsim in it.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const [podsim, packages] = process.argv.slice(2, 4).map((path) => resolve(path));
export const folder = mkdtempSync(join(tmpdir(), "podsim-pages-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

// Why there is none, or nothing.
export const missing = () => {
  if (!existsSync(join(packages, "node_modules", "playwright-core"))) return "npm could not get playwright-core";
  return browserPath() ? "" : "chromium is not installed";
};

const browserPath = () =>
  ["chromium", "chromium-browser", "google-chrome"].map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "");

export const launch = async () => {
  const { chromium } = createRequire(join(packages, "package.json"))("playwright-core");
  return chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-gpu"] });
};

// The page of a command, and what it prints.
export const pageOf = (name, ...words) => {
  const path = join(folder, name + ".html");
  const out = execFileSync(podsim, [...words, ...(words[0] === "replay" ? [] : ["--quiet"]), "--html", path], { encoding: "utf8", maxBuffer: 1 << 28 });
  return { path, out };
};

export const scenario = (name, text) => {
  const path = join(folder, name + ".textproto");
  writeFileSync(path, text);
  return path;
};

// Opens a page and gathers whatever it should not do.
export const open = async (browser, path, options = {}) => {
  const context = await browser.newContext({ offline: true, viewport: { width: 1100, height: 900 }, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) faults.push("asked for " + request.url());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push("dialog: " + dialog.message());
    dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  if (options.javaScriptEnabled !== false && (await page.$("#pictures"))) await page.waitForSelector("html[data-ready]", { timeout: 30000 });
  return { page, faults, close: () => context.close() };
};

// podsim serve at a free port, and its address.
export const started = (...more) => new Promise((resolve, reject) => {
  const server = spawn(podsim, ["serve", "--port", "0", ...more]);
  server.on("error", reject);
  server.stdout.on("data", (text) => resolve({ server, address: String(text).match(/http:\S+/)[0] }));
});

// Waits for what a function of the page says.
export const until = async (page, holds) => {
  for (let i = 0; i < 600; ++i) {
    if (await page.evaluate(holds)) return;
    await page.waitForTimeout(100);
  }
  throw new Error("it never became so: " + holds);
};

// Run in a page: what has letters of less contrast than 4.5 to what is behind them.
export const faintLetters = () => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("h1, h2, p, a, th, td, pre, span, summary, figcaption, footer, svg.picture text.tick")) {
    const svg = element.namespaceURI.endsWith("svg"), style = getComputedStyle(element);
    if ((parts(svg ? style.fill : style.color)[3] ?? 1) === 0) continue;  // an underline alone
    const a = light(svg ? style.fill : style.color), b = light(paper(element));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(element.tagName + "." + element.className + " " + contrast.toFixed(2));
  }
  return [...new Set(found)];
};

// A command of every verb that writes pages.
export const small = "scenarios/qwen3_14b_8_h100.textproto";
export const verbs = {
  run: ["run", "scenarios/one_slow_chip_512.textproto"],
  compare: ["compare", small, "--set", "job.recompute=full,none"],
  scale: ["scale", "scenarios/llama3_70b_512_h100.textproto", "--chips", "64..1024x2", "--weak", "--strong"],
  whatif: ["whatif", small, "--slow", "chip:3=0.8x"],
  search: ["search", small, "--top", "3", "--set", "space.tensor=2,4"],
  plan: ["plan", small, "--tokens", "1e9", "--chips", "8", "--set", "space.tensor=4"],
  replay: ["replay", "tests/hostile/inputs/trace.csv", "--meta", "tests/hostile/inputs/meta.yaml"],
  reliability: ["reliability", "scenarios/reliability/spares_2048_nodes.textproto", "--seeds", "2"],
  validate: ["validate", "scenarios/measurements/gpu_runs.csv", "--only", "family=mosaic"],
};
