// Pictures of every page for docs/screenshots: the begin of each, as a reader sees it first. ./dev screenshots makes them.
import { mkdirSync } from "node:fs";
import { launch, missing, open, pageOf, small, started, until, verbs } from "./browser.mjs";

const why = missing();
if (why !== "") {
  console.error("podsim: there are no screenshots: " + why);
  process.exit(1);
}
const folder = "docs/screenshots";
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [name, words] of Object.entries(verbs)) {
  const { page, close } = await open(browser, pageOf(name, ...words).path, { viewport: { width: 860, height: 1080 } });
  await page.screenshot({ path: `${folder}/${name}.jpg`, type: "jpeg", quality: 60 });
  await close();
}

// What is assumed, unfolded.
const assumed = await open(browser, pageOf("assumed", "run", small).path, { viewport: { width: 860, height: 1080 } });
await assumed.page.$$eval("#origin details", (all) => all.filter((each) => each.querySelector("table")).forEach((each) => { each.open = true; }));
await assumed.page.$eval("#origin", (section) => section.scrollIntoView());
await assumed.page.screenshot({ path: `${folder}/assumptions.jpg`, type: "jpeg", quality: 60 });
await assumed.close();

// The editor with the report of a run, and a word that it does not know.
const { server, address } = await started(small);
const editor = await (await browser.newContext({ viewport: { width: 1360, height: 860 } })).newPage();
await editor.goto(address);
await editor.click("#run:enabled");
await until(editor, () => document.getElementById("state").textContent === "done");
await (await (await editor.$("#page")).contentFrame()).waitForSelector("html[data-ready]");
await editor.fill("#scenario", (await editor.inputValue("#scenario")).replace("recompute:", "recomptue:"));
await editor.waitForSelector("#problems li");
await editor.screenshot({ path: `${folder}/serve.jpg`, type: "jpeg", quality: 60 });

// A search in the editor once it is done.
await editor.fill("#scenario", (await editor.inputValue("#scenario")).replace("recomptue:", "recompute:") +
  "\nspace { tensor: 2 tensor: 4 tensor: 8 pipeline: 1 pipeline: 2 sharding: fsdp recompute: full recompute: none }\n");
await editor.click("#search:enabled");
await until(editor, () => document.querySelectorAll("#live circle").length > 0);
await until(editor, () => document.getElementById("state").textContent === "done");
await (await (await editor.$("#page")).contentFrame()).waitForSelector("#layouts");
await editor.waitForTimeout(500);
await editor.screenshot({ path: `${folder}/serve-search.jpg`, type: "jpeg", quality: 60 });
server.kill("SIGINT");
await browser.close();
