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
  const linked = (vertex, fragment, names) => {
    const P = g.createProgram();
    g.attachShader(P, shader(g.VERTEX_SHADER, vertex));
    g.attachShader(P, shader(g.FRAGMENT_SHADER, fragment));
    ["a", "n"].forEach((name, i) => g.bindAttribLocation(P, i, name));
    g.linkProgram(P);
    return {P, ...Object.fromEntries(names.map(name => [name, g.getUniformLocation(P, name)]))};
  };
  let lit, ground;  // programs of the graphics, made again when a browser took them away and gives them back
  const begin = () => {
    lit = linked("attribute vec3 a,n;uniform mat3 A,M;uniform vec3 c,d;uniform vec4 s;varying vec3 N;void main(){"
      + "N=M*(n/vec3(dot(M[0],M[0]),dot(M[1],M[1]),dot(M[2],M[2])));vec3 e=A*(M*a+d-c);"
      + "gl_Position=vec4(e.xy*s.xy,-e.z*s.w,1.-e.z*s.z);}",
      "precision mediump float;varying vec3 N;uniform vec3 U,L,E;uniform vec4 C;void main(){vec3 n=normalize(N);"
      + "if(dot(n,E)<0.)n=-n;float l=.5+.18*(.5+.5*dot(n,U))+.4*max(dot(n,L),0.);"
      + "gl_FragColor=vec4(C.rgb*l+.12*pow(max(dot(n,normalize(L+E)),0.),24.),C.a);}",
      ["A", "M", "c", "d", "s", "C", "U", "L", "E"]);
    g.enable(g.DEPTH_TEST);
    g.depthFunc(g.LEQUAL);
    g.blendFuncSeparate(g.SRC_ALPHA, g.ONE_MINUS_SRC_ALPHA, g.ONE, g.ONE);
    ground = S.ground ? floor(g, S, linked, draw_one, mesh, sun) : null;
  };
  canvas.addEventListener("webglcontextlost", event => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => begin());
  const mesh = numbers => ({numbers: new Float32Array(numbers)});
  const quad = (out, a, b, c, d, n) => [0, 1, 2, 0, 2, 3].forEach(i =>
    out.push(...[a, b, c, d][i], ...(n.length === 4 ? n[i] : n)));
  const ring = (k, sides) => [Math.cos(k*2*Math.PI/sides), Math.sin(k*2*Math.PI/sides)];
  const box = [], SIDES = 48;
  for (let i = 0; i < 3; i++) for (const s of [-1, 1]) {
    const corner = (a, b) => [0, 1, 2].map(j => (j === i ? s : j === (i + 1) % 3 ? a : b)/2);
    quad(box, corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), [0, 1, 2].map(j => j === i ? s : 0));
  }
  // An outline (radius, along the axis) turned about its axis; round where pieces meet at a small angle.
  const lathe = (outline, sides = SIDES, crease = 0.75) => {
    const out = [], flat = outline.slice(1).map(([r, z], i) => unit([z - outline[i][1], outline[i][0] - r, 0]));
    flat.forEach((n, i) => {
      const ends = [i - 1, i + 1].map(j =>
        flat[j] && dot(n, flat[j]) > crease ? unit(n.map((x, k) => x + flat[j][k])) : n);
      for (let k = 0; k < sides; k++) {
        const at = (j, [r, z]) => [r*ring(j, sides)[0], r*ring(j, sides)[1], z], [p, q] = [outline[i], outline[i + 1]];
        quad(out, at(k, p), at(k + 1, p), at(k + 1, q), at(k, q),
          [at(k, ends[0]), at(k + 1, ends[0]), at(k + 1, ends[1]), at(k, ends[1])]);
      }
    });
    return out;
  };
  const polar = Array.from({length: 25}, (_, i) => [Math.sin(i*Math.PI/24), -Math.cos(i*Math.PI/24)]);
  const rod = lathe([[0, -0.5], [1, -0.5], [1, 0.5], [0, 0.5]]);
  const kinds = {box: mesh(box), rod: mesh(rod), sphere: mesh(lathe(polar, 32, -1))};
  kinds.cylinder = kinds.rod;
  const tools = {sub, cross, dot, unit, mesh, box, rod, lathe, quad, ring};
  if (S.coils) kinds.coil = coil(tools);
  if (S.wheels) Object.assign(kinds, wheels(tools));
  const shells_of = (S.meshes || []).map(x => ({...shell(x, tools), points: x.points}));
  const items = S.items.map(item => ({...item, rgb: [1, 3, 5].map(i => parseInt(item.color.slice(i, i + 2), 16)/255),
    own: shells_of[item.mesh]}));
  const turned = (body, of) => body < 0 ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : of.subarray(12*body + 3, 12*body + 12);
  const times = (R, v) => [0, 1, 2].map(i => R[3*i]*v[0] + R[3*i + 1]*v[1] + R[3*i + 2]*v[2]);
  const place = (k, of, from = marks) => {
    const body = S.marks[k], v = times(turned(body, of), from.subarray(3*k, 3*k + 3));
    return body < 0 ? v : v.map((x, i) => x + of[12*body + i]);
  };
  // Points within whose radii all is: [mark, from there along the axes of its body, radius].
  const outline = items.flatMap(({kind, marks: listed, size, axes: Q, own}) => {
    const [a, b] = size, most = Math.min(S.reach, Math.max(...size));
    const half = kind === "box" ? size.map(x => x/2) : b && listed.length < 2 ? [a, a, b/2] : null;
    if (!own && !half) return listed.map(k => [k, [0, 0, 0], most]);
    const ends = half ? half.map(x => [-x, x]) : [0, 1, 2].map(i => [Math.min, Math.max].map(f =>
      own.points.reduce((found, x, j) => j % 3 === i ? f(found, x*a) : found, 0)));
    return Array.from({length: 8}, (_, c) => ends.map((e, i) => e[c >> i & 1]))
      .map(v => [listed[0], Q ? times(Q, v) : v, 0]);
  });
  const spot = ([k, v], of) => {
    const more = times(turned(S.marks[k], of), v);
    return place(k, of).map((x, i) => x + more[i]);
  };
  // The view: directions on the screen, the point looked at, half of what is shown.
  const first = [0, 1, 2].map(i => S.axes.slice(3*i, 3*i + 3));
  let axes = first, centre = [0, 0, 0], half = [S.reach, S.reach], follows = false, zoom = 1, spin = 0, tilt = 0;
  const far = S.ground || outline.every(([k]) => S.marks[k] >= 0) ? 3 : 20;  // more where the ground holds something
  let wider = 1, began = null, fitted = [], known = 0;  // known: how far fitted poses reach
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
    follows = Math.max(...travel) > far*S.reach;
    const used = outline.filter(([k]) => !follows || S.marks[k] >= 0);
    const gone = of => follows ? sub(body(of), start) : [0, 0, 0];
    const boxes = samples.map(of => {  // along the first directions on the screen: [low, high] of each
      const seen = used.map(x => [sub(spot(x, of), gone(of)), x[2]]).filter(([p]) => p.every(Number.isFinite));
      return first.map(axis => [-1, 1].map(way => way*Math.max(...seen.map(([p, r]) => way*dot(p, axis) + r))));
    }).filter(box => box.flat().every(Number.isFinite));
    if (!boxes.length) return;
    const size = box => Math.hypot(...box.map(([a, b]) => b - a)), all = boxes.map(size).sort((a, b) => a - b);
    const room = Math.max(all[0], size(boxes[0]), 2*Math.min(all[all.length >> 1], size(boxes[0])));
    const away = box => Math.hypot(...box.map(([a, b], i) => (a + b - boxes[0][i][0] - boxes[0][i][1])/2));
    const usual = boxes.filter((box, i) => !i || size(box) <= room && away(box) <= 2*room);  // not the extreme
    const spans = [0, 1, 2].map(i => [Math.min(...usual.map(b => b[i][0])), Math.max(...usual.map(b => b[i][1]))]);
    const middle = spans.map(([a, b]) => (a + b)/2);
    centre = [0, 1, 2].map(i => first.reduce((sum, axis, j) => sum + axis[i]*middle[j], 0));
    if (follows) centre = sub(centre, start);
    half = spans.map(([a, b]) => (S.flat ? 0.55 : 0.62)*(b - a)*(S.room || 1) || S.reach);
    [fitted, known] = [samples, 0];
  };
  const draw_one = (kind, M, d, color, at) => {
    if (at.hit) return at.hit(kind.numbers, M, d);
    const known = kind.of === lit;
    if (!known) [kind.of, kind.buffer] = [lit, g.createBuffer()];
    g.bindBuffer(g.ARRAY_BUFFER, kind.buffer);
    if (!known) g.bufferData(g.ARRAY_BUFFER, kind.numbers, g.STATIC_DRAW);
    [0, 1].forEach(i => {
      g.enableVertexAttribArray(i);
      g.vertexAttribPointer(i, 3, g.FLOAT, false, 24, 12*i);
    });
    g.uniformMatrix3fv(at.M, false, M);
    g.uniform3fv(at.d, d);
    if (at.C) g.uniform4fv(at.C, color);
    g.drawArrays(g.TRIANGLES, 0, kind.numbers.length/6);
  };
  const between = (a, b, r, kind, color, at) => {  // along the third axis of a shape
    const along = sub(b, a), z = unit(along);
    if (!(Math.hypot(...along) > 0)) return;
    const small = [0, 1, 2].reduce((best, i) => Math.abs(z[i]) < Math.abs(z[best]) ? i : best, 0);
    const x = unit(cross([0, 1, 2].map(i => Number(i === small)), z)), y = cross(z, x);
    draw_one(kind, [...x.map(v => v*r), ...y.map(v => v*r), ...along], a.map((v, i) => (v + b[i])/2), color, at);
  };
  const draw_items = (some, at, tone = rgb => rgb, of = poses, from = marks, alpha = clear) => some.forEach(item => {
    const {kind, marks: listed, size: [a, b, c], axes: own, rgb, own: shape} = item;
    const where = listed.map(k => place(k, of, from)), color = [...tone(rgb), alpha(item)];
    if (!where.flat().every(Number.isFinite)) return;
    if (kind === "rod") between(where[0], where[1], a, kinds.rod, color, at);
    else if (kind === "coil") {
      between(where[0], where[1], Math.min(a, Math.hypot(...sub(where[1], where[0]))/2), kinds.coil, color, at);
    } else if (kind === "line") {
      for (let i = 1; i < where.length; i++) between(where[i - 1], where[i], a/2, kinds.rod, color, at);
    } else {
      const R = turned(S.marks[listed[0]], of), Q = own || [1, 0, 0, 0, 1, 0, 0, 0, 1];
      const columns = [0, 1, 2].map(j => times(R, [Q[j], Q[3 + j], Q[6 + j]]));
      const by = kind === "box" ? [a, b, c] : kind === "sphere" || shape ? [a, a, a] : [a, a, b];
      draw_one(shape || kinds[kind], columns.flatMap((v, j) => v.map(x => x*by[j])), where[0], color, at);
    }
  });
  let shells = true;  // what one sees through, or else what usually hides the rest
  const clear = ({opacity = 1, own, marks: [k]}) =>
    shells ? opacity : opacity < 1 ? 1 : own && S.marks[k] >= 0 ? 0.3 : 1;
  const sun = [0, 1, 2].map(i => -0.35*first[0][i] + 0.55*first[1][i] + 0.76*first[2][i]);
  begin();
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
    const other = ["Home", "x"].includes(event.key);
    if (event.ctrlKey || event.altKey || event.metaKey || !(way || key || other)) return;
    if (way) turn(...way);
    else if (event.key === "x") shells = !shells;
    else if (key) nearer(key);
    else whole();
    event.preventDefault();
  };
  const lens = (of = poses) => {
    const ratio = canvas.height/canvas.width, scale = 1/(wider*zoom*Math.max(half[0]*ratio, half[1]));
    const size = Math.max(...half)*zoom*wider, eye = follows ? centre.map((x, i) => x + of[i]) : centre;
    return {eye, size, numbers: [scale*ratio, scale, S.flat ? 0 : 1/(6*size), 1/(60*size)]};
  };
  const seen = (of = poses) => {
    const {eye, numbers: [wide, high, deep]} = lens(of);
    return Math.max(0, ...outline.filter(([k]) => S.marks[k] >= 0).flatMap(point => {
      const [x, y, z] = axes.map(a => dot(a, sub(spot(point, of), eye)));
      return [wide*x, high*y].map(v => Math.abs(v/(1 - deep*z)));
    }));
  };
  const travelled = () => Math.max(...[0, 1, 2].map(i => Math.abs(poses[i] - began[i])));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // What one sees through: the nearest layer of it alone.
  const veiled = (...given) => {
    g.colorMask(false, false, false, false);
    draw_items(...given);
    g.colorMask(true, true, true, true);
    g.enable(g.BLEND);
    draw_items(...given);
    g.disable(g.BLEND);
  };
  // `ghost`: poses and marks of another run at this time, or null.
  const draw = ghost => {
    const ratio = devicePixelRatio || 1;
    const [W, H] = [canvas.clientWidth, canvas.clientHeight].map(x => Math.round(x*ratio));
    if (canvas.width !== W || canvas.height !== H) [canvas.width, canvas.height, known] = [W, H, 0];
    g.viewport(0, 0, W, H);
    const back = dark.matches ? [0.08, 0.095, 0.115] : [0.975, 0.98, 0.985];
    g.clearColor(...back, 1);
    g.clear(g.COLOR_BUFFER_BIT | g.DEPTH_BUFFER_BIT);
    if (began && began.length && !follows && travelled() > far*S.reach) fit([began, poses.slice(0, began.length)]);
    wider = 1;
    if (!known) known = Math.max(1, ...fitted.map(of => seen(of)).filter(Number.isFinite));
    if (zoom === 1) wider = Math.min(3, Math.max(1, 1.05*seen()/known));  // as far as nobody foresaw
    const {eye, size, numbers} = lens(), night = dark.matches;
    const view = at => {
      g.useProgram(at.P);
      g.uniformMatrix3fv(at.A, false, [0, 1, 2].flatMap(i => axes.map(a => a[i])));
      g.uniform3fv(at.c, eye);
      g.uniform4f(at.s, ...numbers);
    };
    if (ground) ground.draw(eye, size, view, at => draw_items(items, at), [W, H], back);
    view(lit);
    g.uniform3fv(lit.U, S.up);
    g.uniform3fv(lit.L, sun);
    g.uniform3fv(lit.E, axes[2]);
    const tone = rgb => night ? rgb.map(x => 0.25 + 0.75*x) : rgb, glass = items.filter(x => clear(x) < 1);
    draw_items(items.filter(x => clear(x) === 1), lit, tone);
    if (ghost) {
      const moving = items.filter(x => x.marks.some(k => S.marks[k] >= 0)), grey = night ? 0.75 : 0.4;
      veiled(moving, lit, () => [grey, grey, grey], ...ghost, () => 0.3);
    }
    veiled(glass, lit, tone);
    if (S.pulled) between(...S.pulled, 0.005*size, kinds.rod, [0.9, 0.4, 0.1, 1], lit);
  };
  return {fit, draw, seen, get view() { return [...centre, ...half, follows]; },
    tools: {...tools, items, draw_items, lens, get axes() { return axes; }}};
}
