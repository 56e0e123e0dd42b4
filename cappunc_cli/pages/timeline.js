// The timeline: bars for speech, as high as it is fast, above ticks for doubts; both binned, so that it stays readable.
const drawn = (name, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const timed = starts.some((s) => s !== null);
const first = timed ? starts.find((s) => s !== null) : 0;
const last = timed ? Math.max(first + 1, ...ends.slice(-200).map((e) => e ?? 0), ...starts.slice(-200).map((s) => s ?? 0)) : Math.max(count, 1);
const PITCH = 4, STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
const strip = { width: 0, height: 0, bins: 0, marker: drawn("path", { class: "here", d: "" }) };

// Where a word stands in the strip, from 0 to 1; a word without a time stands with the one before it.
const places = new Float64Array(count);
for (let i = 0, at = first; i < count; i++) {
  at = timed ? starts[i] ?? at : i;
  places[i] = Math.min(Math.max((at - first) / (last - first), 0), 1);
}
const binOf = (share) => Math.min(Math.floor(share * strip.bins), strip.bins - 1);

// Characters a second in each bin; without times, whether there is text.
const rates = () => {
  const found = new Float64Array(strip.bins), span = (last - first) / strip.bins;
  for (let i = 0; i < count; i++) {
    if (!timed) { found[binOf(places[i])] = 1; continue; }
    if (starts[i] === null) continue;
    const begin = starts[i] - first, stop = Math.max((ends[i] ?? starts[i] + 60 * texts[i].length) - first, begin + 1);
    const to = Math.min(Math.ceil(stop / span), strip.bins);
    for (let b = Math.max(Math.floor(begin / span), 0); b < to; b++) {
      const inside = Math.min(stop, (b + 1) * span) - Math.max(begin, b * span);
      found[b] += ((texts[i].length + 1) * inside) / (stop - begin) / span;
    }
  }
  return found;
};
const speech = () => {
  const found = rates(), sorted = [...found].filter(Boolean).sort((a, b) => a - b);
  const full = sorted[Math.floor(0.97 * (sorted.length - 1))] || 1, middle = (strip.height - 16) / 2 + 2;
  // Bins of many seconds are much alike: what is slowest there becomes a fifth of what is fastest.
  const least = Math.min(0.75, Math.max((sorted[Math.floor(0.03 * sorted.length)] / full - 0.2) / 0.8, 0));
  return [...found].map((rate, b) => {
    const half = timed ? Math.max(((Math.min(rate / full, 1) - least) / (1 - least)) * (middle - 4), 1) : rate * 5;
    return rate ? `M${PITCH * b + 2} ${(middle - half).toFixed(1)}v${(2 * half).toFixed(1)}` : `M${PITCH * b + 2} ${middle}h.01`;
  }).join("");
};
const tickPath = (counts, most) => [...counts].map((n, b) => (n ? `M${PITCH * b + 2} ${strip.height - 2}v-${(2 + (9 * n) / most).toFixed(1)}` : "")).join("");
const drawDoubts = () => {
  const open = new Uint16Array(strip.bins), checked = new Uint16Array(strip.bins);
  for (const i of stops) (seen.has(i) || decided.has(i) ? checked : open)[binOf(places[i])]++;
  const most = Math.max(4, ...open.map((n, b) => n + checked[b]));
  document.querySelector("#overview .open")?.setAttribute("d", tickPath(open, most));
  document.querySelector("#overview .checked")?.setAttribute("d", tickPath(checked.map((n, b) => (open[b] ? 0 : n)), most));
};
const drawHere = (i) => {
  if (!count) return;
  const x = PITCH * (binOf(places[i]) + 0.5);
  strip.marker.setAttribute("d", `M${x - 0.75} 0h1.5v${strip.height}h-1.5zM${x - 4} 0h8l-4 6z`);
};
const drawTimes = () => {
  const box = $("times");
  if (!timed) { box.textContent = ""; return; }
  const seconds = (last - first) / 1000, step = STEPS.find((s) => (s * strip.width) / seconds >= 72) || STEPS.at(-1);
  const marks = [];
  for (let at = Math.ceil(first / 1000 / step) * step; at <= last / 1000; at += step) {
    const share = (at - first / 1000) / seconds;
    if (strip.width * (1 - share) < 16) break;
    const mark = element("span", {}, clock(1000 * at));
    mark.style.left = `${100 * share}%`;
    if (strip.width * share < 18) mark.style.translate = "0 0";
    marks.push(mark);
  }
  box.replaceChildren(...marks);
};
const drawLegend = () => {
  const items = [["speech", timed ? "speech, higher is faster" : "text"]];
  if (stops.length) items.push(["open", "to check"], ["checked", "checked"]);
  if (data.stretches.length) items.push(["lack", "no marks or case yet"]);
  $("legend").replaceChildren(...items.map(([name, text]) => element("span", { class: name }, text)));
  const silent = pauses.filter((p) => p >= 1000).length;
  $("overview-told").textContent = `${count.toLocaleString("en")} words, ${silent} pauses of a second or more, ${stops.length} places to check`;
};
const drawStrip = () => {
  const svg = $("overview"), box = svg.getBoundingClientRect();
  if (!box.width || (box.width === strip.width && box.height === strip.height)) return;
  Object.assign(strip, { width: box.width, height: box.height, bins: Math.max(Math.floor(box.width / PITCH), 1) });
  svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const lacks = data.stretches.map(([from, to]) => {
    const x = places[from] * box.width, stop = to < count ? places[to] * box.width : box.width;
    return drawn("rect", { class: "lack", x, y: 1, width: Math.max(stop - x, 2), height: box.height - 16, rx: 3 });
  });
  const paths = ["speech", "checked", "open"].map((name) => drawn("path", { class: name, d: name === "speech" ? speech() : "" }));
  svg.replaceChildren(...lacks, ...paths, strip.marker);
  drawLegend();
  drawTimes();
  drawDoubts();
};
const wordAt = (ms) => {
  let low = 0, high = count - 1;
  while (low < high) { const mid = (low + high + 1) >> 1; if ((starts[mid] ?? Infinity) <= ms) low = mid; else high = mid - 1; }
  return low;
};
const wordUnder = (event) => {
  const box = $("overview").getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
  return timed ? wordAt(first + share * (last - first)) : Math.round(share * (count - 1));
};
