// A live page inside a notebook: what is set in it is `values` of the widget, and the other way round.
const bridge = () => window.bellcrank.ready.then(page => {
  let last = "";
  const send = (bellcrank, values) => parent.postMessage({bellcrank, values}, "*");
  addEventListener("message", ({source, data}) => {
    if (source !== parent || !data || data.bellcrank !== "set") return;
    const now = page.settings(), known = [...page.facts.parameters, ...page.facts.signals].map(q => q.name);
    for (const [name, v] of Object.entries(data.values || {})) {
      if (known.includes(name) && Number.isFinite(v) && v !== now[name]) page.set(name, v);
    }
    last = null;
  });
  send("ready");
  setInterval(() => {
    const now = JSON.stringify(page.settings());
    if (last !== "" && now !== last) send("values", JSON.parse(now));
    if (last !== "") last = now;
  }, 250);
});

export default {
  render({model, el}) {
    const frame = document.createElement("iframe");
    const srcdoc = `${model.get("page")}<script>(${bridge})()</script>`;
    Object.assign(frame, {sandbox: "allow-scripts", title: model.get("title"), srcdoc});
    frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0`;
    const send = () => frame.contentWindow?.postMessage({bellcrank: "set", values: model.get("values")}, "*");
    const hear = ({source, data}) => {
      if (source !== frame.contentWindow || !data) return;
      if (data.bellcrank === "ready") send();
      if (data.bellcrank !== "values") return;
      model.set("values", data.values);
      model.save_changes();
    };
    addEventListener("message", hear);
    model.on("change:values", send);
    el.append(frame);
    return () => {
      removeEventListener("message", hear);
      model.off("change:values", send);
    };
  },
};
