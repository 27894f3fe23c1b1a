"use strict";
(async () => {
  const told = document.getElementById("told"), packed = document.getElementById("packed").textContent;
  try {
    const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
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
