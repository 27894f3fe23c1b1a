// Search from a disk: browsers start no worker of a file. Here its script runs in a hidden frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = Object.assign(document.createElement("iframe"), {hidden: true}), home = new URL(address, location);
      this.started = new Promise(done => {
        const start = () => {
          document.body.append(frame);
          const w = frame.contentWindow, load = url => new Promise((loaded, failed) => {
            const script = w.document.createElement("script");
            Object.assign(script, {src: new URL(url, home), onload: loaded, onerror: failed});
            w.document.body.append(script);
          });
          w.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => load(url)), Promise.resolve());
          w.postMessage = data => this.tell(data);
          load(home).then(() => done(w));
        };
        if (document.body) start();
        else addEventListener("DOMContentLoaded", start);
      });
      this.terminate = () => frame.remove();
    }
    tell(data) {
      const event = new MessageEvent("message", {data});
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      this.started.then(w => {
        const event = new w.MessageEvent("message", {data});
        w.dispatchEvent(event);
      });
    }
  };
}
