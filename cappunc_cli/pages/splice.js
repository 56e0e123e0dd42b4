"use strict";
// Makes the fixed file in a page without server: the source with the decided words in their places, or null if only
// cappunc can tell whether the words would be read back unchanged. `decided` holds [word, before, core, after], with
// words counted from 0 and the marks before and after the word proper. Tested against cappunc itself.
const splicedFile = ({ source, places, texts, around, spellings }, decided) => {
  const marks = new Set(spellings), kept = (after) => [...after].filter((c) => !marks.has(c) && !/\s/.test(c)).join("");
  const spaces = (text) => (text.match(/\s/g) || []).length;
  const lower = (core) => [...core].map((c) => ([...c.toLowerCase()].length === 1 ? c.toLowerCase() : c)).join("");
  let made = "", at = 0;
  for (const [i, before, core, after] of [...decided].sort((a, b) => places[a[0]] - places[b[0]])) {
    const start = places[i], was = texts[i], [head, tail] = around[i] || [0, 0];
    if (start === null || start === undefined || start < at || source.slice(start, start + was.length) !== was) return null;
    const wasBefore = was.slice(0, head), wasCore = was.slice(head, was.length - tail), wasAfter = was.slice(was.length - tail);
    if (before !== wasBefore && !["¿", "¡"].some((c) => before === wasBefore + c)) return null;
    if (lower(core) !== lower(wasCore) || core.length !== wasCore.length) return null;
    // A colon may make the word a speaker's name; an apostrophe may be part of the word.
    if (/[:：'’]/.test(after) || kept(after) !== kept(wasAfter) || spaces(after) > spaces(wasAfter)) return null;
    made += source.slice(at, start) + before + core + after;
    at = start + was.length;
  }
  return made + source.slice(at);
};
