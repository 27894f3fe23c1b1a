for (let i = 0; i < @ROWS@; i++) {
  const angle = (i - @ROWS@/2)/@PARTS@;
  m[@AT@ + i] = Math.sin(angle);
  m[@AT@ + @ROWS@ + i] = Math.cos(angle);
}
