// Live captions: the last words of a stream, in the size, number of lines and colours that the address asks for.
const asked = new URLSearchParams(location.search), source = JSON.parse(document.getElementById("data").textContent).source;
const box = document.getElementById("captions"), state = document.getElementById("state"), KEPT = 4000, WAITS = [1, 2, 5, 10];
const looks = { size: "--size", lines: "--lines", colour: "--colour", color: "--colour", background: "--behind" };
for (const [name, property] of Object.entries(looks)) {
  const value = asked.get(name);
  if (value) document.documentElement.style.setProperty(property, name === "size" && /^[\d.]+$/.test(value) ? `${value}vh` : value);
}
let text = "", tries = 0;
const show = () => { box.firstElementChild.textContent = text.trim(); };
const wordOf = (line) => {
  try { const { word, text: said, error } = JSON.parse(line); return error ? "" : word ?? said ?? ""; } catch { return ""; }
};
const add = (piece) => {
  const isJson = piece.trimStart().startsWith("{");
  text += isJson ? piece.split("\n").map(wordOf).map((word) => (word ? ` ${word.trim()}` : "")).join("") : piece;
  text = text.replace(/\s+/g, " ").slice(-KEPT);
  show();
};
const connect = () => {
  const address = new URL(asked.get("source") ?? source, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address);
  socket.onopen = () => { tries = 0; state.hidden = true; };
  socket.onmessage = (event) => add(event.data);
  socket.onclose = () => {
    state.hidden = asked.has("quiet");
    setTimeout(connect, 1000 * WAITS[Math.min(tries++, WAITS.length - 1)]);
  };
};
show();
connect();
