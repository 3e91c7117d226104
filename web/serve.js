// The editor of podsim serve: problems while one types, runs and searches with their progress, reports side by side, and those kept.
"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const editor = by("scenario"), problems = by("problems"), state = by("state"), frame = by("page");
  const asks = [by("run"), by("search")].filter((button) => button);
  let shown = 0, pinned = null, checked = 0;

  const post = (path, body) => fetch(path, { method: "POST", body, headers: { "Content-Type": "text/plain", "X-Podsim": "1" } });
  // What a request gives, as { status, result }, whoever refused it and even where nobody answers.
  const answered = async (request) => {
    try {
      const answer = await request;
      return { status: answer.status, result: answer.headers.get("Content-Type") === "application/json" ? await answer.json() : {} };
    } catch {
      return { status: 0, result: { error: "the server does not answer" } };
    }
  };

  const place = (line, column) => {
    const lines = editor.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const end = before + (lines[line - 1] ?? "").length;
    editor.focus();
    editor.setSelectionRange(Math.min(before + Math.max(0, column - 1), end), end);
  };

  // The text once more behind the editor, unseen but for the lines below what is wrong: from there to the end of its word.
  const marks = by("marks");
  const underline = (list) => {
    const lines = editor.value.split("\n"), parts = [];
    const wrong = new Map();
    for (const problem of list) if (problem.line) wrong.set(problem.line, Math.max(0, problem.column - 1));
    lines.forEach((line, i) => {
      const from = wrong.get(i + 1);
      if (from === undefined) return parts.push(line + "\n");
      const word = /^[\w.+-]+|^"[^"]*"?|^\S?/.exec(line.slice(from))[0] || line.slice(from);
      const mark = document.createElement("mark");
      mark.textContent = word || " ";
      parts.push(line.slice(0, from), mark, line.slice(from + word.length) + "\n");
    });
    marks.replaceChildren(...parts);
    follow();
  };
  const follow = () => {
    marks.scrollTop = editor.scrollTop;
    marks.scrollLeft = editor.scrollLeft;
  };

  const tell = (list) => {
    underline(list);
    problems.replaceChildren(...list.map((problem) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.textContent = (problem.line ? `line ${problem.line}: ` : "") + problem.message + (problem.hint ? "; " + problem.hint : "");
      button.addEventListener("click", () => problem.line && place(problem.line, problem.column));
      item.append(button);
      return item;
    }));
    editor.classList.toggle("wrong", list.length > 0);
    for (const button of asks) button.disabled = list.length > 0;
  };

  // Sliders for the sizes of the mesh: what one axis gains a data axis gives, or the largest other one that can, so that the product stays.
  const axisOfMesh = /mesh\s*\{\s*name:\s*"([^"]*)"\s*size:\s*(\d+)\s*\}/g;
  const meshOf = (text) => [...text.matchAll(axisOfMesh)].map(([whole, name, size]) => ({ whole, name, size: Number(size) }));
  const resize = (mesh, i, size) => {
    const sizes = mesh.map((axis) => axis.size), product = sizes.reduce((a, b) => a * b, 1);
    sizes[i] = size;
    const others = sizes.map((_, other) => other).filter((other) => other !== i)
      .sort((a, b) => /data|fsdp/.test(mesh[b].name) - /data|fsdp/.test(mesh[a].name) || sizes[b] - sizes[a]);
    for (const other of others) {
      const rest = product / sizes.reduce((all, each, at) => (at === other ? all : all * each), 1);
      if (Number.isInteger(rest)) {
        sizes[other] = rest;
        return sizes;
      }
    }
    return null;
  };
  const sizesOf = (mesh, i) => {
    const product = mesh.reduce((all, axis) => all * axis.size, 1), sizes = [];
    if (product > 1 << 20) return [mesh[i].size];
    for (let size = 1; size <= product; ++size) if (product % size === 0 && resize(mesh, i, size)) sizes.push(size);
    return sizes;
  };
  const offerSizes = () => {
    const mesh = meshOf(editor.value);
    const known = [...by("mesh").querySelectorAll("label")].map((label) => label.dataset.axis).join();
    if (known !== mesh.map((axis) => axis.name).join() || mesh.length < 2) by("mesh").replaceChildren();
    if (mesh.length < 2) return;
    mesh.forEach((axis, i) => {
      const sizes = sizesOf(mesh, i);
      let label = by("mesh").querySelectorAll("label")[i];
      if (!label) {
        label = document.createElement("label");
        label.dataset.axis = axis.name;
        label.append(document.createElement("span"), document.createElement("input"));
        label.lastChild.type = "range";
        label.lastChild.min = 0;
        label.lastChild.addEventListener("input", () => slide(i, Number(label.lastChild.value)));
        by("mesh").append(label);
      }
      label.firstChild.textContent = `${axis.name} ${axis.size} `;
      label.lastChild.max = sizes.length - 1;
      label.lastChild.value = sizes.indexOf(axis.size);
      label.lastChild.setAttribute("aria-valuetext", String(axis.size));
    });
  };
  const slide = (i, place) => {
    const mesh = meshOf(editor.value), sizes = mesh.length > i ? resize(mesh, i, sizesOf(mesh, i)[place]) : null;
    if (!sizes) return;
    let axis = 0;
    editor.value = editor.value.replace(axisOfMesh, (whole) => whole.replace(/(size:\s*)\d+/, (_, before) => before + sizes[axis++]));
    editor.dispatchEvent(new Event("input"));
  };

  let refused = "";  // why the last check was
  const check = async () => {
    const mine = ++checked;
    const { result } = await answered(post("/api/check", editor.value));
    if (mine !== checked) return;  // of what stands there now
    if (result.problems) tell(result.problems);
    if (result.error || state.textContent === refused) state.textContent = result.error ?? "";
    refused = result.error ?? "";
  };

  const show = (id) => {
    shown = id;
    frame.src = `/api/jobs/${id}/page`;
    by("pin").disabled = by("trace").disabled = false;
  };

  // A trace for Perfetto is made when it is first asked for: then an event says that it is there.
  let traced = 0;
  const save = (id) => {
    traced = 0;
    const link = document.createElement("a");
    link.href = `/api/jobs/${id}/trace`;
    link.download = `podsim-${id}.pftrace`;
    link.click();
  };
  const trace = async () => {
    const id = traced = shown;
    const { status, result } = await answered(fetch(`/api/jobs/${id}/trace`));
    if (status === 200) save(id);
    else if (status !== 202) state.textContent = result.error;
  };

  const goesOn = (run) => run.state === "waiting" || run.state === "running";
  const cancel = async (id) => {
    const { result } = await answered(fetch(`/api/jobs/${id}`, { method: "DELETE", headers: { "X-Podsim": "1" } }));
    if (result.error) state.textContent = result.error;
  };

  // What is there stays there from one word of progress to the next, or who presses a button would miss it.
  const listed = new Map();
  const newItem = (id) => {
    const item = document.createElement("li"), [open, end] = [0, 0].map(() => document.createElement("button"));
    open.className = "open";
    open.addEventListener("click", () => show(id));
    end.textContent = "Cancel";
    end.className = "cancel";
    end.setAttribute("aria-label", `Cancel run ${id}`);
    end.addEventListener("click", () => cancel(id));
    item.append(open, document.createElement("span"), end);
    listed.set(id, item);
    by("runs").prepend(item);
    return item;
  };
  const lastOf = new Map();  // what happened last to each run
  const list = (run) => {
    lastOf.set(run.id, run);
    const [open, words, end] = (listed.get(run.id) ?? newItem(run.id)).children;
    open.textContent = `${run.id}: ${run.scenario}`;
    open.disabled = run.state !== "done";
    words.textContent = " " + (run.state === "running" ? Math.round(100 * run.share) + " %" : run.state) + (run.message ? ": " + run.message : "") + " ";
    end.hidden = end.disabled = !goesOn(run);
  };

  // A search while it goes on: how good its best is, and every layout that it simulated by step time and memory.
  const drawing = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const found = new Map();
  const live = ({ id, search }) => {
    const all = found.get(id) ?? [];
    found.set(id, all);
    all.push(...search.found);
    if (id !== shown) return;
    const words = document.createElement("p");
    words.textContent = `${search.layouts} layouts, ${search.simulated} simulated` + (search.best_s ? `, best ${search.best_s.toPrecision(5)} s` : "") +
      (search.best_s && search.bound_s < search.best_s ? `, at most ${(100 * (1 - search.bound_s / search.best_s)).toFixed(1)} % to gain` : "");
    const [x, y] = [0, 1].map((place) => all.map((each) => each[place]));
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const [[left, right], [low, high]] = [ends(x), ends(y)];
    const svg = drawing("svg", { viewBox: "0 0 400 150", role: "img", "aria-label": `${all.length} layouts by step time, to the right longer, and memory, above more` });
    all.forEach(([step, memory]) => svg.append(drawing("circle", { r: 4, cx: 12 + 376 * (step - left) / (right - left || 1),
      cy: 138 - 126 * (memory - low) / (high - low || 1) })));
    by("live").replaceChildren(words, svg);
  };

  const happened = (run) => {
    list(run);
    if (run.search) live(run);
    if (run.traced && run.id === traced) save(run.id);
    if (run.state === "done") listKept();
    if (run.id !== shown) return;
    state.textContent = run.state === "running" ? Math.round(100 * run.share) + " %" : run.state;
    if (run.trace_failure && run.id === traced) state.textContent = "no trace: " + run.trace_failure;
    by("cancel").disabled = !goesOn(run);
    if (run.state === "done" && !run.traced && !run.trace_failure) show(run.id);
  };

  const compare = async () => {
    const [a, b] = await Promise.all([pinned, shown].map(async (id) => (await fetch(`/api/jobs/${id}`)).json()));
    const table = document.createElement("table");
    const row = (...cells) => {
      const line = table.insertRow();
      cells.forEach((text, i) => {
        const cell = document.createElement(i === 0 ? "th" : "td");
        cell.textContent = text;
        line.append(cell);
      });
    };
    row("", `run ${pinned}`, `run ${shown}`, "ratio");
    for (const key of ["step_time_s", "compute_s", "pipeline_bubble_s", "tokens_per_s", "mfu_causal", "cost_usd_per_million_tokens"]) {
      if (typeof a[key] !== "number" || typeof b[key] !== "number") continue;
      row(key, a[key].toPrecision(4), b[key].toPrecision(4), a[key] ? (b[key] / a[key]).toFixed(3) : "-");
    }
    const beside = document.createElement("button");
    beside.id = "beside";
    beside.textContent = "Side by side";
    beside.addEventListener("click", () => { frame.src = `/api/compare/${pinned}/${shown}`; });
    by("pinned").replaceChildren(table, beside);
  };

  // Reports that the store has kept, of this server and those before it.
  const listKept = async () => {
    if (!by("kept")) return;
    const { kept, error } = (await answered(fetch("/api/history"))).result;
    if (error) return void (state.textContent = error);
    by("kept").replaceChildren(...kept.map((each) => {
      const item = document.createElement("li"), button = document.createElement("button"), words = document.createElement("span");
      button.textContent = each.scenario;
      button.addEventListener("click", async () => {
        const answer = await fetch(`/api/history/${each.key}/scenario`);
        if (!answer.ok) return void (state.textContent = (await answer.json()).error);
        editor.value = await answer.text();
        offerSizes();
        check();
      });
      words.textContent = ` ${each.step_time_s.toPrecision(4)} s, ${(100 * each.mfu_causal).toFixed(1)} % MFU` + (each.fits ? "" : ", does not fit");
      item.append(button, words);
      return item;
    }));
  };

  const ask = async (path) => {
    const { status, result } = await answered(post(path, editor.value));
    by("live").replaceChildren();
    if (status === 202) {
      shown = result.id;
      state.textContent = "waiting";
      by("cancel").disabled = false;
      if (lastOf.has(shown)) happened(lastOf.get(shown));  // events may overtake the answer
    } else if (result.problems) {
      tell(result.problems);
    } else {
      state.textContent = result.error;
    }
  };
  by("run").addEventListener("click", () => ask("/api/run"));
  if (by("search")) by("search").addEventListener("click", () => ask("/api/search"));
  by("cancel").addEventListener("click", () => cancel(shown));
  by("trace").addEventListener("click", trace);
  by("pin").addEventListener("click", () => { pinned = shown; compare(); });
  frame.addEventListener("load", () => { if (pinned && shown) compare(); });
  // One check at a time, of what stands there when it begins: as soon as the one before is done.
  let checking = false, again = false;
  const typed = async () => {
    again = true;
    if (checking) return;
    checking = true;
    try {
      while (again) {
        again = false;
        await check();
      }
    } finally {
      checking = false;
    }
  };
  editor.addEventListener("input", () => {
    underline([]);
    offerSizes();
    typed();
  });
  editor.addEventListener("scroll", follow);

  offerSizes();
  listKept();
  // All runs as they are, and then what happens to them after that.
  const followRuns = async () => {
    const { jobs, last_event, error } = (await answered(fetch("/api/jobs"))).result;
    if (error) return void (state.textContent = error);
    for (const run of jobs) run.id === shown ? happened(run) : list(run);
    new EventSource(`/api/events?after=${last_event}`).onmessage = (event) => happened(JSON.parse(event.data));
  };
  followRuns();
  check();
})();
