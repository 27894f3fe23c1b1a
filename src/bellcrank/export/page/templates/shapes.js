// Parts of wheels of radius and width one, as triangles with normals: six numbers for each corner.
function wheels({mesh, box, rod, lathe}) {
  const round = half => lathe([...half, ...half.map(([r, z]) => [r, -z]).reverse(), half[0]]);
  const moved = (numbers, at) => {  // by what it does to a point, or to a normal
    const out = [];
    for (let i = 0; i < numbers.length; i += 6) {
      out.push(...at(numbers.slice(i, i + 3)), ...at(numbers.slice(i + 3, i + 6), true));
    }
    return out;
  };
  const spokes = (count, wide, low, high, end) => {
    const out = [], hub = low > 0 ? [0.17, 2*high + 0.04] : [0.05, 2], middle = (low + high)/2;
    for (let k = 0; k < count; k++) for (const z of low < 0 ? [middle] : [middle, -middle]) {
      const c = Math.cos(2*Math.PI*k/count), s = Math.sin(2*Math.PI*k/count);
      out.push(...moved(box, ([x, y, v], normal) => {
        const [a, b] = normal ? [x, y] : [end*(x + 0.5), wide*y];
        return [c*a - s*b, s*a + c*b, normal ? v : z + (high - low)*v];
      }));
    }
    return [...out, ...moved(rod, ([x, y, z], normal) => normal ? [x, y, z] : [hub[0]*x, hub[0]*y, hub[1]*z])];
  };
  const tyre = [[0.66, -0.42], [0.74, -0.47], [0.9, -0.5], [0.975, -0.43], [1, -0.28]];
  const hoop = [[0.885, -0.3], [0.93, -0.42], [0.945, -0.5], [0.985, -0.45], [1, -0.2]];
  return {tyre: mesh(round(tyre)), hoop: mesh(round(hoop)), rim: mesh(spokes(5, 0.15, 0.36, 0.45, 0.66)),
    wires: mesh(spokes(12, 0.014, -0.12, 0.12, 0.9))};
}

// A mesh of triangles, round where faces meet at a small angle.
function shell({points, faces}, {sub, cross, dot, unit, mesh}) {
  const corner = k => points.slice(3*k, 3*k + 3), at = points.map(() => []), out = [], flat = [];
  for (let i = 0; i < faces.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map(j => corner(faces[i + j]));
    flat.push(cross(sub(b, a), sub(c, a)));
    [0, 1, 2].forEach(j => at[faces[i + j]].push(i/3));
  }
  const units = flat.map(unit);
  faces.forEach((k, i) => {
    const own = units[Math.floor(i/3)], near = at[k].filter(f => dot(units[f], own) > 0.75);
    out.push(...corner(k), ...unit(near.reduce((sum, f) => sum.map((x, j) => x + flat[f][j]), [0, 0, 0])));
  });
  return mesh(out);
}
