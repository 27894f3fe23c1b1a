// The mechanism in motion, by WebGL. S: the scene; `poses` and `marks` are numbers of the memory: where bodies are, and
// points of theirs along their axes. Returns fit(poses of several times), which chooses the view, draw(), and seen():
// where the outermost point of a body is, 1 at the edge of the view.
function scene(canvas, S, poses, marks) {
  const g = canvas.getContext("webgl", {antialias: true, preserveDrawingBuffer: true});  // it is printed, too
  if (!g) {
    const said = {className: "note", textContent: "no WebGL here: plots only"};
    canvas.replaceWith(Object.assign(document.createElement("p"), said));
    return {fit() {}, draw() {}, seen: () => 0};
  }
  const sub = (a, b) => a.map((x, i) => x - b[i]), dot = (a, b) => a[0]*b[0] + a[1]*b[1] + a[2]*b[2];
  const cross = (a, b) => [a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]];
  const unit = a => {
    const size = Math.hypot(...a) || 1;
    return a.map(x => x/size);
  };
  const shader = (kind, text) => {
    const s = g.createShader(kind);
    g.shaderSource(s, text);
    g.compileShader(s);
    if (!g.getShaderParameter(s, g.COMPILE_STATUS)) throw Error(g.getShaderInfoLog(s));
    return s;
  };
  let P, at;
  const begin = () => {  // again when a browser took the graphics away and gives them back
    P = g.createProgram();
    g.attachShader(P, shader(g.VERTEX_SHADER, "attribute vec3 a,n;uniform mat3 A,M;uniform vec3 c,d;uniform vec4 s;"
      + "varying vec3 N;void main(){N=A*M*n;vec3 e=A*(M*a+d-c);gl_Position=vec4(e.xy*s.xy,-e.z*s.w,1.-e.z*s.z);}"));
    g.attachShader(P, shader(g.FRAGMENT_SHADER, "precision mediump float;varying vec3 N;uniform vec4 C;void main(){"
      + "float l=C.a<.5?1.:.62+.42*clamp(dot(normalize(N),vec3(-.35,.55,.76)),0.,1.);gl_FragColor=vec4(C.rgb*l,1.);}"));
    g.bindAttribLocation(P, 0, "a");
    g.bindAttribLocation(P, 1, "n");
    g.linkProgram(P);
    g.useProgram(P);
    g.enable(g.DEPTH_TEST);
    at = Object.fromEntries(["A", "M", "c", "d", "s", "C"].map(name => [name, g.getUniformLocation(P, name)]));
  };
  begin();
  canvas.addEventListener("webglcontextlost", event => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", begin);
  const mesh = (numbers, mode = g.TRIANGLES) => ({numbers: new Float32Array(numbers), mode});
  const quad = (out, a, b, c, d, n) => [0, 1, 2, 0, 2, 3].forEach(i =>
    out.push(...[a, b, c, d][i], ...(n.length === 4 ? n[i] : n)));
  const ring = (k, sides) => [Math.cos(k*2*Math.PI/sides), Math.sin(k*2*Math.PI/sides)];
  const box = [], rod = [], ball = [], coil = [], SIDES = 20;
  for (let i = 0; i < 3; i++) for (const s of [-1, 1]) {
    const corner = (a, b) => [0, 1, 2].map(j => (j === i ? s : j === (i + 1) % 3 ? a : b)/2);
    quad(box, corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), [0, 1, 2].map(j => j === i ? s : 0));
  }
  for (let k = 0; k < SIDES; k++) {
    const [a, b] = [ring(k, SIDES), ring(k + 1, SIDES)], n = [...a, 0], o = [...b, 0];
    quad(rod, [...a, -0.5], [...b, -0.5], [...b, 0.5], [...a, 0.5], [n, o, o, n]);
    for (const z of [-0.5, 0.5]) rod.push(0, 0, z, 0, 0, 2*z, ...a, z, 0, 0, 2*z, ...b, z, 0, 0, 2*z);
    for (let j = 0; j < SIDES/2; j++) {
      const q = (p, i) => [p[0]*ring(i, SIDES)[1], p[1]*ring(i, SIDES)[1], ring(i, SIDES)[0]];
      const four = [q(a, j), q(b, j), q(b, j + 1), q(a, j + 1)];
      quad(ball, ...four, four);
    }
  }
  const wound = i => {  // a spring of length and radius one
    const share = i/100, inside = share > 0.12 && share < 0.88, turn = (share - 0.12)/0.76*14*Math.PI;
    return [inside ? Math.cos(turn) : 0, inside ? Math.sin(turn) : 0, share - 0.5];
  };
  for (let i = 0; i < 100; i++) for (let k = 0; k < 5; k++) {
    const around = (p, j) => {
      const [a, b] = ring(j, 5);  // about the wire, which at the ends lies on the axis
      return p[0] || p[1] ? [p[0]*(1 + 0.12*a), p[1]*(1 + 0.12*a), p[2] + 0.012*b] : [0.12*a, 0.12*b, p[2]];
    };
    const [p, q] = [wound(i), wound(i + 1)], n = [...unit([p[0], p[1], 0.2]).slice(0, 2), 0.5];
    quad(coil, around(p, k), around(q, k), around(q, k + 1), around(p, k + 1), n);
  }
  const kinds = {box: mesh(box), rod: mesh(rod), sphere: mesh(ball), coil: mesh(coil)};
  const shell = item => {
    const out = [];
    for (const face of item.faces) {
      const p = face.map(i => item.points[i]), n = unit(cross(sub(p[1], p[0]), sub(p[2], p[0])));
      for (let i = 2; i < p.length; i++) [p[0], p[i - 1], p[i]].forEach(x => out.push(...x, ...n));
    }
    return mesh(out);
  };
  const items = S.items.map(item => ({...item, rgb: [1, 3, 5].map(i => parseInt(item.color.slice(i, i + 2), 16)/255),
    own: item.faces ? shell(item) : null}));
  const turned = (body, of) => body < 0 ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : of.subarray(12*body + 3, 12*body + 12);
  const times = (R, v) => [0, 1, 2].map(i => R[3*i]*v[0] + R[3*i + 1]*v[1] + R[3*i + 2]*v[2]);
  const place = (k, of) => {
    const body = S.marks[k], v = times(turned(body, of), marks.subarray(3*k, 3*k + 3));
    return body < 0 ? v : v.map((x, i) => x + of[12*body + i]);
  };
  // The view: directions on the screen, the point looked at, half of what is shown.
  const first = [0, 1, 2].map(i => S.axes.slice(3*i, 3*i + 3));
  let axes = first, centre = [0, 0, 0], half = [S.reach, S.reach], follows = false, zoom = 1, spin = 0, tilt = 0;
  let widest = 0, began = null;
  const look = () => {
    const about = (v, n, angle) => {
      const c = Math.cos(angle), s = Math.sin(angle), w = cross(n, v), k = dot(n, v)*(1 - c);
      return v.map((x, i) => x*c + w[i]*s + n[i]*k);
    };
    axes = first.map(v => about(v, S.up, spin));
    const right = axes[0];
    axes = axes.map(v => about(v, right, tilt));
  };
  const fit = samples => {
    began = samples[0];
    const body = of => Array.from(of.subarray(0, 3)), start = samples[0].length ? body(samples[0]) : null;
    const travel = start ? samples.map(of => Math.max(...sub(body(of), start).map(Math.abs))) : [0];
    follows = Math.max(...travel) > 3*S.reach;
    const near = of => items.every(item => item.marks.every(k => Math.hypot(...place(k, of)) < 6*S.reach + home));
    const home = Math.max(0, ...items.flatMap(item => item.marks.map(k => Math.hypot(...place(k, samples[0])))));
    if (!follows) samples = samples.filter((of, i) => i === 0 || near(of));  // what flies off is not followed
    const used = [...new Set(items.flatMap(item => item.marks))].filter(k => !follows || S.marks[k] >= 0);
    const radius = k => Math.max(0, ...items.filter(item => item.marks.includes(k)).map(item => Math.max(...item.size)/
      (item.kind === "box" ? 2 : 1)));
    const sizes = new Map(used.map(k => [k, Math.min(radius(k), S.reach)]));
    const gone = of => follows ? sub(body(of), start) : [0, 0, 0];
    const seen = samples.flatMap(of => used.map(k => [sub(place(k, of), gone(of)), sizes.get(k)]))
      .filter(([p]) => p.every(Number.isFinite));
    if (!seen.length) return;
    const ends = axis => [-1, 1].map(way => way*Math.max(...seen.map(([p, r]) => way*dot(p, axis) + r)));
    const spans = first.map(ends), middle = spans.map(([a, b]) => (a + b)/2);
    centre = [0, 1, 2].map(i => first.reduce((sum, axis, j) => sum + axis[i]*middle[j], 0));
    if (follows) centre = sub(centre, start);
    half = spans.map(([a, b]) => (S.ground ? 0.75 : 0.55)*(b - a) || S.reach);
    widest = 6*Math.max(...half);
  };
  const draw_one = (kind, M, d, rgb, lit = 1) => {
    const known = kind.of === P;
    if (!known) [kind.of, kind.buffer] = [P, g.createBuffer()];
    g.bindBuffer(g.ARRAY_BUFFER, kind.buffer);
    if (!known) g.bufferData(g.ARRAY_BUFFER, kind.numbers, g.STATIC_DRAW);
    g.enableVertexAttribArray(0);
    g.enableVertexAttribArray(1);
    g.vertexAttribPointer(0, 3, g.FLOAT, false, 24, 0);
    g.vertexAttribPointer(1, 3, g.FLOAT, false, 24, 12);
    g.uniformMatrix3fv(at.M, false, M);
    g.uniform3fv(at.d, d);
    g.uniform4f(at.C, ...rgb, lit);
    g.drawArrays(kind.mode, 0, kind.numbers.length/6);
  };
  const between = (a, b, r, kind, rgb) => {  // along the third axis of a shape
    const along = sub(b, a), z = unit(along);
    if (!(Math.hypot(...along) > 0)) return;
    const small = [0, 1, 2].reduce((best, i) => Math.abs(z[i]) < Math.abs(z[best]) ? i : best, 0);
    const x = unit(cross([0, 1, 2].map(i => Number(i === small)), z)), y = cross(z, x);
    draw_one(kind, [...x.map(v => v*r), ...y.map(v => v*r), ...along], a.map((v, i) => (v + b[i])/2), rgb);
  };
  // Ground: strips across the way and lines on it; a plane goes along with the view.
  const hills = () => {  // ground over x and y
    const {along, up, way, height, across} = S.ground, side = cross(up, along), fill = [], lines = [];
    const high = (i, j) => height[i*across.length + j];
    const point = (i, j) => along.map((_, k) => way[i]*along[k] + across[j]*side[k] + high(i, j)*up[k]);
    way.forEach((_, i) => across.forEach((_, j) => {
      const ahead = i + 1 < way.length, left = j + 1 < across.length, a = point(i, j);
      if (ahead) lines.push(...a, 0, 0, 1, ...point(i + 1, j), 0, 0, 1);
      if (left) lines.push(...a, 0, 0, 1, ...point(i, j + 1), 0, 0, 1);
      if (ahead && left) quad(fill, a, point(i + 1, j), point(i + 1, j + 1), point(i, j + 1), up);
    }));
    return {fill: mesh(fill), lines: mesh(lines, g.LINES), place: () => [0, 0, 0]};
  };
  const lay = () => {
    if (S.ground.across) return hills();
    const {along, up, way, height} = S.ground, side = cross(up, along), wide = 20*S.reach;
    const power = 10**Math.floor(Math.log10(S.reach)), lead = S.reach/power, flat = way.length === 2;
    const every = power*(lead < 2 ? 0.5 : lead < 5 ? 1 : 2), fill = [], lines = [];
    const slope = (height[1] - height[0])/(way[1] - way[0]);
    const parts = Array.from({length: 41}, (_, k) => (k - 20)*wide/20);  // what is cut off behind the eye is short
    const xs = flat ? parts : way, zs = flat ? xs.map(x => slope*x) : height;
    const point = (x, z, y) => along.map((_, i) => x*along[i] + z*up[i] + y*side[i]);
    for (let i = 1; i < xs.length; i++) {
      const corners = [[i - 1, -wide], [i, -wide], [i, wide], [i - 1, wide]].map(([k, y]) => point(xs[k], zs[k], y));
      quad(fill, ...corners, up);
    }
    const line = (a, b) => lines.push(...a, 0, 0, 1, ...b, 0, 0, 1);
    for (let y = -Math.floor(wide/every)*every; y <= wide; y += every)
      for (let i = 1; i < xs.length; i++) line(point(xs[i - 1], zs[i - 1], y), point(xs[i], zs[i], y));
    const lots = Math.floor(wide/every), whole = Array.from({length: 2*lots + 1}, (_, k) => (k - lots)*every);
    const across = flat ? whole : xs;
    across.forEach((x, k) => {
      if (!flat && k % 4) return;
      const z = flat ? slope*x : zs[k];
      for (let i = 1; i < parts.length; i++) line(point(x, z, parts[i - 1]), point(x, z, parts[i]));
    });
    return {fill: mesh(fill), lines: mesh(lines, g.LINES), place: eye => {
      const x = flat ? Math.round(dot(eye, along)/every)*every : 0, y = Math.round(dot(eye, side)/every)*every;
      return point(x, flat ? height[0] + slope*(x - way[0]) : 0, y);
    }};
  };
  let ground = S.ground && lay();
  const turn = (x, y) => {
    spin -= x;
    tilt = Math.max(-1.5, Math.min(1.5, tilt - y));
    look();
  };
  const nearer = factor => { zoom = Math.max(0.05, Math.min(20, zoom*factor)); };
  const whole = () => {
    [zoom, spin, tilt] = [1, 0, 0];
    look();
  };
  const fingers = new Map(), apart = () => {
    const [a, b] = fingers.values();
    return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  };
  canvas.onpointerdown = event => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
  };
  canvas.onpointerup = canvas.onpointercancel = event => fingers.delete(event.pointerId);
  canvas.onpointermove = event => {
    const before = fingers.get(event.pointerId), now = [event.clientX, event.clientY];
    if (!before) return;
    const wide = fingers.size === 2 ? apart() : 0;
    fingers.set(event.pointerId, now);
    if (wide) nearer(wide/apart());
    else if (fingers.size === 1) turn((now[0] - before[0])*0.01, (now[1] - before[1])*0.01);
  };
  canvas.ondblclick = whole;
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    nearer(Math.exp(event.deltaY*0.001));
  }, {passive: false});
  const WAYS = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]};
  canvas.onkeydown = event => {
    const way = event.shiftKey && WAYS[event.key], key = {"+": 0.8, "=": 0.8, "-": 1.25}[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey || !(way || key || event.key === "Home")) return;
    if (way) turn(...way);
    else if (key) nearer(key);
    else whole();
    event.preventDefault();
  };
  const lens = () => {
    const ratio = canvas.height/canvas.width, scale = 1/(zoom*Math.max(half[0]*ratio, half[1]));
    const size = Math.max(...half)*zoom, eye = follows ? centre.map((x, i) => x + poses[i]) : centre;
    return {eye, numbers: [scale*ratio, scale, S.flat ? 0 : 1/(6*size), 1/(60*size)]};
  };
  const seen = () => {
    const {eye, numbers: [wide, high, deep]} = lens(), used = new Set(items.flatMap(item => item.marks));
    return Math.max(0, ...[...used].filter(k => S.marks[k] >= 0).flatMap(k => {
      const [x, y, z] = axes.map(a => dot(a, sub(place(k, poses), eye)));
      return [wide*x, high*y].map(v => Math.abs(v/(1 - deep*z)));
    }));
  };
  const travelled = () => Math.max(...[0, 1, 2].map(i => Math.abs(poses[i] - began[i])));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const ratio = devicePixelRatio || 1;
    const [W, H] = [canvas.clientWidth, canvas.clientHeight].map(x => Math.round(x*ratio));
    if (canvas.width !== W || canvas.height !== H) [canvas.width, canvas.height] = [W, H];
    g.viewport(0, 0, W, H);
    g.clearColor(...(dark.matches ? [0.08, 0.095, 0.115] : [0.975, 0.98, 0.985]), 1);
    g.clear(g.COLOR_BUFFER_BIT | g.DEPTH_BUFFER_BIT);
    if (began && began.length && !follows && travelled() > 3*S.reach) fit([began, poses.slice(0, began.length)]);
    const out = zoom === 1 ? 1.05*seen() : 0;  // as far as nobody foresaw
    if (out > 1.05 && out*Math.max(...half) < widest) half = half.map(x => x*out);
    const {eye, numbers} = lens();
    g.uniformMatrix3fv(at.A, false, [0, 1, 2].flatMap(i => axes.map(a => a[i])));
    g.uniform3fv(at.c, eye);
    g.uniform4f(at.s, ...numbers);
    const tone = rgb => dark.matches ? rgb.map(x => 0.25 + 0.75*x) : rgb;
    if (ground) {
      if (S.ground.moved && S.ground.moved(eye)) {
        for (const old of [ground.fill, ground.lines]) g.deleteBuffer(old.buffer);
        ground = lay();
      }
      const d = ground.place(eye), M = [1, 0, 0, 0, 1, 0, 0, 0, 1];
      g.depthMask(false);  // all else stands before it
      draw_one(ground.fill, M, d, dark.matches ? [0.13, 0.14, 0.15] : [0.925, 0.918, 0.894], 0);
      draw_one(ground.lines, M, d, dark.matches ? [0.25, 0.27, 0.29] : [0.8, 0.785, 0.74], 0);
      g.depthMask(true);
    }
    for (const {kind, marks: listed, size: [a, b, c], axes: own, rgb, own: shape} of items) {
      const where = listed.map(k => place(k, poses)), toned = tone(rgb);
      if (!where.flat().every(Number.isFinite)) continue;
      if (kind === "rod") between(where[0], where[1], a, kinds.rod, toned);
      else if (kind === "coil") {
        between(where[0], where[1], Math.min(a, Math.hypot(...sub(where[1], where[0]))/2), kinds.coil, toned);
      } else if (kind === "line") {
        for (let i = 1; i < where.length; i++) between(where[i - 1], where[i], a/2, kinds.rod, toned);
      } else {
        const R = turned(S.marks[listed[0]], poses), Q = own || [1, 0, 0, 0, 1, 0, 0, 0, 1];
        const columns = [0, 1, 2].map(j => times(R, [Q[j], Q[3 + j], Q[6 + j]]));
        const by = kind === "box" ? [a, b, c] : kind === "cylinder" ? [a, a, b] : [a, a, a];
        const shown = shape || (kind === "cylinder" ? kinds.rod : kinds[kind]);
        draw_one(shown, columns.flatMap((v, j) => v.map(x => x*by[j])), where[0], toned);
      }
    }
  };
  return {fit, draw, seen};
}
