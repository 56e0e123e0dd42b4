// The review page itself: the text as captions, the menu at the current word, decisions, saving, and sound.
const KEY_OF = { "0": "", Backspace: "", Delete: "", "-": "—", e: "…" };
for (const mark of data.marks) KEY_OF[mark] = mark;
let here = stops.length ? stops[0] : 0, playing = -1, hushed = false;

// ---- the text: a row for each caption, or for each passage where the file has no captions

const runs = [];
for (let i = 0; i < count; i++) if (!i || cues[i] !== cues[i - 1] || turns[i] !== turns[i - 1]) runs.push(i);
const isCaptions = runs.length > 1 && count / runs.length >= 2 && count / runs.length <= 30;
const LONG = 70, SILENCE = 2000, TOGETHER = 10;
const passages = () => {
  const found = [0];
  for (let i = 0; i + 1 < count; i++) {
    const length = i + 1 - found.at(-1), ended = ENDS.has(markOf(written(i).after));
    const line = starts[i] === null && cues[i + 1] !== cues[i] && length >= LONG / 3;
    if (turns[i + 1] !== turns[i] || length >= 3 * LONG || (ended && ((pauses[i] || 0) >= SILENCE || length >= LONG || line))) found.push(i + 1);
  }
  return found;
};
const lineBreaks = new Set(data.breaks);
const rowStarts = count ? (isCaptions ? runs : passages()) : [];
const rowOf = new Uint32Array(count);
rowStarts.forEach((from, n) => rowOf.fill(n, from, rowStarts[n + 1] ?? count));

const classes = (i) => {
  const names = ["w"];
  if (doubts.has(i)) names.push("doubt");
  if (lacking[i]) names.push("lacks");
  if (differs(i)) names.push("differs");
  if (seen.has(i)) names.push("seen");
  if (decided.has(i)) names.push("new");
  if (i === here) names.push("here");
  return names.join(" ");
};
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
  return `<div class="theirs">${said.join(" ")}</div>`;
};
const row = (n) => {
  const from = rowStarts[n], to = rowStarts[n + 1] ?? count, words = [];
  for (let i = from; i < to; i++) words.push(isCaptions && lineBreaks.has(i) ? `<br>${word(i)}` : word(i));
  const time = timed ? `<time>${starts[from] === null ? "" : clock(starts[from])}</time>` : "";
  return `<div class="cue${rowOf[here] === n ? " now" : ""}" id="c${n}">${time}<p>${words.join(" ")}</p>${other ? theirs(from, to) : ""}</div>`;
};
const render = () => {
  const html = [];
  let speaker, turn = null, rows = 0;
  rowStarts.forEach((from, n) => {
    if (turns[from] !== turn || rows >= TOGETHER) {
      const name = data.speakers[turns[from]], heard = name !== undefined && name !== speaker;
      if (name !== undefined) speaker = name;
      const time = timed && starts[from] !== null ? clock(starts[from]) : "";
      const head = heard ? `<h2>${safe(name)}</h2>` : time && !turn && !n ? `<h2 class="unseen">${time}</h2>` : "";
      if (!n || heard || rows >= TOGETHER) { html.push(`${n ? "</section>" : ""}<section class="turn">${head}`); rows = 0; }
      turn = turns[from];
    }
    html.push(row(n));
    rows++;
  });
  $("text").innerHTML = count ? `${html.join("")}</section>` : "<p>There are no words in this file.</p>";
};
const node = (i) => $(`w${i}`);
const refresh = (i) => {
  const found = node(i);
  if (!found) return;
  found.className = classes(i);
  const text = shown(label(i));
  if (found.textContent !== text) found.textContent = text;
};

// ---- what is to be checked, and in which order

const sureOf = (i) => Math.min(...(doubts.get(i) || []).map((doubt) => doubt.p), 100);
const worstFirst = () => !other && $("order").value === "worst";
const queue = () => {
  const due = other ? stops : stops.filter((i) => sureOf(i) < Number($("limit").value));
  return worstFirst() ? due.toSorted((a, b) => sureOf(a) - sureOf(b)) : due;
};
const numberOf = (some) => some.reduce((sum, i) => sum + (other ? 1 : doubts.get(i).length), 0);
const sift = (event) => {
  $("limit-told").textContent = `${$("limit").value} %`;
  progress();
  if (event && worstFirst() && queue().length) go(queue()[0]); else showDock();
};

// ---- the menu at the current word

const named = (mark) => NAMES[mark] ?? `“${mark}”`;
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const toldOf = ({ kind, now, p, instead, q }) => {
  const say = kind === "mark" ? named : (text) => (text ? `“${text}”` : kind === "opening" ? "no opening mark" : "none");
  return `${sentence(say(now))}: ${p} %. ${q > p ? "Suggested" : "Second choice"}: ${say(instead)}${q > p ? "" : `, ${q} %`}.`;
};
const told = (i) => {
  const said = (doubts.get(i) || []).map(toldOf);
  if (differs(i)) said.push(`${other.name}: “${other.texts[i]}”.`);
  if (!said.length && lacking[i]) said.push("Marks or case are missing here: cappunc fix restores them.");
  return said;
};
const bold = (text) => {
  const [head, rest] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":"))];
  return element("p", {}, element("b", {}, head), rest);
};
const caseName = (form) => (form === lower(form) ? "aa" : form === capital(form) ? "Aa" : form === upper(form) ? "AA" : form);
const setButtons = (box, values, pressed, key) => {
  if (box.dataset.values !== values.join("\n")) {
    box.dataset.values = values.join("\n");
    box.replaceChildren(...values.map((value) => {
      const name = key === "mark" ? named(value) : value, text = key === "mark" ? value || "∅" : caseName(value);
      return element("button", { type: "button", [`data-${key}`]: value, "aria-label": name, title: name }, text);
    }));
  }
  for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset[key] === pressed));
};
const showMenu = () => {
  const now = label(here), next = alternative(here), lines = told(here), open = Boolean(next && !same(next, now));
  $("told").replaceChildren(...(lines.length ? lines : [`${sure[here]} % sure of the mark and the case.`]).map(bold));
  $("take").disabled = !open;
  $("take").firstChild.textContent = open ? `Change to “${shown(next)}”` : decided.has(here) ? `Changed to “${shown(now)}”` : "Nothing suggested";
  $("keep").disabled = !isOpen(here);
  const likely = differs(here) || (doubts.get(here) || []).some((d) => d.q > d.p);
  $("take").classList.toggle("main", Boolean(likely));
  $("keep").classList.toggle("main", !likely);
  setButtons($("marks"), MARKS, markOf(now.after), "mark");
  setButtons($("cases"), forms(here), now.core, "form");
};
const placeMenu = () => {
  const menu = $("menu"), found = node(here);
  menu.hidden = hushed || !found;
  if (menu.hidden) return;
  const boxes = found.getClientRects(), at = boxes[boxes.length - 1] || found.getBoundingClientRect(), page = document.querySelector("main").getBoundingClientRect();
  menu.style.left = `${Math.max(Math.min(at.left - page.left - 24, page.width - menu.offsetWidth - 12), 12)}px`;
  menu.style.top = `${at.bottom - page.top + 8}px`;
};
const showDock = () => {
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  $("play").disabled = !sound || starts[here] === null;
  $("play").textContent = sound && !sound.paused ? "Pause" : "Play";
  const due = queue(), total = numberOf(due), place = worstFirst() ? due.indexOf(here) + 1 : 0;
  const own = place || (due.length === stops.length ? ordinals.get(here) : due.indexOf(here) + 1);
  $("where").textContent = own ? `${own} of ${total.toLocaleString("en")}` : total ? `${total.toLocaleString("en")} to check` : "Nothing to check";
};
const ordinals = new Map();
for (let n = 1, k = 0; k < stops.length; k++) {
  const several = other ? 1 : doubts.get(stops[k]).length;
  ordinals.set(stops[k], several > 1 ? `${n}–${n + several - 1}` : `${n}`);
  n += several;
}
const show = (focus = true) => {
  if (!count) { $("menu").hidden = true; showDock(); return; }
  showMenu();
  showDock();
  drawHere(here);
  const found = node(here);
  const said = told(here).join(" ");
  for (const [name, value] of [["tabindex", "0"], ["role", "button"], ["aria-current", "true"],
    ["aria-label", `${shown(label(here))}${said ? `: ${said}` : ""}`]]) found.setAttribute(name, value);
  if (focus) found.focus({ preventScroll: true });
  found.scrollIntoView({ block: "nearest" });
  placeMenu();
};
const go = (i, focus = true) => {
  if (i === undefined || i < 0 || i >= count) return;
  for (const name of ["tabindex", "role", "aria-current", "aria-label"]) node(here).removeAttribute(name);
  $(`c${rowOf[here]}`).classList.remove("now");
  const was = here;
  here = i;
  hushed = false;
  refresh(was);
  refresh(here);
  $(`c${rowOf[here]}`).classList.add("now");
  show(focus);
};
const say = (text) => { $("status").textContent = text; };
const progress = () => {
  const due = queue(), total = numberOf(due), checked = numberOf(due.filter((i) => seen.has(i) || decided.has(i)));
  const what = [`${checked} of ${total.toLocaleString("en")} checked`, `${decided.size} changed`];
  $("progress").replaceChildren(...what.map((text) => element("span", {}, text)));
  $("done").style.width = `${total ? (100 * checked) / total : 0}%`;
  $("write").disabled = !decided.size;
};
const about = () => {
  const lacks = lacking.reduce((a, b) => a + b, 0), said = [`${count.toLocaleString("en")} words`];
  if (timed) said.unshift(clock(last));
  if (data.language) said.push(new Intl.DisplayNames(["en"], { type: "language" }).of(data.language));
  if (lacks) said.push(`${lacks.toLocaleString("en")} words lack marks or case: cappunc fix restores them`);
  $("about").textContent = said.join(" · ");
};

// ---- decisions

const past = [], future = [];
const KEY = `cappunc review ${data.sha256}`;
let saving = 0;
const save = () => {
  saving = 0;
  try {
    if (!decided.size && !seen.size) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify({ decided: [...decided].map(([i, l]) => [i, l.before, l.core, l.after]), seen: [...seen] }));
  } catch { say("This browser cannot store your decisions: save before you close the page."); }
};
const saveSoon = () => { saving = saving || setTimeout(save, 300); };
const restore = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) || "{}");
    for (const [i, before, core, after] of kept.decided || []) if (i < count) decided.set(i, { before, core, after });
    for (const i of kept.seen || []) if (i < count) seen.add(i);
  } catch { /* ignore what cannot be read */ }
};
const set = (i, now) => { if (same(now, written(i))) decided.delete(i); else decided.set(i, now); };
const changed = () => { progress(); drawDoubts(); saveSoon(); };
const apply = (changes, looked = []) => {
  const some = changes.filter(([i, now]) => !same(now, label(i))), fresh = looked.filter((i) => !seen.has(i));
  if (!some.length && !fresh.length) return false;
  past.push({ at: here, words: some.map(([i]) => [i, label(i)]), looked: fresh });
  future.length = 0;
  for (const [i, now] of some) set(i, now);
  for (const i of fresh) seen.add(i);
  for (const i of [...some.map(([i]) => i), ...fresh]) refresh(i);
  changed(); show();
  return true;
};
const step = (from, to, add) => {
  const move = from.pop();
  if (!move) return;
  to.push({ at: here, words: move.words.map(([i]) => [i, label(i)]), looked: move.looked });
  for (const [i, now] of move.words) set(i, now);
  for (const i of move.looked) if (add) seen.add(i); else seen.delete(i);
  for (const i of [...move.words.map(([i]) => i), ...move.looked]) refresh(i);
  changed(); go(move.at);
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
const isOpen = (i) => doubts.has(i) || differs(i);
const setMark = (mark) => {
  if (apply(marked(here, withMark(label(here), mark)), [here].filter(isOpen))) say(`${shown(label(here))}: ${named(mark)}`);
  else if (markOf(label(here).after) !== mark) say("This mark is part of the word");
};
const setCase = (form) => {
  if (apply([[here, { ...label(here), core: form }]], [here].filter(isOpen))) say(shown(label(here)));
};
const move = (way) => {
  const due = queue(), at = due.indexOf(here);
  const ahead = () => (way > 0 ? due.find((i) => i > here) : due.findLast((i) => i < here));
  const next = worstFirst() ? due[at < 0 ? 0 : at + way] : ahead();
  if (next === undefined) { say(way > 0 ? "Nothing more to check after this" : "Nothing more to check before this"); return false; }
  go(next);
  return true;
};
const take = () => {
  const next = alternative(here), i = here;
  if (!next || same(next, label(i))) { say("Nothing is suggested here"); return; }
  apply(marked(i, next), [i]);
  if (move(1)) say(`Changed: ${shown(label(i))}`);
};
const keep = () => {
  if (!isOpen(here)) return;
  const i = here;
  apply([], [i]);
  if (move(1)) say(`Kept: ${shown(label(i))}`);
};
const cycle = () => setMark(MARKS[(MARKS.indexOf(markOf(label(here).after)) + 1) % MARKS.length]);
const recase = () => { const all = forms(here); setCase(all[(all.indexOf(label(here).core) + 1) % all.length]); };

// ---- saving

const decisions = () => ({
  kind: data.kind, name: data.name, sha256: data.sha256, format: data.format, encoding: data.encoding ?? null,
  decisions: [...decided].sort((a, b) => a[0] - b[0]).map(([i, now]) => ({ word: i + 1, was: texts[i], text: shown(now) })),
});
const FILE = `${data.name}.decisions.json`;
const FIXED = data.name.replace(/(\.[^.]*)?$/, ".fixed$1");
const openWriting = () => {
  if (!decided.size) { say("Nothing has been changed"); return; }
  const words = `${decided.size} word${decided.size === 1 ? "" : "s"} changed.`;
  const served = Boolean(data.served) && data.writable;
  $("writing-told").textContent = served ? words : `${words} Download the decisions, then apply them:`;
  $("writing-command").hidden = served;
  $("writing-command").firstChild.textContent = `cappunc review --apply ${FILE} ${data.name}`;
  $("write-file").hidden = !served;
  $("write-file").textContent = data.in_place ? `Overwrite ${data.name}` : `Save as ${FIXED}, beside the file`;
  $("writing").showModal();
};
const send = async () => {
  save();
  let answer;
  try {
    const sent = await fetch(`${data.served}write`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(decisions()) });
    answer = await sent.json();
  } catch { answer = { error: "cappunc does not answer: nothing saved, your decisions are kept in the browser" }; }
  $("writing").close();
  if (answer.error) { say(answer.error); return; }
  const rest = answer.refused.length ? `; ${answer.refused.length} could not be written as decided` : "";
  const done = `${answer.changed} words written to ${answer.written}${rest}`;
  if (!answer.in_place) { say(done); return; }
  try {
    localStorage.removeItem(KEY);
    localStorage.setItem(`cappunc review ${answer.sha256}`, JSON.stringify({ decided: [], seen: [...seen] }));
    sessionStorage.setItem("cappunc said", done);
  } catch { /* without storage there is no message after the reload */ }
  clearTimeout(saving);
  saving = 0;
  location.reload();
};
const download = () => {
  const blob = new Blob([JSON.stringify(decisions(), null, 1)], { type: "application/json" });
  const link = element("a", { href: URL.createObjectURL(blob), download: FILE });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $("writing").close();
  say(`Saved: ${FILE}`);
};

// ---- sound

let sound = null;
const load = (file) => {
  if (!file) return;
  if (sound) URL.revokeObjectURL(sound.src);
  sound = element("video", { controls: "", "aria-label": file.name });
  sound.src = URL.createObjectURL(file);
  sound.addEventListener("loadedmetadata", () => sound.classList.toggle("silent-film", !sound.videoWidth));
  sound.addEventListener("timeupdate", follow);
  for (const name of ["play", "pause"]) sound.addEventListener(name, showDock);
  sound.addEventListener("error", () => say(`${file.name} cannot be played here`));
  $("player").replaceChildren(sound);
  say(file.name);
  showDock();
};
const play = () => {
  if (!sound) { say("Choose the sound first: S"); return; }
  if (!sound.paused) { sound.pause(); return; }
  if (starts[here] === null) { say("This word has no time"); return; }
  sound.currentTime = Math.max(starts[here] - 150, 0) / 1000;
  sound.play();
};
const follow = () => {
  const now = wordAt(1000 * sound.currentTime);
  if (now === playing) return;
  node(playing)?.classList.remove("playing");
  playing = now;
  node(playing).classList.add("playing");
  if (!sound.paused) node(playing).scrollIntoView({ block: "nearest" });
};

// ---- keys and clicks

const KEYS = [
  ["n", "↓", "next doubt", () => move(1)], ["p", "↑", "previous doubt", () => move(-1)],
  ["Enter", "a", "change as suggested, next doubt", take], ["k", "o", "keep, next doubt", keep],
  ["→", "", "next word", () => go(here + 1)], ["←", "", "previous word", () => go(here - 1)],
  [", . ? ! : ;", "", "this mark", null], ["- e 0", "", "dash, ellipsis, no mark", null], ["m", "", "another mark", cycle],
  ["c", "", "lower case, capital, capitals", recase], ["u", "Ctrl Z", "undo", undo], ["r", "Ctrl Y", "redo", redo],
  ["Space", "", "play from here, pause", play], ["s", "", "choose the sound", () => $("media").click()],
  ["w", "Ctrl S", "save", openWriting], ["Esc", "", "close the menu at the word", () => { hushed = true; placeMenu(); }],
  ["h", "F1", "these keys", () => $("keys").showModal()],
];
const ARROWS = { "↓": "ArrowDown", "↑": "ArrowUp", "→": "ArrowRight", "←": "ArrowLeft", Space: " ", Esc: "Escape" };
const actions = {};
for (const [key, also, what, act] of KEYS) {
  for (const name of [key, also]) if (act && name && !name.startsWith("Ctrl")) actions[ARROWS[name] || name] = act;
  const names = [key, also].filter(Boolean).flatMap((name, n) => [n ? " " : "", element("kbd", {}, name)]);
  $("keylist").append(element("dt", {}, ...names), element("dd", {}, what));
}
const CONTROLLED = { s: openWriting, z: undo, y: redo };
// Between the current word and its menu the tab key goes both ways, though the menu stands behind the text.
const tabbed = (event) => {
  const inMenu = [...$("menu").querySelectorAll("button:not(:disabled)")].filter((b) => b.offsetHeight);
  if (event.target === node(here) && !event.shiftKey && !$("menu").hidden) inMenu[0]?.focus();
  else if (event.target === inMenu[0] && event.shiftKey) node(here).focus({ preventScroll: true });
  else return;
  event.preventDefault();
};
document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.altKey || !count) return;
  const target = event.target, key = event.key.length === 1 && /[A-Z]/.test(event.key) ? event.key.toLowerCase() : event.key;
  if (key === "Tab") { tabbed(event); return; }
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
$("overview").addEventListener("click", (event) => {
  if (!count) return;
  go(wordUnder(event));
  node(here).scrollIntoView({ block: "center" });
});
$("marks").addEventListener("click", (event) => { const b = event.target.closest("button"); if (b) setMark(b.dataset.mark); });
$("cases").addEventListener("click", (event) => { const b = event.target.closest("button"); if (b) setCase(b.dataset.form); });
for (const [id, act] of [["back", () => move(-1)], ["on", () => move(1)], ["take", take], ["keep", keep], ["play", play], ["undo", undo],
  ["redo", redo], ["write", openWriting], ["help", () => $("keys").showModal()], ["write-file", send], ["download", download],
  ["cancel", () => $("writing").close()]]) $(id).addEventListener("click", act);
for (const id of ["order", "limit"]) $(id).addEventListener("input", sift);
$("media").addEventListener("change", (event) => load(event.target.files[0]));
addEventListener("pagehide", () => { if (saving) save(); });
new ResizeObserver(() => { drawStrip(); if (count) { drawHere(here); placeMenu(); } }).observe($("overview"));

// ---- a page that cappunc serves holds a connection open, which ends with the page or its browser

const stay = () => { new EventSource(`${data.served}alive`).onerror = () => say("cappunc has ended; your decisions are kept in this browser"); };
if (data.served) {
  // A page that is fetched in advance may never be shown.
  if (document.prerendering) document.addEventListener("prerenderingchange", stay, { once: true });
  else stay();
  addEventListener("pageshow", (event) => { if (event.persisted) stay(); });
}

document.body.className = [other && "compare", !timed && "untimed", !isCaptions && "passages"].filter(Boolean).join(" ");
if (other) $("name").textContent = `${data.name} beside ${other.name}`;
restore();
about();
$("sift").hidden = Boolean(other) || !stops.length;
if (stops.length && !other) { $("limit").min = Math.max(Math.min(...stops.map(sureOf)), 1); $("limit").max = Math.max(...stops.map(sureOf)) + 1; $("limit").value = $("limit").max; }
render();
sift();
drawStrip();
show(false);
try { const done = sessionStorage.getItem("cappunc said"); if (done) { sessionStorage.removeItem("cappunc said"); say(done); } } catch { /* as above */ }
if (decided.size) say(`${decided.size} earlier decisions restored`);
