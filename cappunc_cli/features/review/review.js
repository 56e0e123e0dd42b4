(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { texts, starts, pauses, cues, turns, sure, other } = data;
  const ends = data.ends_ms, count = texts.length;
  const MARKS = ["", ...data.marks], SPELLINGS = new Set(data.spellings), ENDS = new Set(data.ends);
  const NAMES = { "": "no mark", ",": "comma", ".": "period", "?": "question mark", "!": "exclamation mark", ":": "colon",
    ";": "semicolon", "—": "dash", "…": "ellipsis" };
  const KEY_OF = { "0": "", Backspace: "", Delete: "", "-": "—", e: "…" };
  for (const mark of data.marks) KEY_OF[mark] = mark;
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const clock = (ms) => {
    const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
    return `${s >= 3600 ? `${Math.floor(s / 3600)}:` : ""}${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  };

  // ---- words: the marks before, the word proper, the marks after

  const written = (i) => {
    const [head, tail] = data.around[i] || [0, 0], text = texts[i];
    return { before: text.slice(0, head), core: text.slice(head, text.length - tail), after: text.slice(text.length - tail) };
  };
  const decided = new Map();
  const seen = new Set();
  const label = (i) => decided.get(i) || written(i);
  const shown = ({ before, core, after }) => before + core + after;
  const same = (a, b) => a.before === b.before && a.core === b.core && a.after === b.after;

  // As in cappunc_cli.transcript.labels: the mark that a run of characters stands for, and replacing it.
  const markOf = (after) => {
    if (after.includes("…") || after.includes("..")) return "…";
    const found = [...after].filter((c) => SPELLINGS.has(c));
    for (const strong of "?!") if (found.includes(strong)) return strong;
    return found.length ? (data.marks.includes(found[0]) ? found[0] : "—") : "";
  };
  const withMark = (now, mark) => {
    if (mark === markOf(now.after)) return now;
    if (!mark && /['’]/.test(now.after)) return now; // the quote would become part of the word
    if (mark === "." && now.core.endsWith(".") && !now.after) return now;
    const kept = [];
    let place = null;
    for (const c of now.after) {
      if (SPELLINGS.has(c)) {
        while (kept.length > (place ?? 0) && /\s/.test(kept.at(-1))) kept.pop();
        place ??= kept.length;
      } else kept.push(c);
    }
    if (place === null) {
      place = 0;
      while (place < kept.length && (")]}".includes(kept[place]) || /\s/.test(kept[place]))) place++;
      while (place && /\s/.test(kept[place - 1])) place--;
    }
    kept.splice(place, 0, mark);
    return { ...now, after: kept.join("") };
  };
  const each = (text, change) => [...text].map((c) => ([...change(c)].length === 1 ? change(c) : c)).join("");
  const lower = (core) => each(core, (c) => c.toLowerCase());
  const upper = (core) => each(core, (c) => c.toUpperCase());
  const capital = (core) => {
    const low = [...lower(core)], at = low.findIndex((c) => /[\p{L}\p{N}]/u.test(c));
    if (at >= 0) low[at] = upper(low[at]);
    return low.join("");
  };
  const forms = (i) => {
    const core = written(i).core, all = [lower(core), capital(core), upper(core), core];
    for (const d of doubts.get(i) || []) if (d.kind === "case") all.push(d.instead);
    return [...new Set(all)].filter((form) => lower(form) === lower(core));
  };
  // Words that are in lower case somewhere, and so are not names.
  const small = new Set();
  for (let i = 0; i < count; i++) { const core = written(i).core; if (core === lower(core)) small.add(core); }

  // ---- places to check

  const doubts = new Map();
  for (const [i, kind, now, p, instead, q] of data.doubts) {
    if (!doubts.has(i)) doubts.set(i, []);
    doubts.get(i).push({ kind, now, p, instead, q });
  }
  const differs = (i) => other && other.texts[i] !== null && other.texts[i] !== texts[i];
  const lacking = new Uint8Array(count);
  for (const [from, to] of data.stretches) lacking.fill(1, from, to);
  const stops = [];
  for (let i = 0; i < count; i++) if (doubts.has(i) || differs(i)) stops.push(i);

  const alternative = (i) => {
    let now = written(i);
    if (differs(i)) {
      const theirs = other.texts[i], at = theirs.toLowerCase().indexOf(lower(now.core));
      if (at < 0) return null;
      const stop = at + now.core.length;
      return { before: theirs.slice(0, at), core: theirs.slice(at, stop), after: theirs.slice(stop) };
    }
    const own = doubts.get(i);
    if (!own) return null;
    const likely = own.filter((d) => d.q > d.p);
    for (const d of likely.length ? likely : own.slice(0, 1)) {
      if (d.kind === "mark") now = withMark(now, d.instead);
      else if (d.kind === "opening") now = { ...now, before: now.before + d.instead };
      else now = { ...now, core: d.instead };
    }
    return now;
  };

  // ---- the text

  const shade = (i) => {
    const own = doubts.get(i);
    if (!own) return 0;
    const p = Math.min(...own.map((d) => d.p));
    return p < 35 ? 3 : p < 55 ? 2 : 1;
  };
  const classes = (i) => {
    const names = ["w"], level = shade(i);
    if (level) names.push(`d${level}`);
    if (lacking[i]) names.push("lacks");
    if (differs(i)) names.push("differs");
    if (seen.has(i)) names.push("seen");
    if (decided.has(i)) names.push("new");
    if (i === here) names.push("here");
    return names.join(" ");
  };
  const LONG = 90, SILENCE = 2000;
  const parts = [];
  for (let i = 0, begun = 0; i < count; i++) {
    const last = i + 1 === count, ended = ENDS.has(markOf(written(i).after)), length = i + 1 - begun;
    const parted = !last && turns[i + 1] !== turns[i];
    const line = !last && starts[i] === null && cues[i + 1] !== cues[i];
    if (last || parted || (ended && ((pauses[i] || 0) >= SILENCE || length >= LONG || (line && length >= LONG / 3))) || length >= 3 * LONG) {
      parts.push([begun, i + 1]);
      begun = i + 1;
    }
  }
  let here = stops.length ? stops[0] : 0, playing = -1;
  const safe = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const word = (i) => {
    const tag = doubts.has(i) ? "mark" : "span";
    return `<${tag} class="${classes(i)}" id="w${i}">${safe(shown(label(i)))}</${tag}>`;
  };
  const theirs = (from, to) => {
    const said = [];
    for (let i = from; i < to; i++) {
      if (other.between[i]) said.push(`<mark>${safe(other.between[i])}</mark>`);
      if (other.texts[i] !== null) said.push(differs(i) ? `<mark>${safe(other.texts[i])}</mark>` : safe(other.texts[i]));
    }
    if (to === count && other.between[to]) said.push(`<mark>${safe(other.between[to])}</mark>`);
    return `<p class="theirs">${said.join(" ")}</p>`;
  };
  const render = () => {
    const html = [];
    let speaker = null;
    for (const [from, to] of parts) {
      const name = data.speakers[turns[from]];
      const said = name !== undefined && name !== speaker ? safe(name) : "";
      if (name !== undefined) speaker = name;
      const time = starts[from] === null ? "" : `<time>${clock(starts[from])}</time>`;
      const words = [];
      for (let i = from; i < to; i++) words.push(word(i));
      // Without either, the span keeps the column, and screen readers read no empty heading.
      const head = said || time ? `<h2>${said}${time}</h2>` : "<span></span>";
      html.push(`<section class="para${other ? " two" : ""}">${head}<p>${words.join(" ")}</p>` +
        `${other ? theirs(from, to) : ""}</section>`);
    }
    $("text").innerHTML = html.join("") || "<p>There are no words in this file.</p>";
  };
  const node = (i) => $(`w${i}`);
  const refresh = (i) => {
    const found = node(i);
    if (!found) return;
    found.className = classes(i);
    const text = shown(label(i));
    if (found.textContent !== text) found.textContent = text;
  };

  // ---- the current word

  const percent = (n) => `${n} %`;
  const quoted = (text) => (text ? `“${text}”` : "none");
  const told = (i) => {
    const said = (doubts.get(i) || []).map((d) => `${percent(d.p)} ${quoted(d.now)}, ${d.q > d.p ? "rather" : "or"} ${quoted(d.instead)}`);
    if (differs(i)) said.push(`${other.name}: ${quoted(other.texts[i])}`);
    return said.join("; ");
  };
  const show = (focus = true) => {
    if (!count) return;
    const now = label(here), mark = markOf(now.after), next = alternative(here);
    const around = (from, to) => { const said = []; for (let i = Math.max(from, 0); i < Math.min(to, count); i++) said.push(shown(label(i))); return said.join(" "); };
    $("where").textContent = `${starts[here] === null ? "" : `${clock(starts[here])} · `}word ${here + 1} of ${count.toLocaleString("en")}`;
    $("context").replaceChildren(`${around(here - 5, here)} `, element("b", {}, shown(now)), ` ${around(here + 1, here + 6)}`);
    $("doubt").textContent = told(here) || (lacking[here] ? "marks or case are missing here: cappunc fix restores them" : data.fixed ? "" : `${percent(sure[here])} sure`);
    $("take").disabled = !next || same(next, now);
    $("take").textContent = next && !same(next, now) ? `Take “${shown(next)}”` : "Take";
    $("right").disabled = !doubts.has(here) && !differs(here);
    for (const button of $("marks").children) button.setAttribute("aria-pressed", String(button.dataset.mark === mark));
    const own = forms(here);
    if ($("cases").dataset.forms !== own.join(" ")) {
      $("cases").dataset.forms = own.join(" ");
      $("cases").replaceChildren(...own.map((form) => element("button", { type: "button", "data-form": form }, form)));
    }
    for (const button of $("cases").children) button.setAttribute("aria-pressed", String(button.dataset.form === now.core));
    $("undo").disabled = !past.length;
    $("redo").disabled = !future.length;
    $("play").disabled = !sound || starts[here] === null;
    $("play").textContent = sound && !sound.paused ? "Pause" : "Play from here";
    for (const line of document.querySelectorAll("svg .here")) line.setAttribute("d", `M${across(here)} 0V100`);
    hear();
    const found = node(here);
    found.setAttribute("tabindex", "0");
    found.setAttribute("role", "button");
    found.setAttribute("aria-current", "true");
    found.setAttribute("aria-label", `${shown(now)}${told(here) ? `: ${told(here)}` : ""}`);
    if (focus) found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest" });
  };
  const go = (i, focus = true) => {
    if (i < 0 || i >= count || i === undefined) return;
    const before = node(here);
    for (const name of ["tabindex", "role", "aria-current", "aria-label"]) before.removeAttribute(name);
    const was = here;
    here = i;
    refresh(was);
    refresh(here);
    show(focus);
  };
  const say = (text) => {
    $("status").textContent = text;
    $("status").classList.remove("quiet");
    clearTimeout(say.timer);
    say.timer = setTimeout(() => $("status").classList.add("quiet"), 4000);
  };
  const progress = () => {
    const checked = stops.filter((i) => seen.has(i) || decided.has(i)).length;
    const what = other ? "places" : "doubts", lacks = lacking.reduce((a, b) => a + b, 0);
    const long = (text) => element("span", { class: "long" }, text);
    $("progress").replaceChildren(`${checked} of ${stops.length}`, long(` ${what} seen`),
      data.fixed ? "" : ` · ${decided.size} changed`,
      long(lacks ? ` · ${lacks} words lack marks or case: cappunc fix restores them` : ""));
    $("write").disabled = !decided.size;
  };
  const hear = () => {
    const made = [];
    for (let i = Math.max(here - 6, 0); i < Math.min(here + 7, count); i++) {
      const now = label(i), mark = markOf(now.after), pause = pauses[i];
      const said = element("span", i === here ? { class: "at" } : {}, now.core);
      made.push(said, element("span", { class: "mark" }, mark));
      const gap = element("span", { class: "gap" });
      gap.style.width = `${Math.min((pause || 0) / 12, 90) + 1}px`;
      if (pause >= 300) gap.textContent = `${(pause / 1000).toFixed(1)} s`;
      made.push(gap);
    }
    $("heard").replaceChildren(...made);
    const pause = pauses[here];
    $("heard").setAttribute("aria-label", pause === null ? "No pause is known after the word" : `${(pause / 1000).toFixed(1)} seconds of silence after the word`);
  };

  // ---- decisions

  const past = [], future = [];
  const KEY = `cappunc review ${data.sha256}`;
  let saving = 0;
  const save = () => {
    saving = 0;
    if (data.fixed) return;
    try {
      if (!decided.size && !seen.size) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, JSON.stringify({ decided: [...decided].map(([i, l]) => [i, l.before, l.core, l.after]), seen: [...seen] }));
    } catch { say("This browser cannot store your decisions: write them before you close the page."); }
  };
  const saveSoon = () => { saving = saving || setTimeout(save, 300); };
  const restore = () => {
    if (data.fixed) return;
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
      for (const [i, before, core, after] of kept.decided || []) if (i < count) decided.set(i, { before, core, after });
      for (const i of kept.seen || []) if (i < count) seen.add(i);
    } catch { /* ignore what cannot be read */ }
  };
  const set = (i, now) => { if (same(now, written(i))) decided.delete(i); else decided.set(i, now); };
  const apply = (changes, looked = []) => {
    const some = changes.filter(([i, now]) => !same(now, label(i))), fresh = looked.filter((i) => !seen.has(i));
    if (!some.length && !fresh.length) return false;
    past.push({ at: here, words: some.map(([i]) => [i, label(i)]), looked: fresh });
    future.length = 0;
    for (const [i, now] of some) set(i, now);
    for (const i of fresh) seen.add(i);
    for (const i of [...some.map(([i]) => i), ...fresh]) refresh(i);
    progress(); saveSoon(); show();
    return true;
  };
  const step = (from, to, add) => {
    const move = from.pop();
    if (!move) return;
    to.push({ at: here, words: move.words.map(([i]) => [i, label(i)]), looked: move.looked });
    for (const [i, now] of move.words) set(i, now);
    for (const i of move.looked) if (add) seen.add(i); else seen.delete(i);
    for (const i of [...move.words.map(([i]) => i), ...move.looked]) refresh(i);
    progress(); saveSoon(); go(move.at);
    say(`${add ? "Redone" : "Undone"}: ${(move.words.length ? move.words.map(([i]) => i) : move.looked).map((i) => shown(label(i))).join(" ")}`);
  };
  const undo = () => step(past, future, false), redo = () => step(future, past, true);
  // Setting or removing a sentence end changes the case of the next word.
  const marked = (i, now) => {
    const changes = [[i, now]], was = ENDS.has(markOf(label(i).after)), is = ENDS.has(markOf(now.after));
    if (was !== is && i + 1 < count && !lacking[i]) {
      const then = label(i + 1), low = lower(then.core);
      if (is && then.core === low) changes.push([i + 1, { ...then, core: capital(then.core) }]);
      else if (!is && then.core === capital(low) && then.core !== low && small.has(low)) changes.push([i + 1, { ...then, core: low }]);
    }
    return changes;
  };
  const LOOK = "This page is read-only";
  const setMark = (mark) => {
    if (data.fixed) return say(LOOK);
    const now = withMark(label(here), mark);
    if (apply(marked(here, now), [here].filter((i) => doubts.has(i) || differs(i)))) say(`${shown(label(here))}: ${NAMES[mark]}`);
    else if (markOf(label(here).after) !== mark) say("This mark is part of the word");
  };
  const setCase = (form) => {
    if (data.fixed) return say(LOOK);
    if (apply([[here, { ...label(here), core: form }]], [here].filter((i) => doubts.has(i)))) say(shown(label(here)));
  };
  const take = () => {
    if (data.fixed) return say(LOOK);
    const next = alternative(here);
    if (!next || same(next, label(here))) return say("There is no alternative here");
    const i = here;
    apply(marked(i, next), [i]);
    say(`Taken: ${shown(label(i))}`);
  };
  const right = () => { if (doubts.has(here) || differs(here)) { apply([], [here]); say(`Correct as it is: ${shown(label(here))}`); move(1); } };
  const move = (way) => {
    const next = way > 0 ? stops.find((i) => i > here) : stops.findLast((i) => i < here);
    if (next === undefined) say(way > 0 ? "No more doubts after this" : "No more doubts before this"); else go(next);
  };
  const cycle = () => setMark(MARKS[(MARKS.indexOf(markOf(label(here).after)) + 1) % MARKS.length]);
  const recase = () => { const all = forms(here); setCase(all[(all.indexOf(label(here).core) + 1) % all.length]); };

  // ---- writing

  const decisions = () => ({
    kind: data.kind, name: data.name, sha256: data.sha256, format: data.format, encoding: data.encoding ?? null,
    decisions: [...decided].sort((a, b) => a[0] - b[0]).map(([i, now]) => ({ word: i + 1, was: texts[i], text: shown(now) })),
  });
  const FILE = `${data.name}.decisions.json`;
  const FIXED = data.name.replace(/(\.[^.]*)?$/, ".fixed$1");
  const fixedFile = () => (data.source ? splicedFile(data, [...decided].map(([i, l]) => [i, l.before, l.core, l.after])) : null);
  const openWriting = () => {
    if (!decided.size) return say("Nothing has been changed");
    const words = `${decided.size} word${decided.size === 1 ? "" : "s"} changed.`;
    const served = Boolean(data.served) && data.writable;
    const made = served ? null : fixedFile();
    const why = data.no_file || "Only cappunc can tell whether the result would be read back correctly.";
    $("writing-told").textContent = served ? words : made !== null ? `${words} Save the changed file, or the decisions:`
      : `${words} ${why} Save the decisions, then apply them:`;
    $("writing-command").hidden = served || made !== null;
    $("save-file").hidden = made === null;
    $("save-file").textContent = `Save ${FIXED}`;
    $("writing-command").firstChild.textContent = `cappunc review --apply ${FILE} ${data.name}`;
    $("write-here").hidden = $("write-beside").hidden = !served;
    $("write-here").textContent = `Write into ${data.name}`;
    $("write-beside").textContent = "Write a copy next to it (.fixed)";
    $("writing").showModal();
  };
  const send = async (where) => {
    save();
    let answer;
    try {
      const sent = await fetch(`${data.served}write`, { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...decisions(), where }) });
      answer = await sent.json();
    } catch { answer = { error: "cappunc does not answer: nothing written, your decisions are kept in the browser" }; }
    $("writing").close();
    if (answer.error) return say(answer.error);
    const rest = answer.refused.length ? `; ${answer.refused.length} could not be written as decided` : "";
    const done = `${answer.changed} words written to ${answer.written}${rest}`;
    if (!answer.in_place) return say(done);
    try {
      localStorage.removeItem(KEY);
      localStorage.setItem(`cappunc review ${answer.sha256}`, JSON.stringify({ decided: [], seen: [...seen] }));
      sessionStorage.setItem("cappunc said", done);
    } catch { /* without storage there is no message after the reload */ }
    clearTimeout(saving);
    leaving = true;
    location.reload();
  };
  let leaving = false;
  const saved = (text, type, name) => {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    $("writing").close();
    say(`Saved: ${name}`);
  };
  const download = () => saved(JSON.stringify(decisions(), null, 1), "application/json", FILE);
  const saveFile = () => saved(fixedFile(), "application/octet-stream", FIXED); // another type might change the name

  // ---- sound

  let sound = null;
  const load = (file) => {
    if (!file) return;
    if (sound) URL.revokeObjectURL(sound.src);
    sound = element("video", { controls: "", "aria-label": file.name });
    sound.src = URL.createObjectURL(file);
    sound.addEventListener("timeupdate", follow);
    for (const name of ["play", "pause"]) sound.addEventListener(name, () => show(false));
    sound.addEventListener("error", () => say(`${file.name} cannot be played here`));
    $("player").replaceChildren(sound);
    say(file.name);
    show(false);
  };
  const play = () => {
    if (!sound) return say("Choose the sound first: S");
    if (!sound.paused) return sound.pause();
    if (starts[here] === null) return say("This word has no time");
    sound.currentTime = Math.max(starts[here] - 150, 0) / 1000;
    sound.play();
  };
  const at = (ms) => {
    let low = 0, high = count - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if ((starts[mid] ?? Infinity) <= ms) low = mid; else high = mid - 1; }
    return low;
  };
  const follow = () => {
    const now = at(1000 * sound.currentTime);
    if (now === playing) return;
    node(playing)?.classList.remove("playing");
    playing = now;
    node(playing).classList.add("playing");
    if (!sound.paused) node(playing).scrollIntoView({ block: "nearest" });
  };

  // ---- the time line and the plots

  const timed = starts.some((s) => s !== null);
  const first = timed ? starts.find((s) => s !== null) : 0;
  const last = timed ? Math.max(...ends.slice(-200).map((e) => e ?? 0), ...starts.slice(-200).map((s) => s ?? 0), first + 1) : Math.max(count - 1, 1);
  const across = (i) => (1000 * ((timed ? starts[i] ?? first : i) - first)) / (last - first);
  const timeline = () => {
    const silent = [], ended = [], doubtful = [];
    for (let i = 0; i < count; i++) {
      const x = across(i).toFixed(1), pause = pauses[i] || 0;
      if (pause >= 150) silent.push(`M${x} 40v-${Math.min(3 + pause / 90, 22).toFixed(0)}`);
      if (ENDS.has(markOf(written(i).after))) ended.push(`M${x} 8v7`);
      if (doubts.has(i) || differs(i)) doubtful.push(`M${x} 0v7`);
    }
    const svg = $("overview");
    for (const [from, to] of data.stretches) {
      svg.append(drawn("rect", { class: "lack", x: across(from), y: 0, width: Math.max(across(to - 1) - across(from), 1), height: 40 }));
    }
    for (const [name, path] of [["pauses", silent], ["ends", ended], ["doubts", doubtful]]) svg.append(drawn("path", { class: name, d: path.join("") }));
    svg.append(drawn("path", { class: "here", d: "" }));
    $("overview-told").textContent = `${ended.length} sentence ends, ${silent.length} pauses, ${doubtful.length} places to check`;
    svg.addEventListener("click", (event) => jump(event, svg));
    if (timed) {
      const wanted = innerWidth < 700 ? 3 : 8;
      for (let n = 0; n <= wanted; n++) {
        const mark = element("span", {}, clock(first + ((last - first) * n) / wanted));
        mark.style.left = `${(100 * n) / wanted}%`;
        mark.style.translate = n === wanted ? "-100% 0" : n ? "-50% 0" : "";
        $("times").append(mark);
      }
    } else $("times").textContent = `${count.toLocaleString("en")} words without times`;
  };
  const jump = (event, svg) => {
    const box = svg.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
    const target = timed ? at(first + share * (last - first)) : Math.round(share * (count - 1));
    go(target);
    node(target).scrollIntoView({ block: "center" });
  };
  const plot = (title, values, top, limit, unit) => {
    const svg = drawn("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": title });
    const y = (value) => (100 - (98 * Math.min(value, top)) / top).toFixed(1);
    svg.append(drawn("path", { d: values.map(([i, value], n) => `${n ? "L" : "M"}${across(i).toFixed(1)} ${y(value)}`).join("") }));
    svg.append(drawn("path", { class: "limit", d: `M0 ${y(limit)}H1000` }), drawn("path", { class: "here", d: "" }));
    svg.addEventListener("click", (event) => jump(event, svg));
    $("plots").append(element("figure", {}, svg, element("figcaption", {}, `${title}; dashed: ${limit} ${unit}`)));
  };
  const plots = () => {
    const groups = [];
    for (let i = 0; i < count; i++) if (!i || cues[i] !== cues[i - 1]) groups.push(i);
    const own = groups.length > 3 ? groups : Array.from({ length: Math.ceil(count / 10) }, (_, n) => 10 * n);
    const sureness = [], speed = [];
    own.forEach((from, n) => {
      const to = own[n + 1] ?? count;
      let letters = -1, least = 100;
      for (let i = from; i < to; i++) { letters += texts[i].length + 1; least = Math.min(least, sure[i]); }
      sureness.push([from, least]);
      const begin = starts[from], end = ends[to - 1];
      if (begin !== null && end !== null && end > begin) speed.push([from, (1000 * letters) / (end - begin)]);
    });
    if (sureness.length > 1 && !data.fixed) plot("Least certain word of each cue, per cent", sureness, 100, data.below, "%");
    if (speed.length > 1) plot("Reading speed of each cue, characters a second", speed, 40, 20, "a second");
  };

  // ---- keys and clicks

  const KEYS = [
    ["n", "↓", "next doubt", () => move(1)], ["p", "↑", "previous doubt", () => move(-1)],
    ["→", "", "next word", () => go(here + 1)], ["←", "", "previous word", () => go(here - 1)],
    ["Enter", "a", "take the alternative", take], ["o", "", "correct as it is, next doubt", right],
    ["m", "", "another mark", cycle], [", . ? ! : ;", "", "this mark", null], ["-", "", "dash", null], ["e", "", "ellipsis", null],
    ["0", "⌫", "no mark", null], ["c", "", "capital, lower case, capitals", recase],
    ["u", "Ctrl Z", "undo", undo], ["r", "Ctrl Y", "redo", redo],
    ["Space", "", "play from here, pause", play], ["s", "", "choose the sound", () => $("media").click()],
    ["w", "Ctrl S", "write", openWriting], ["h", "F1", "these keys", () => $("keys").showModal()],
  ];
  const ARROWS = { "↓": "ArrowDown", "↑": "ArrowUp", "→": "ArrowRight", "←": "ArrowLeft", Space: " " };
  const actions = {};
  for (const [key, also, about, act] of KEYS) {
    for (const name of [key, also]) if (act && name && !name.startsWith("Ctrl")) actions[ARROWS[name] || name] = act;
    const names = [key, also].filter(Boolean).flatMap((name, n) => [n ? " " : "", element("kbd", {}, name)]);
    $("keylist").append(element("dt", {}, ...names), element("dd", {}, about));
  }
  const CONTROLLED = { s: openWriting, z: undo, y: redo };
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.altKey || !count) return;
    const target = event.target, key = event.key.length === 1 && /[A-Z]/.test(event.key) ? event.key.toLowerCase() : event.key;
    if (target.matches("video, input, select, textarea")) return;
    let act;
    if (event.ctrlKey || event.metaKey) act = event.shiftKey && key === "z" ? redo : CONTROLLED[key];
    else if (target.matches("button, a") && (key === "Enter" || key === " ")) return;
    else if (Object.hasOwn(actions, key)) act = actions[key];
    else if (Object.hasOwn(KEY_OF, key)) act = () => setMark(KEY_OF[key]);
    if (!act) return;
    event.preventDefault();
    act();
  });
  const clicked = (event) => event.target.closest?.(".w");
  $("text").addEventListener("click", (event) => { const found = clicked(event); if (found) go(Number(found.id.slice(1))); });
  $("text").addEventListener("dblclick", (event) => { if (clicked(event) && sound) { sound.pause(); play(); } });
  for (const mark of MARKS) {
    $("marks").append(element("button", { type: "button", "data-mark": mark, "aria-label": NAMES[mark] || mark }, mark || "∅"));
  }
  $("marks").addEventListener("click", (event) => { const b = event.target.closest("button"); if (b) setMark(b.dataset.mark); });
  $("cases").addEventListener("click", (event) => { const b = event.target.closest("button"); if (b) setCase(b.dataset.form); });
  for (const [id, act] of [["back", () => move(-1)], ["on", () => move(1)], ["take", take], ["right", right], ["play", play], ["undo", undo],
    ["redo", redo], ["write", openWriting], ["help", () => $("keys").showModal()], ["write-here", () => send("in-place")],
    ["write-beside", () => send("beside")], ["download", download], ["save-file", saveFile], ["cancel", () => $("writing").close()]]) $(id).addEventListener("click", act);
  $("media").addEventListener("change", (event) => load(event.target.files[0]));
  let isShown = false;
  const tell = (now) => {
    if (data.served && isShown !== now) navigator.sendBeacon(`${data.served}${now ? "opened" : "closed"}`);
    isShown = now;
  };
  // A page that is fetched in advance may never be shown.
  if (document.prerendering) document.addEventListener("prerenderingchange", () => tell(true), { once: true });
  else tell(true);
  addEventListener("pageshow", (event) => { if (event.persisted) tell(true); });
  addEventListener("pagehide", () => {
    if (saving) save();
    tell(false);
  });

  document.body.classList.toggle("compare", Boolean(other));
  document.body.classList.toggle("fixed", Boolean(data.fixed));
  if (other) $("name").textContent = `${data.name} | ${other.name}`;
  restore();
  render();
  progress();
  timeline();
  plots();
  show(false);
  try { const done = sessionStorage.getItem("cappunc said"); if (done) { sessionStorage.removeItem("cappunc said"); say(done); } } catch { /* as above */ }
  if (decided.size) say(`${decided.size} earlier decisions restored`);
})();
