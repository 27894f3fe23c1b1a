"use strict";
(async () => {
  const told = document.getElementById("told"), packed = document.getElementById("packed").textContent;
  try {
    // Five characters for four bytes.
    const bytes = new DataView(new ArrayBuffer(packed.length/5*4)), last = "\"&<";
    [...packed].reduce((sum, c, i) => {
      sum = 85*sum + (c > "u" ? last["vwx".indexOf(c)] : c).charCodeAt() - 33;
      return i % 5 < 4 ? sum : bytes.setUint32((i - 4)/5*4, sum) || 0;
    }, 0);
    const packed_bytes = new Blob([bytes.buffer.slice(0, @LENGTH@)]).stream();
    const stream = packed_bytes.pipeThrough(new DecompressionStream("deflate-raw"));
    const all = await new Response(stream).arrayBuffer(), script = document.createElement("script");
    const text = (...ends) => new TextDecoder().decode(all.slice(...ends));
    const facts = JSON.parse(text(@NUMBERS@, @FACTS@));
    window.bellcrank = {module: all.slice(0, @MODULE@), numbers: all.slice(@MODULE@, @NUMBERS@), facts};
    script.textContent = text(@FACTS@);
    document.body.append(script);
  } catch (error) {
    told.textContent = `this browser cannot unpack the page: ${error}`;
    told.className = "bad";
  }
})();
