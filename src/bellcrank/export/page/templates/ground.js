// Ground below things: a plane that goes along with the view, or hills, with lines on it, a soft shadow and fog.
function floor(g, S, linked, draw_one, mesh, sun) {
  g.getExtension("OES_standard_derivatives");
  const G = S.ground, {along, up} = G, WIDE = 512, ONE = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const dot = (a, b) => a[0]*b[0] + a[1]*b[1] + a[2]*b[2];
  const side = [up[1]*along[2] - up[2]*along[1], up[2]*along[0] - up[0]*along[2], up[0]*along[1] - up[1]*along[0]];
  const power = 10**Math.floor(Math.log10(S.reach)), lead = S.reach/power;
  const every = power*(lead < 2 ? 0.5 : lead < 5 ? 1 : 2), plane = G.way.length === 2 && !G.across;
  const soil = linked("attribute vec3 a;uniform mat3 A,M;uniform vec3 c,d,u,v,o;uniform vec4 s;varying vec2 q;"
    + "void main(){vec3 p=M*a+d;q=vec2(dot(p-o,u),dot(p-o,v));vec3 e=A*(p-c);"
    + "gl_Position=vec4(e.xy*s.xy,-e.z*s.w,1.-e.z*s.z);}",
    "#extension GL_OES_standard_derivatives:enable\nprecision highp float;varying vec2 q;uniform vec2 k;uniform vec4 f;"
    + "uniform vec3 x,y,b;uniform sampler2D T;void main(){vec2 w=fwidth(q),a=abs(q-f.x*floor(q/f.x+.5)),"
    + "t=max(vec2(.025*f.x),w),m=clamp(.5+(t*.5-a)/w,0.,1.)*.025*f.x/t*clamp(2.-4.*w/f.x,0.,1.);"
    + "vec2 z=(q-k)/f.w*.5+.5;float h=.25*(texture2D(T,z,1.5).r+texture2D(T,z,2.5).r+texture2D(T,z,3.5).r*2.);"
    + "vec3 r=mix(x,y,min(m.x+m.y,1.))*(1.-.42*h);gl_FragColor=vec4(mix(r,b,smoothstep(f.y,f.z,distance(q,k))),1.);}",
    ["A", "M", "c", "d", "s", "u", "v", "o", "k", "f", "x", "y", "b", "T"]);
  const fall = linked("attribute vec3 a;uniform mat3 M;uniform vec3 d,c,u,v,n,l;uniform vec2 f;void main(){"
    + "vec3 p=M*a+d-c;p-=l*max(dot(p,n)-f.x,0.)/max(dot(l,n),.2);gl_Position=vec4(dot(p,u)/f.y,dot(p,v)/f.y,0.,1.);}",
    "precision mediump float;void main(){gl_FragColor=vec4(1.);}", ["M", "d", "c", "u", "v", "n", "l", "f"]);
  const shadow = g.createTexture(), frame = g.createFramebuffer();
  g.bindTexture(g.TEXTURE_2D, shadow);
  g.texImage2D(g.TEXTURE_2D, 0, g.RGBA, WIDE, WIDE, 0, g.RGBA, g.UNSIGNED_BYTE, null);
  g.texParameteri(g.TEXTURE_2D, g.TEXTURE_MIN_FILTER, g.LINEAR_MIPMAP_LINEAR);
  g.texParameteri(g.TEXTURE_2D, g.TEXTURE_WRAP_S, g.CLAMP_TO_EDGE);
  g.texParameteri(g.TEXTURE_2D, g.TEXTURE_WRAP_T, g.CLAMP_TO_EDGE);
  g.bindFramebuffer(g.FRAMEBUFFER, frame);
  g.framebufferTexture2D(g.FRAMEBUFFER, g.COLOR_ATTACHMENT0, g.TEXTURE_2D, shadow, 0);
  g.bindFramebuffer(g.FRAMEBUFFER, null);
  const point = (x, y, z) => along.map((_, i) => x*along[i] + y*side[i] + z*up[i]);
  const slope = () => (G.height[1] - G.height[0])/(G.way[1] - G.way[0]);
  const strip = (out, x0, x1, y0, y1, z) => [[x0, y0, z[0]], [x1, y0, z[1]], [x1, y1, z[2]], [x0, y0, z[0]],
    [x1, y1, z[2]], [x0, y1, z[3]]].forEach(p => out.push(...point(...p), ...up));
  const lay = wide => {
    const out = [], {way, across, height} = G;
    if (plane) strip(out, -wide, wide, -wide, wide, [-1, 1, 1, -1].map(x => x*wide*slope()));
    else if (across) {
      for (let i = 1; i < way.length; i++) for (let j = 1; j < across.length; j++) {
        const z = [[i - 1, j - 1], [i, j - 1], [i, j], [i - 1, j]].map(([m, n]) => height[m*across.length + n]);
        strip(out, way[i - 1], way[i], across[j - 1], across[j], z);
      }
    } else {
      for (let i = 1; i < way.length; i++) {
        strip(out, way[i - 1], way[i], -wide, wide, [height[i - 1], height[i], height[i], height[i - 1]]);
      }
    }
    return mesh(out);
  };
  const below = (x, y) => {  // height and slope of the ground
    if (plane) return [G.height[0] + slope()*(x - G.way[0]), slope()];
    const n = G.across ? G.across.length : 1;
    const near = (list, v) => list.findIndex((w, i) => w >= v || i === list.length - 1);
    const i = Math.max(1, near(G.way, x)), j = G.across ? near(G.across, y) : 0;
    const [a, b] = [i - 1, i].map(k => G.height[k*n + j]), s = (b - a)/(G.way[i] - G.way[i - 1]);
    return [b + s*(x - G.way[i]), s];
  };
  let laid = null, wide = 0;
  const draw = (eye, size, view, items, screen, back) => {
    const far = 8*size, x = dot(eye, along), y = dot(eye, side), [z, s] = below(x, y), night = back[0] < 0.5;
    if (!laid || far > wide || G.moved && G.moved(eye)) {
      if (laid) g.deleteBuffer(laid.buffer);
      laid = lay(wide = 2*far);
    }
    const reach = 2.5*size;
    g.bindFramebuffer(g.FRAMEBUFFER, frame);
    g.viewport(0, 0, WIDE, WIDE);
    g.clearColor(0, 0, 0, 1);
    g.clear(g.COLOR_BUFFER_BIT);
    g.disable(g.DEPTH_TEST);
    g.useProgram(fall.P);
    Object.entries({c: eye, u: along, v: side, n: up.map((v, i) => v - s*along[i]), l: sun})
      .forEach(([name, v]) => g.uniform3fv(fall[name], v));
    g.uniform2f(fall.f, z - dot(eye, up), reach);
    items(fall);
    g.bindFramebuffer(g.FRAMEBUFFER, null);
    g.generateMipmap(g.TEXTURE_2D);
    g.viewport(0, 0, ...screen);
    view(soil);
    const [m, n] = [x, y].map(v => Math.round(v/every)*every);  // lines stay where they are
    const o = point(m, n, plane ? below(m, n)[0] : 0);
    Object.entries({u: along, v: side, o, b: back, x: night ? [0.13, 0.14, 0.15] : [0.875, 0.88, 0.885],
      y: night ? [0.22, 0.235, 0.25] : [0.79, 0.795, 0.8]}).forEach(([name, v]) => g.uniform3fv(soil[name], v));
    g.uniform2f(soil.k, x - m, y - n);
    g.uniform4f(soil.f, every, 1.6*size, 6*size, reach);
    draw_one(laid, ONE, plane ? o : G.across ? [0, 0, 0] : point(0, n, 0), null, soil);
    g.enable(g.DEPTH_TEST);
  };
  return {draw};
}
