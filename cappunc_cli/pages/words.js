// The words of the page and what is decided about them: marks before and after the word proper, and its case.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { texts, starts, pauses, cues, turns, sure, other } = data;
const ends = data.ends_ms, count = texts.length;
const MARKS = ["", ...data.marks], SPELLINGS = new Set(data.spellings), ENDS = new Set(data.ends);
// In the order of the marks, which are those of the language: Greek asks with `;`.
const NAMES = Object.fromEntries(["no mark", "comma", "period", "question mark", "exclamation mark", "colon", "semicolon",
  "dash", "ellipsis"].map((name, i) => [MARKS[i], name]));
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const clock = (ms) => {
  const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
  return `${s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}` : Math.floor(s / 60)}:${two(s % 60)}`;
};


const written = (i) => {
  const [head, tail] = data.around[i] || [0, 0], text = texts[i];
  return { before: text.slice(0, head), core: text.slice(head, text.length - tail), after: text.slice(text.length - tail) };
};
const decided = new Map();
const seen = new Set();
const label = (i) => decided.get(i) || written(i);
const shown = ({ before, core, after }) => before + core + after;
const same = (a, b) => a.before === b.before && a.core === b.core && a.after === b.after;

// As in cappunc_cli.document.labels: the mark that a run of characters stands for, and replacing it.
const markOf = (after) => {
  if (after.includes("…") || after.includes("..")) return "…";
  const found = [...after].filter((c) => SPELLINGS.has(c));
  for (const strong of data.marks.slice(2, 4)) if (found.includes(strong)) return strong;
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
const lower = (core) => each(core, (c) => c.toLocaleLowerCase(data.language || "en"));
const upper = (core) => each(core, (c) => c.toLocaleUpperCase(data.language || "en"));
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

// ---- doubts: the places to check

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
    const theirs = other.texts[i], at = lower(theirs).indexOf(lower(now.core));
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
