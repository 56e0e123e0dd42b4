// Filter the mistakes by class, and show them a hundred at a time.
const rows = [...document.querySelectorAll('#mistakes li')], more = document.getElementById('more');
let group = '', shown = 100;
function draw() {
  let n = 0;
  for (const row of rows) {
    const fits = !group || row.dataset.group === group;
    if (fits) n++;
    row.hidden = !fits || n > shown;
  }
  more.hidden = n <= shown;
}
document.querySelectorAll('.filter button').forEach(b => b.onclick = () => {
  group = b.dataset.group; shown = 100;
  document.querySelectorAll('.filter button').forEach(o => o.setAttribute('aria-pressed', o === b));
  draw();
});
more.onclick = () => { shown += 400; draw(); };
draw();
