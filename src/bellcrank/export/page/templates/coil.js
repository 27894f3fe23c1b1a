// A spring of length and radius one, as triangles with normals: six numbers for each corner.
function coil({unit, mesh, quad, ring}) {
  const out = [];
  const wound = i => {
    const share = i/100, inside = share > 0.12 && share < 0.88, turn = (share - 0.12)/0.76*14*Math.PI;
    return [inside ? Math.cos(turn) : 0, inside ? Math.sin(turn) : 0, share - 0.5];
  };
  for (let i = 0; i < 100; i++) for (let k = 0; k < 5; k++) {
    const around = (p, j) => {
      const [a, b] = ring(j, 5);  // about the wire, which at the ends lies on the axis
      return p[0] || p[1] ? [p[0]*(1 + 0.12*a), p[1]*(1 + 0.12*a), p[2] + 0.012*b] : [0.12*a, 0.12*b, p[2]];
    };
    const [p, q] = [wound(i), wound(i + 1)], n = [...unit([p[0], p[1], 0.2]).slice(0, 2), 0.5];
    quad(out, around(p, k), around(q, k), around(q, k + 1), around(p, k + 1), n);
  }
  return mesh(out);
}
