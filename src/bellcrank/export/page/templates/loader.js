"use strict";
(async () => {
  const told = document.getElementById("told"), packed = document.getElementById("packed").textContent;
  try {
    const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const all = await new Response(stream).arrayBuffer(), script = document.createElement("script");
    window.bellcrank = {module: all.slice(0, @MODULE@), numbers: all.slice(@MODULE@, @NUMBERS@)};
    script.textContent = new TextDecoder().decode(all.slice(@NUMBERS@));
    document.body.append(script);
  } catch (error) {
    told.textContent = `this browser cannot unpack the page: ${error}`;
    told.className = "bad";
  }
})();
