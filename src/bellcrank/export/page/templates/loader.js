"use strict";
(async () => {
  let done;
  const ready = new Promise(found => { done = found; });
  window.bellcrank = {ready};
  const told = document.getElementById("told"), packed = document.getElementById("packed").textContent;
  try {
    // Two characters for 13 bits.
    const bytes = new Uint8Array(@LENGTH@), last = "\"&<";
    const digit = c => (c > "{" ? last["|}~".indexOf(c)] : c).charCodeAt() - 33;
    for (let i = 0, n = 0, k = 0, bits; i < packed.length; i += 2) {
      bits = bits << 13 | 91*digit(packed[i]) + digit(packed[i + 1]);
      for (n += 13; n > 7;) bytes[k++] = bits >> (n -= 8);
    }
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const all = await new Response(stream).arrayBuffer(), script = document.createElement("script");
    const text = (...ends) => new TextDecoder().decode(all.slice(...ends));
    const facts = JSON.parse(text(@NUMBERS@, @FACTS@));
    window.bellcrank = {module: all.slice(0, @MODULE@), numbers: all.slice(@MODULE@, @NUMBERS@), facts, ready, done};
    document.getElementById("style").textContent = text(@FACTS@, @STYLE@);
    script.textContent = text(@STYLE@);
    document.body.append(script);
  } catch (error) {
    told.textContent = `this browser cannot unpack the page: ${error}`;
    told.className = "bad";
  }
})();
