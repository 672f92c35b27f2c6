/** The look of the report: one column on a phone, and both colour schemes. Nothing of it comes from outside. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1c2024; --soft: #5c6570; --line: #d9dee4; --paper: #ffffff; --card: #f6f8fa;
  --good: #18794e; --bad: #c62a2f; --unsure: #8a5a00; --time: #c2651a; --count: #2f6fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ec; --soft: #9aa4af; --line: #30363d; --paper: #0f1216; --card: #181c21;
    --good: #4cc38a; --bad: #ff8589; --unsure: #f0b440; --time: #f0964c; --count: #74a8ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.25rem 1rem 4rem; max-width: 64rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem; }
h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
code, pre { font: .85rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: .5rem 0 0; padding: .6rem .75rem; max-height: 24rem; overflow: auto;
  background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; }
summary { cursor: pointer; color: var(--soft); }
.soft { color: var(--soft); }
.pass { color: var(--good); } .fail, .error { color: var(--bad); }
.inconclusive { color: var(--unsure); } .not_run { color: var(--soft); }
.verdict { font-weight: 650; }
.card { margin: .75rem 0; padding: .8rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.finding { border-left: .3rem solid var(--bad); }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .4rem .55rem; border-bottom: 1px solid var(--line); text-align: center;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
tr:last-child > * { border-bottom: 0; }
thead th { font-weight: 600; color: var(--soft); }
th:first-child { position: sticky; left: 0; background: var(--paper); text-align: left;
  min-width: 9rem; max-width: 16rem; white-space: normal; overflow-wrap: anywhere;
  font-weight: 500; }
.runs td, .runs th { text-align: right; }
.runs th:first-child { text-align: left; min-width: 0; }
ol.columns { padding: 0; list-style: none; }
ol.columns > li { display: grid; grid-template-columns: 2rem minmax(0, 1fr); padding: .45rem 0;
  border-bottom: 1px solid var(--line); }
ol.columns > li:last-child { border-bottom: 0; }
.number { padding-top: .4rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem;
  margin: .6rem 0; }
svg { display: block; width: 100%; max-width: 24rem; height: auto; }
.time { fill: var(--time); } .count { fill: var(--count); }
.track { fill: var(--line); }
footer { margin-top: 2.5rem; color: var(--soft); }
`;
