  // Curves that carry blocks of loops through singular positions: between two points of a branch, in front of that
  // place and behind it, a quintic with their tangents and curvatures. Points are coordinates, scaled.
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x*b[i], 0), REFUSED = {};
  const ahead = (z, tangent, bend, far) => z.map((x, i) => x + far*tangent[i] + 0.5*far*far*bend[i]);
  const blocks = L.blocks.map(([rows, speeds, places, usual]) => {
    const row_scale = rows.map(i => L.rows[i]), scale = speeds.map(j => L.columns[j]), size = speeds.length;
    const others = L.columns.map((_, j) => j).filter(j => !speeds.includes(j));
    const block = {rows, speeds, row_scale, scale};
    block.scaled = state => [places.map((i, j) => state[i]/scale[j]), speeds.map((i, j) => state[n_q + i]/scale[j])];
    const placed = (state, z) => {
      const found = Float64Array.from(state);
      places.forEach((i, j) => { found[i] = z[j]*scale[j]; });
      return found;
    };
    // Ratio of pivots, t with J t = 0 of length 1, c with J c = right; scaled.
    const basis = (J, right) => {
      const a = rows.map((row, i) => [...speeds.map((s, j) => J[row*n_u + s]*row_scale[i]*scale[j]), right[i]]);
      const tangent = Array(size).fill(0), c = tangent.slice(), order = [];
      const [used, ratio] = r.pivoted(a, size, size - 1, usual, 0, order);
      for (let i = 0; i < used; i++) [tangent[order[i]], c[order[i]]] = [-a[i][used], a[i][size]];
      tangent[order[used]] = 1;
      const whole = length(tangent);
      return [ratio, tangent.map(x => x/whole), c];
    };
    const none = rows.map(() => 0);
    block.ratio = J => basis(J, none)[0];
    const position = (t, state, z) => {
      const {g, J} = evaluate(t, placed(state, z));
      return [rows.map((row, i) => g[row]*row_scale[i]), J];
    };
    const ratio_at = (t, state, z) => block.ratio(position(t, state, z)[1]);
    const fall = (t, state, z, tangent, bend, now) =>
      (now - ratio_at(t, state, ahead(z, tangent, bend, @GLANCE@)))/@GLANCE@;
    const across = (c, tangent) => {
      const along = dot(c, tangent);
      return c.map((x, i) => x - along*tangent[i]);
    };
    // Ratio of pivots at a point of the branch, the tangent along a direction, the curvature.
    const point = (t, state, z, direction) => {
      const J = position(t, state, z)[1];
      if (rows.some((row, i) => others.some(j => Math.abs(J[row*n_u + j]*row_scale[i]*L.columns[j]) > @FOREIGN@)))
        throw {REFUSED, unknown: true};  // with these parameters it is no block
      let [ratio, tangent] = basis(J, none);
      if (dot(tangent, direction) < 0) tangent = tangent.map(x => -x);
      let speed = length(block.scaled(state)[1]);
      speed = speed > @STILL@ ? speed : 1;
      const moving = placed(state, z);
      speeds.forEach((i, j) => { moving[n_q + i] = speed*tangent[j]*scale[j]; });
      const at = system(t, moving), c = basis(at.J, rows.map((row, i) => at.gamma[row]*row_scale[i]/speed**2))[2];
      return [ratio, tangent, across(c, tangent)];
    };
    // The nearest point of the branch, to round-off.
    const onto = (t, state, z) => {
      let before = Infinity;
      for (let turn = 0; turn < 8; turn++) {
        const [g, J] = position(t, state, z), most = largest(g);
        if (most < @ROUND_OFF@ || (most >= before && most < @CERTIFIED@)) return z;
        if (!Number.isFinite(most)) return null;
        before = most;
        const [, tangent, c] = basis(J, g), change = across(c, tangent);
        z = z.map((x, i) => x - change[i]);
      }
      return before < @CERTIFIED@ ? z : null;
    };
    // From a point outside of the zone: to its edge, then a look to the other side.
    const to_other_side = (t, state, z, u, zone) => {
      let [ratio, tangent, bend] = point(t, state, z, u);
      if (fall(t, state, z, tangent, bend, ratio) < 0) tangent = tangent.map(x => -x);
      for (let pace = 0; pace < 30 && ratio > @EDGE@*zone; pace++) {
        const slope = fall(t, state, z, tangent, bend, ratio), steep = slope > 0 ? slope : 0.2*ratio;
        z = onto(t, state, ahead(z, tangent, bend, Math.min((ratio - 0.5*(1 + @EDGE@)*zone)/steep, @PACE@)));
        if (!z) return null;
        [ratio, tangent, bend] = point(t, state, z, tangent);
      }
      const slope = fall(t, state, z, tangent, bend, ratio);
      if (!(slope > 0 && 0.5*zone <= ratio && ratio <= 2*@EDGE@*zone)) return null;
      let far = (ratio + 1.1*Math.max(ratio, zone))/slope;
      for (let look = 0; look < 4; look++, far *= @WIDEN@) {
        if (far > @REACH@) return null;
        const other = onto(t, state, ahead(z, tangent, bend, far));
        if (!other) continue;
        const [behind, ...there] = point(t, state, other, tangent);
        if (behind >= @BEHIND@*zone) return [[z, tangent, bend], [other, ...there]];
      }
      return null;
    };
    // From a point within the zone, both ways; in the singular position itself the speeds tell the branch.
    const both_ways = (t, state, z, u, zone) => {
      const speed = length(u);
      let tangent, bend;
      if (ratio_at(t, state, z) > @SURE@) [, tangent, bend] = point(t, state, z, u);
      else if (speed > @STILL@) [tangent, bend] = [u.map(x => x/speed), u.map(() => 0)];
      else throw {REFUSED, unknown: true};  // at rest: there are several directions
      const edge = way => {
        for (let far = 0.5*zone; far < @REACH@; far *= @WIDEN@) {
          const x = ahead(z, tangent, bend, way*far);
          if (ratio_at(t, state, x) < 1.1*zone) continue;
          const found = onto(t, state, x);
          if (!found) continue;
          const [ratio, ...there] = point(t, state, found, tangent);
          if (ratio >= @BEHIND@*zone) return [found, ...there];
        }
        return null;
      };
      const [a, b] = [edge(-1), edge(1)];
      return a && b ? [a, b] : null;
    };
    const curve_over = (t, state, zone) => {
      const [z, u] = block.scaled(state);
      const ends = (ratio_at(t, state, z) >= zone ? to_other_side : both_ways)(t, state, z, u, zone);
      if (!ends) return null;
      const [[A, t_a, k_a], [B, t_b, k_b]] = ends, chord = B.map((x, i) => x - A[i]), square = dot(chord, chord);
      const share = chord.map(x => x/square);
      if (!(dot(share, t_a) > 0 && dot(share, t_b) > 0)) return null;
      const by_share = (tangent, bend) => {
        const along = dot(share, tangent), T = tangent.map(x => x/along), K = bend.map(x => x/along**2);
        const more = dot(share, K);
        return [T, K.map((x, i) => x - T[i]*more)];
      };
      const [T_A, K_A] = by_share(t_a, k_a), [T_B, K_B] = by_share(t_b, k_b), parts = [T_A, K_A, chord, T_B, K_B];
      const curve = {share, place: x => dot(share, x.map((v, i) => v - A[i]))};
      curve.at = s => {
        const weights = [0, 1, 2].map(order => QUINTICS.map(h => h.reduceRight((sum, c, power) => {
          for (let i = 0; i < order; i++) c *= power - i;
          return power < order ? sum : sum*s + c;
        }, 0)));
        const [Q, T, K] = weights.map(h => A.map((_, i) => h.reduce((sum, c, j) => sum + c*parts[j][i], 0)));
        return [Q.map((x, i) => x + A[i]), T, K];
      };
      curve.residual = Math.max(...[0.1, 0.3, 0.5, 0.7, 0.9].map(s => largest(position(t, state, curve.at(s)[0])[0])));
      return curve;
    };
    // The curve that goes on from a state; narrower where it is too bent.
    block.build = (t, state) => {
      let last = Infinity, gap = 0, zone = @ZONE@;
      for (let turn = 0; turn < @ZONES@; turn++, zone /= 2) {
        const curve = curve_over(t, state, zone);
        if (!curve) continue;
        if (curve.residual < @CERTIFIED@) return curve;
        gap = gap || curve.residual;
        if (!(curve.residual < @FALLS@*last)) break;
        last = curve.residual;
      }
      throw {REFUSED, gap: gap/Math.max(...row_scale)};
    };
    // Puts the equations of a curve in the place of the rows; one of them follows from the others.
    block.replace = (at, curve, state) => {
      const [z, u] = block.scaled(state), {share} = curve, v = dot(share, u), [Q, T, K] = curve.at(curve.place(z));
      const most = share.reduce((best, x, i) => Math.abs(x) > Math.abs(share[best]) ? i : best, 0);
      for (const row of rows) {
        at.J.fill(0, row*n_u, (row + 1)*n_u);
        at.gamma[row] = at.g[row] = at.v[row] = 0;
      }
      z.map((_, i) => i).filter(i => i !== most).slice(0, rows.length).forEach((i, j) => {
        const row = rows[j], unit = row_scale[j];
        speeds.forEach((s, l) => { at.J[row*n_u + s] = (Number(l === i) - T[i]*share[l])/scale[l]/unit; });
        at.gamma[row] = K[i]*v*v/unit;
        at.g[row] = (z[i] - Q[i])/unit;
        at.v[row] = (u[i] - T[i]*v)/unit;
      });
    };
    return block;
  });
  const curves = new Map(), missed = new Map();
  let began = null, portions = 0;
  const inside = (i, state) => {
    const s = curves.has(i) ? curves.get(i).place(blocks[i].scaled(state)[0]) : -1;
    return s >= 0 && s <= 1;
  };
  const bridges = {
    missed,
    start: (t, state) => { began = Float64Array.from(state); },
    from: state => { began = Float64Array.from(state); },
    begin: (depth, state) => {
      began = Float64Array.from(state);
      portions = depth ? portions + 1 : 0;
    },
    within: state => [...curves.keys()].filter(i => inside(i, state)),
    build: (t, state, at) => blocks.forEach((block, i) => {
      if (inside(i, state) || missed.has(i) || block.ratio(at.J) >= @ZONE@) return;
      try {
        curves.set(i, block.build(t, began));
      } catch (refused) {
        if (refused.REFUSED !== REFUSED) throw refused;
        if (!refused.unknown) missed.set(i, refused.gap);
      }
    }),
    look: (at, state) => {
      const within = keeper.near ? bridges.within(state) : [];
      within.forEach(i => blocks[i].replace(at, curves.get(i), state));
      return within.length > 0;
    },
    least: bridged => bridged || missed.size ? @VANISHING@ : @SINGULAR@,
    note: ratio => {
      if (!(ratio < @NEAR@)) curves.clear();
      if (!keeper.near) missed.clear();
    },
    // Near branches that miss each other: is a step long against the distance, or do speeds turn far in it?
    too_far: (t, state, moved, h, depth) => {
      if (depth >= @DIVISIONS@ || portions >= @PORTIONS@ || !keeper.near || !missed.size) return false;
      const {M} = system(t, moved), {J} = system(t, state);
      return [...missed.keys()].some(i => {
        const {speeds, scaled, ratio} = blocks[i], entry = (s, u) => M[s > u ? s*(s + 1)/2 + u : u*(u + 1)/2 + s];
        const of = (a, b) => speeds.reduce((sum, s) =>
          speeds.reduce((more, u) => more + a[n_q + s]*b[n_q + u]*entry(s, u), sum), 0);
        if (h*length(scaled(state)[1]) > @LEAP@*ratio(J)) return true;
        const size = of(state, state)*of(moved, moved);
        return size > 0 && Math.abs(of(state, moved)) < Math.cos(@TURN@)*Math.sqrt(size);
      });
    },
  };
