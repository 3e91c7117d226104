// podsim serve in a browser: problems while one types, a run and its page, Ctrl-C.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { faintLetters, folder, small, started, until } from "./browser.mjs";

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
    const wavy = await page.$eval("#marks mark", (mark) => [mark.textContent, getComputedStyle(mark).textDecorationLine]);
    assert.deepEqual(wavy, ["chip", "underline"]);
    const typed = await page.evaluate(() => new Promise((resolve) => {
      const editor = document.getElementById("scenario"), begun = performance.now();
      new MutationObserver(() => resolve(performance.now() - begun)).observe(document.getElementById("problems"), { childList: true });
      editor.value += " ";
      editor.dispatchEvent(new Event("input"));
    }));
    console.log(`problems stand there ${Math.round(typed)} ms after a key`);
    await page.fill("#scenario", good);
    await until(page, () => !document.querySelector("#problems li") && !document.getElementById("run").disabled);
    await page.click("#run");
    await until(page, () => document.getElementById("state").textContent === "done");
    const frame = await (await page.$("#page")).contentFrame();
    await frame.waitForSelector("figure.drawn svg.picture, figure.drawn canvas", { state: "attached", timeout: 30000 });
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#trace")]);
    assert.equal(saved.suggestedFilename(), "podsim-1.pftrace");
    assert.ok(statSync(await saved.path()).size > 1000);
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

  "a server with a token opens to who has its printed address, and to nobody else": async (browser) => {
    const { server, address } = await started(small, "--token", "random");
    const faults = [];
    const fresh = async () => {
      const page = await (await browser.newContext()).newPage();
      page.on("pageerror", (error) => faults.push(String(error)));
      return page;
    };
    const stranger = await fresh();
    assert.equal((await stranger.goto(address.replace(/\?.*/, ""))).status(), 401);
    const page = await fresh();
    await page.goto(address);
    assert.ok(!page.url().includes("token"), "it does not stay in the address");
    await page.waitForSelector("#run:enabled");
    await page.click("#run");
    await until(page, () => document.getElementById("state").textContent === "done");
    assert.ok(await (await (await page.$("#page")).contentFrame()).waitForSelector("figure.drawn", { state: "attached" }));
    assert.deepEqual(faults, []);
    server.kill("SIGINT");
  },

  "a run that ends before its number is known to the page is shown": async (browser) => {
    const { server, address } = await started(small);
    const page = await (await browser.newContext()).newPage();
    await page.goto(address);
    await page.waitForSelector("#run:enabled");
    await page.route("**/api/run", async (route) => {
      const answer = await route.fetch();
      await until(page, () => document.querySelector("#runs .open:enabled"));
      await route.fulfill({ response: answer });
    });
    await page.click("#run");
    await until(page, () => document.getElementById("state").textContent === "done");
    assert.ok(await (await (await page.$("#page")).contentFrame()).waitForSelector("figure.drawn", { state: "attached" }));
    server.kill("SIGINT");
  },

  "sliders change the mesh and keep its chips, and a picture follows": async (browser) => {
    const { server, address } = await started("scenarios/llama3_70b_512_h100.textproto");
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(address);
    await page.waitForSelector("#run:enabled");
    const sizes = async () => [...(await page.inputValue("#scenario")).matchAll(/mesh \{ name: "(\w+)" size: (\d+)/g)].map(([, , size]) => Number(size));
    assert.deepEqual(await sizes(), [8, 16, 4]);
    await page.focus('#mesh label[data-axis="tensor"] input');
    await page.keyboard.press("ArrowRight");
    assert.deepEqual(await sizes(), [8, 8, 8]);
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await sizes(), [8, 16, 4]);
    await page.waitForSelector("#run:enabled");
    const begun = Date.now();
    await page.click("#run");
    await page.waitForSelector("#page[src]");
    const frame = await (await page.$("#page")).contentFrame();
    await frame.waitForSelector("figure.drawn svg.picture, figure.drawn canvas", { state: "attached", timeout: 30000 });
    console.log(`a picture stands there ${Date.now() - begun} ms after a click on Run`);
    assert.deepEqual(faults, []);
    server.kill("SIGINT");
  },

  "a search is watched while it goes on, and what was kept is there after a kill": async (browser) => {
    const store = join(folder, "runs.db");
    const first = await started(small, "--store", store);
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(first.address);
    const text = await page.inputValue("#scenario");
    await page.fill("#scenario", text + "\nspace { tensor: 2 tensor: 4 pipeline: 1 sharding: fsdp recompute: full }\n");
    await page.click("#search");
    await until(page, () => document.querySelectorAll("#live circle").length > 0);
    await until(page, () => document.getElementById("state").textContent === "done");
    assert.match(await page.textContent("#live"), /layouts, \d+ simulated, best [\d.]+ s/);
    const found = await (await (await page.$("#page")).contentFrame()).waitForSelector("#layouts");
    assert.ok(found);
    await page.fill("#scenario", text);
    await page.click("#run");
    await until(page, () => document.querySelectorAll("#kept li").length > 0);
    const kept = await page.textContent("#kept");
    assert.deepEqual(faults, []);
    await page.close();
    await new Promise((resolve) => {
      first.server.on("exit", resolve);
      first.server.kill("SIGKILL");
    });
    const second = await started("--store", store);
    const again = await (await browser.newContext()).newPage();
    await again.goto(second.address);
    await until(again, () => document.querySelectorAll("#kept li").length > 0);
    assert.equal(await again.textContent("#kept"), kept);
    await again.click("#kept button");
    await until(again, () => document.getElementById("scenario").value.includes("qwen3_14b"));
    await new Promise((resolve) => {
      second.server.on("exit", resolve);
      second.server.kill("SIGINT");
    });
  },

  "a run that is pinned stands beside the next, and both on one page": async (browser) => {
    const { server, address } = await started(small);
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(address);
    const run = async (times) => {
      await page.waitForSelector("#run:enabled");
      await page.click("#run");
      await page.waitForSelector(`#runs li:nth-child(${times}) .open:enabled`);
      await until(page, () => document.getElementById("state").textContent === "done");
    };
    await run(1);
    await page.click("#pin");
    const text = await page.inputValue("#scenario");
    await page.fill("#scenario", text.replace(/recompute: \w+/, "recompute: none"));
    await run(2);
    await until(page, () => /run 2/.test(document.querySelector("#pinned table").textContent));
    const rows = await page.$("#pinned table tr:nth-child(2)");
    const [, a, b, ratio] = await rows.$$eval("th, td", (all) => all.map((each) => Number(each.textContent)));
    const reports = await page.evaluate(() => Promise.all([1, 2].map(async (id) => (await fetch("/api/jobs/" + id)).json())));
    assert.deepEqual([a, b], reports.map((each) => Number(each.step_time_s.toPrecision(4))));
    assert.ok(Math.abs(ratio - b / a) < 1e-3 && a !== b);
    await page.click("#beside");
    const frame = await (await page.$("#page")).contentFrame();
    await frame.waitForSelector("figure.drawn svg.picture, figure.drawn canvas", { state: "attached" });
    await until(frame, () => document.querySelectorAll("figure[data-picture=breakdown] rect[data-key]").length > 0);
    assert.deepEqual(faults, []);
    server.kill("SIGINT");
  },

  "a search that is cancelled answers with its best so far": async (browser) => {
    const { server, address } = await started("scenarios/llama3_70b_512_h100.textproto");
    const page = await (await browser.newContext()).newPage();
    await page.goto(address);
    await page.waitForSelector("#search:enabled");
    await page.click("#search");
    await until(page, () => document.querySelectorAll("#live circle").length > 0);
    await page.click("#cancel");
    await until(page, () => /^(done|cancelled)$/.test(document.getElementById("state").textContent));
    assert.ok(await page.isDisabled("#cancel"));
    server.kill("SIGINT");
  },

  "after a reload each run that waits or goes on can be cancelled where it is listed": async (browser) => {
    const { server, address } = await started("scenarios/llama31_405b_16384_h100.textproto");
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(address);
    await page.waitForSelector("#search:enabled");
    await page.click("#search");
    await page.waitForSelector('[aria-label="Cancel run 1"]:enabled');
    await page.click("#search");
    await page.waitForSelector('[aria-label="Cancel run 2"]:enabled');
    await page.reload();
    await page.click('[aria-label="Cancel run 2"]');
    await until(page, () => /cancelled/.test(document.querySelector("#runs li:nth-child(1)").textContent));
    await page.click('[aria-label="Cancel run 1"]');
    await until(page, () => /done|cancelled/.test(document.querySelector("#runs li:nth-child(2)").textContent));
    assert.equal((await page.$$("#runs .cancel:enabled")).length, 0);
    assert.ok(await page.isHidden('[aria-label="Cancel run 1"]'));
    assert.deepEqual(faults, []);
    server.kill("SIGINT");
  },

  "what happens between the list of runs and the first event is shown": async (browser) => {
    const { server, address } = await started(small);
    const page = await (await browser.newContext()).newPage();
    await page.route("**/api/jobs", async (route) => {
      const listed = await route.fetch();
      const body = readFileSync(small, "utf8"), headers = { "X-Podsim": "1", "Content-Type": "text/plain" };
      assert.equal((await fetch(address + "api/run", { method: "POST", body, headers })).status, 202);
      while ((await fetch(address + "api/jobs/1")).status === 202) await new Promise((resolve) => setTimeout(resolve, 50));
      await route.fulfill({ response: listed });
    });
    await page.goto(address);
    await page.waitForSelector("#runs .open:enabled");
    assert.match(await page.textContent("#runs"), /1: .* done/);
    server.kill("SIGINT");
  },

  "a check that is refused says why, until one is answered": async (browser) => {
    const { server, address } = await started(small);
    const page = await (await browser.newContext()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(address);
    await page.waitForSelector("#run:enabled");
    const text = await page.inputValue("#scenario");
    for (const [status, error] of [[401, "this server needs its token"], [413, "too long"], [421, "this server answers to localhost alone"]]) {
      await page.route("**/api/check", (route) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify({ error }) }));
      await page.fill("#scenario", text + " ");
      await page.waitForFunction((words) => document.getElementById("state").textContent === words, error);
      await page.unroute("**/api/check");
      await page.fill("#scenario", text);
      await until(page, () => document.getElementById("state").textContent === "");
    }
    await page.route("**/api/check", (route) => route.abort());
    await page.fill("#scenario", text + " ");
    await until(page, () => document.getElementById("state").textContent === "the server does not answer");
    assert.deepEqual(faults, []);
    server.kill("SIGINT");
  },

  "the editor is read by everybody, reached without a pointer, and holds names as text": async (browser) => {
    const hostile = "</script><img src=x onerror=alert(1)><b>' &";
    const { server, address } = await started(small);
    for (const colorScheme of ["light", "dark"]) {
      const page = await (await browser.newContext({ colorScheme })).newPage();
      const faults = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("dialog", (dialog) => faults.push(dialog.message()) && dialog.dismiss());
      await page.goto(address);
      await page.waitForSelector("#run:enabled");
      const text = (await page.inputValue("#scenario")).replace(/^(name|question): .*\n/gm, "");
      await page.fill("#scenario", `name: ${JSON.stringify(hostile)}\n` + text.replace("h100", hostile));
      await page.waitForSelector("#problems li");
      assert.ok((await page.textContent("#problems")).includes("onerror"), "the problem names it as text");
      await page.fill("#scenario", `name: ${JSON.stringify(hostile)}\n` + text);
      await page.waitForSelector("#run:enabled");
      await page.click("#run");
      await until(page, () => document.getElementById("state").textContent === "done");
      assert.equal((await page.$$("img, b")).length, 0);
      assert.deepEqual(await page.evaluate(faintLetters), [], colorScheme);
      const wanted = await page.$$eval("textarea, button:enabled, input:enabled, a[href]", (all) => all.map((each, i) => (each.dataset.stop = String(i))));
      const reached = new Set();
      for (let i = 0; i < 3 * wanted.length + 60; ++i) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.dataset.stop ?? ""));
      }
      assert.deepEqual(wanted.filter((each) => !reached.has(each)), []);
      assert.deepEqual(faults, []);
      await page.close();
    }
    server.kill("SIGINT");
  },
};
