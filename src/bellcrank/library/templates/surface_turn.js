// How the normal changes with the place: xx, xy, xz, yy, yz, zz; is the ground in reach?
function routine(x, y, z, reach, out) {
  const [[d], [, u, v, xx, xy, yy]] = nearest(x, y, z, reach), size = sqrt(1 + u*u + v*v);
  if (!(d < reach)) return m.set([0, 0, 0, 0, 0, 0, 0], out >> 3);
  const g11 = 1 + u*u, g12 = u*v, g22 = 1 + v*v, b11 = xx/size, b12 = xy/size, b22 = yy/size;
  const m11 = g11 - d*b11, m12 = g12 - d*b12, m22 = g22 - d*b22, both = (g11*g22 - g12*g12)*(m11*m22 - m12*m12);
  const p11 = g22*b11 - g12*b12, p12 = g22*b12 - g12*b22, p21 = g11*b12 - g12*b11, p22 = g11*b22 - g12*b12;
  const s11 = -(p11*m22 - p12*m12)/both, s12 = -(p12*m11 - p11*m12)/both, s22 = -(p22*m11 - p21*m12)/both;
  const xz = s11*u + s12*v, yz = s12*u + s22*v;
  m.set([s11, s12, xz, s22, yz, u*xz + v*yz, 1], out >> 3);
}
