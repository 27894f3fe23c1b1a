// code and tables that are wider than the window take the focus, so that arrow keys scroll them
const reach = () => document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap").forEach((e) => {
  if (e.scrollWidth > e.clientWidth) e.tabIndex = 0;
});
addEventListener("load", reach);
addEventListener("resize", reach);
// the theme gives its search dialog no name, which screen readers announce
addEventListener("load", () => document.querySelector(".md-search")?.setAttribute("aria-label", "Search"));
