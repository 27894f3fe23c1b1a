"""Serious faults of accessibility in an open page, by a script of our own: rules of WCAG that a
program can decide.

The rules and their names are those of axe-core, which needs a download; contrast of colours is left
out.
"""

import re

SCRIPT = r"""
(() => {
  const found = [];
  const add = (rule, e) => found.push(`${rule}: ${e.outerHTML.slice(0, 160)}`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (e) => e.checkVisibility({visibilityProperty: true}) && !e.closest('[aria-hidden=true]');
  const byIds = (e, attribute) => (e.getAttribute(attribute) || '').split(/\s+/).filter(Boolean)
    .map((id) => document.getElementById(id)?.textContent || '').join(' ');
  const inside = (e) => [...e.childNodes].map((n) => n.nodeType === 3 ? n.data : n.nodeType !== 1 ? '' :
    n.getAttribute('aria-hidden') === 'true' ? '' : n.getAttribute('aria-label') || n.getAttribute('alt') || inside(n) ||
    (n.tagName === 'svg' ? '' : n.getAttribute('title') || '')).join(' ').trim();
  const name = (e) => (byIds(e, 'aria-labelledby') || e.getAttribute('aria-label') || e.getAttribute('title') || '').trim();
  const focusable = 'a[href], button, input:not([type=hidden]), select, textarea, iframe, summary, [tabindex]';
  const reached = (e) => e.tabIndex >= 0 && !e.disabled && shown(e);

  if (!document.documentElement.lang) add('html-has-lang', document.documentElement.cloneNode());
  if (!document.title.trim()) add('document-title', document.head.cloneNode());
  for (const e of all('meta[name=viewport]'))
    if (/user-scalable\s*=\s*no|maximum-scale\s*=\s*1\b/.test(e.content)) add('meta-viewport', e);
  for (const e of all('img')) if (!e.hasAttribute('alt') && !name(e)) add('image-alt', e);
  for (const e of all('[role=img], svg[role]')) if (shown(e) && !name(e) && !e.querySelector('title')) add('svg-img-alt', e);
  for (const e of all('a[href]')) if (shown(e) && !inside(e) && !name(e)) add('link-name', e);
  for (const e of all('button, [role=button], summary')) if (shown(e) && !inside(e) && !name(e)) add('button-name', e);
  for (const e of all('input:not([type=hidden]), select, textarea')) {
    if (/^(submit|reset|button)$/.test(e.type) ? !e.value && !name(e) && e.type === 'button'
        : reached(e) && !name(e) && ![...(e.labels || [])].some(inside)) add('label', e);
  }
  for (const e of all('[role=dialog]')) if (!name(e)) add('aria-dialog-name', e);
  for (const e of all('iframe')) if (shown(e) && !e.title) add('frame-title', e);
  for (const e of all('[aria-hidden=true]'))
    if ([e, ...e.querySelectorAll(focusable)].some((x) => x.matches(focusable) && x.tabIndex >= 0 && x.checkVisibility(
        {visibilityProperty: true}))) add('aria-hidden-focus', e);
  for (const e of all('a[href], button, [role=button]'))
    if ([...e.querySelectorAll(focusable)].some(reached)) add('nested-interactive', e);
  for (const e of all('[tabindex]')) if (e.tabIndex > 0) add('tabindex', e);
  for (const e of all('[aria-labelledby], [aria-describedby], [aria-controls]'))
    for (const a of ['aria-labelledby', 'aria-describedby', 'aria-controls'])
      for (const id of (e.getAttribute(a) || '').split(/\s+/).filter(Boolean))
        if (!document.getElementById(id)) add('aria-valid-attr-value', e);
  for (const e of all('ul, ol')) if ([...e.children].some((x) => !/^(LI|SCRIPT|TEMPLATE)$/.test(x.tagName))) add('list', e);
  for (const e of all('li')) if (!e.closest('ul, ol, menu, [role=list]')) add('listitem', e);
  for (const e of all('*')) {
    const style = getComputedStyle(e);
    const scrolls = (/auto|scroll/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 14) ||
      (/auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 14);
    if (scrolls && shown(e) && e !== document.body && e !== document.documentElement && e.tabIndex < 0
        && ![...e.querySelectorAll(focusable)].some(reached)) add('scrollable-region-focusable', e);
  }
  const ids = all('[id]').map((e) => e.id);
  for (const id of new Set(ids.filter((x, i) => ids.indexOf(x) < i))) found.push(`duplicate-id: ${id}`);
  let before = 0;
  for (const e of all('h1, h2, h3, h4, h5, h6').filter(shown)) {
    const level = +e.tagName[1];
    if (level > before + 1) add('heading-order', e);
    before = level;
  }
  if (all('h1').filter(shown).length !== 1) found.push(`page-has-heading-one: ${all('h1').length}`);
  return found;
})()
"""

RULES = {
    rule
    for found in re.findall(r"add\('([\w-]+)'|push\(`([\w-]+):", SCRIPT)
    for rule in found
    if rule
}


def violations(browser):
    """A message for every fault of the page that is open."""
    return browser.value(SCRIPT)
