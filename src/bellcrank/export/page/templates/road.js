// Ground that is not flat, around where one looks: G is that of the scene, `height` gives it at x, or at x and y.
// G.moved(eye) is told where that is; if it is far from the middle, heights are taken anew and the answer is true.
function road(G, height) {
  const {wide, up, across} = G, middle = [0, 0];
  const axis = (at, n) => Array.from({length: n}, (_, i) => at + wide*(2*i/(n - 1) - 1));
  const lay = () => {
    G.way = axis(middle[0], across ? 81 : 1001);
    if (across) G.across = axis(middle[1], 81);
    G.height = across ? G.way.flatMap(x => G.across.map(y => height(x, y))) : G.way.map(x => height(x));
  };
  lay();
  G.moved = eye => {
    const here = [eye[0], across ? up[2]*eye[1] : 0];
    if (here.every((x, i) => Math.abs(x - middle[i]) < wide/3)) return false;
    here.forEach((x, i) => { middle[i] = Math.round(5*x/wide)*wide/5; });  // lines stay where they are
    lay();
    return true;
  };
}
