// podsim serve in a browser: problems while one types, a run and its page, Ctrl-C.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { podsim } from "./browser.mjs";

const started = () => new Promise((resolve, reject) => {
  const server = spawn(podsim, ["serve", "--port", "0"]);
  server.on("error", reject);
  server.stdout.on("data", (text) => resolve({ server, address: String(text).match(/http:\S+/)[0] }));
});

// Waits for what a function of the page says.
const until = async (page, holds) => {
  for (let i = 0; i < 600; ++i) {
    if (await page.evaluate(holds)) return;
    await page.waitForTimeout(100);
  }
  assert.fail("it never became so: " + holds);
};

export const serveTests = {
  "the editor of the server tells problems, runs, and shows the page of the report": async (browser) => {
    const { server, address } = await started();
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(address);
    const good = await page.inputValue("#scenario");
    await page.fill("#scenario", good.replace("h100", "h10O"));
    await page.waitForSelector("#problems li");
    assert.match(await page.textContent("#problems"), /h10O/);
    assert.ok(await page.isDisabled("#run"));
    await page.fill("#scenario", good);
    await until(page, () => !document.querySelector("#problems li") && !document.getElementById("run").disabled);
    await page.click("#run");
    await until(page, () => document.getElementById("state").textContent === "done");
    const frame = await (await page.$("#page")).contentFrame();
    await frame.waitForSelector("figure.drawn svg.picture, figure.drawn canvas", { state: "attached", timeout: 30000 });
    assert.deepEqual(faults, []);
    const asked = Date.now();
    const code = await new Promise((resolve) => {
      server.on("exit", resolve);
      server.kill("SIGINT");
    });
    assert.equal(code, 0);
    console.log(`it ended after ${Date.now() - asked} ms`);
    assert.ok(Date.now() - asked < 3000);
  },
};
