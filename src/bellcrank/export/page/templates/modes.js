// A mode of the linear model as a source: the states go to and fro about the point, as far as can be seen well. An
// oscillation is shown without its damping, a mode without one as it decays, or grows backwards, again and again.
function mode(me, F, L, {label, re, im, omega, sigma}, poses) {
  const {y} = me, turns = omega !== 0, span = turns ? 2*Math.PI/Math.abs(omega) : 4/Math.abs(sigma);
  const shown = Math.min(4, Math.max(turns ? 1.2 : 2.5, span));  // s that a period takes
  let size = 0;
  const put = (share, amplitude) => {
    const c = turns ? Math.cos(2*Math.PI*share) : Math.exp(-4*share), s = turns ? Math.sin(2*Math.PI*share) : 0;
    for (let i = 0; i < y.length; i++) y[i] = L.y[i] + amplitude*(re[i]*c - im[i]*s);
    me.assemble();
    me.poses();
    return poses();
  };
  const far = (x, i) => Math.abs(x)*(i % 12 < 3 ? 1 : F.scene.reach);  // of a place, or an entry of a rotation
  const moved = (a, b) => Math.max(...a.map((x, i) => far(x - b[i], i)));
  const it = {
    label, t: 0, problem: "", window: span, unplotted: true,
    begin() {
      me.take(L.values);
      const small = 1e-4, rest = put(0, 0), ways = [0, 0.25].map(share => moved(put(share, small), rest)/small);
      size = 0.2*F.scene.reach/(Math.max(...ways) || Infinity);
      it.start();
    },
    start() { it.t = 0; },
    go(t) { it.t = t; },
    advance(passed, pace) { it.t += passed*pace*span/shown; },
    pose: () => put(it.t/span % 1, size),
    samples: () => [0, 0.25, 0.5, 0.75].map(share => put(share, size)),
  };
  return it;
}
