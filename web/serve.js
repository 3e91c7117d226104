// The editor of podsim serve: problems while one types, runs with their progress, reports side by side.
"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const editor = by("scenario"), problems = by("problems"), state = by("state"), frame = by("page");
  let shown = 0, pinned = null, checked = 0;

  const post = (path, body) => fetch(path, { method: "POST", body, headers: { "Content-Type": "text/plain", "X-Podsim": "1" } });

  const place = (line, column) => {
    const lines = editor.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const end = before + (lines[line - 1] ?? "").length;
    editor.focus();
    editor.setSelectionRange(Math.min(before + Math.max(0, column - 1), end), end);
  };

  const tell = (list) => {
    problems.replaceChildren(...list.map((problem) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.textContent = (problem.line ? `line ${problem.line}: ` : "") + problem.message + (problem.hint ? "; " + problem.hint : "");
      button.addEventListener("click", () => problem.line && place(problem.line, problem.column));
      item.append(button);
      return item;
    }));
    editor.classList.toggle("wrong", list.length > 0);
    by("run").disabled = list.length > 0;
  };

  const check = async () => {
    const mine = ++checked;
    const answer = await (await post("/api/check", editor.value)).json();
    if (mine === checked) tell(answer.problems);  // of what stands there now
  };

  const show = (id) => {
    shown = id;
    frame.src = `/api/jobs/${id}/page`;
    by("pin").disabled = false;
  };

  const listed = new Map();
  const list = (run) => {
    let item = listed.get(run.id);
    if (!item) {
      item = document.createElement("li");
      listed.set(run.id, item);
      by("runs").prepend(item);
    }
    const button = document.createElement("button"), words = document.createElement("span");
    button.textContent = `${run.id}: ${run.scenario}`;
    button.disabled = run.state !== "done";
    button.addEventListener("click", () => show(run.id));
    words.textContent = " " + (run.state === "running" ? Math.round(100 * run.share) + " %" : run.state) + (run.message ? ": " + run.message : "");
    item.replaceChildren(button, words);
  };

  const happened = (run) => {
    list(run);
    if (run.id !== shown) return;
    state.textContent = run.state === "running" ? Math.round(100 * run.share) + " %" : run.state;
    by("cancel").disabled = run.state !== "waiting" && run.state !== "running";
    if (run.state === "done") show(run.id);
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
    by("pinned").replaceChildren(table);
  };

  by("run").addEventListener("click", async () => {
    const answer = await post("/api/run", editor.value), result = await answer.json();
    if (answer.status === 202) {
      shown = result.id;
      state.textContent = "waiting";
      by("cancel").disabled = false;
    } else if (result.problems) {
      tell(result.problems);
    } else {
      state.textContent = result.error;
    }
  });
  by("cancel").addEventListener("click", () => fetch(`/api/jobs/${shown}`, { method: "DELETE", headers: { "X-Podsim": "1" } }));
  by("pin").addEventListener("click", () => { pinned = shown; compare(); });
  frame.addEventListener("load", () => { if (pinned && shown) compare(); });
  let wait = 0;
  editor.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(check, 30);
  });

  fetch("/api/jobs").then((answer) => answer.json()).then(({ jobs }) => jobs.forEach(list));
  new EventSource("/api/events").onmessage = (event) => happened(JSON.parse(event.data));
  check();
})();
