  // No block of this model can be carried through a singular position by a curve.
  const nothing = () => {}, bridges = {
    missed: new Map(), within: () => [], look: () => false, least: () => @SINGULAR@, too_far: () => false,
    build: nothing, start: nothing, note: nothing, begin: nothing, from: nothing,
  };
