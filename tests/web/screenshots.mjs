// Pictures of every page for docs/screenshots: the begin of each, as a reader sees it first. ./dev screenshots makes them.
import { mkdirSync } from "node:fs";
import { launch, missing, open, pageOf, verbs } from "./browser.mjs";

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
await browser.close();
