if (!(@WITHIN@)) {
  m.fill(NaN, v, v + @VALUES@);
  return;
}
