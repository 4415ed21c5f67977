/**
 * The page around the data of a report: one file that requests nothing from a network. Texts from outside are in the data,
 * where `<` is escaped and the script of the page inserts them as text. The Content-Security-Policy allows only what is in this file.
 */
import { createHash } from 'node:crypto';
import type { Action } from '../../model/change.ts';
import { printableJson } from '../view/printable.ts';
import { escaped } from './escape.ts';
import page from './page.json' with { type: 'json' };
import type { ChangeView, FieldLines, PlanView, ReportView } from './report-view.ts';

/** @param view without secrets: a search for them in the finished page could fail, because the page is escaped */
export function htmlDocument(view: ReportView): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="trueup">
<link rel="icon" href="data:,">
<title>trueup</title>
<style>${page.style}</style>
</head>
<body>
<noscript>
${staticReport(view)}
</noscript>
<script type="application/json" id="report">${safeJson(view)}</script>
<script>${page.script}</script>
</body>
</html>`;
}

function policy(): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(page.script)}`,
    `style-src ${hash(page.style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** JSON in which nothing can end a script, open a comment, or change the order in which editors show the source. */
function safeJson(value: object): string {
  return printableJson(JSON.stringify(value)).replace(
    /[<>&]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// The report without a script: the head, the guards and a table of the changes, as plain HTML. Every text is escaped here, and only
// here; addresses of links are https.

/** Maximum number of rows: more are of no use to a reader. */
const maxRows = 500;

/** Markup that is safe to put into the body of a page. */
function staticReport({
  title,
  name = '',
  facts = [],
  summary,
  statements,
  problems,
  plan,
}: ReportView): string {
  return [
    '<header class="head"><div class="head-inner">',
    `<h1>${escaped(title)} <code>${escaped(name)}</code></h1>`,
    ...(facts.length === 0
      ? []
      : [
          '<dl class="about">',
          ...facts.map(({ label, text }) => `<dt>${escaped(label)}</dt><dd>${escaped(text)}</dd>`),
          '</dl>',
        ]),
    `<p class="summary">${escaped(summary)}</p>`,
    ...statements.map(({ tone, text }) => `<p class="banner ${tone}">${escaped(text)}</p>`),
    ...(plan === undefined ? [] : nextStepLines(plan)),
    '</div></header><main>',
    ...part(
      'Problems',
      problems.map(
        ({ severity, code, message, spot = '', members }) =>
          `<li><p><strong>${escaped(severity)}</strong> <code>${escaped(code)}</code> <code>${escaped(spot)}</code></p><p>${escaped(message)}</p>${members
            .map(([label, text]) => `<p>${escaped(label)}: ${escaped(text)}</p>`)
            .join('')}</li>`,
      ),
    ),
    ...(plan === undefined ? [] : planParts(plan)),
    '</main>',
  ].join('\n');
}

function nextStepLines({ next, digest, reasons, acknowledge }: PlanView): string[] {
  return [
    ...reasons.map((reason) => `<p class="banner warning">The read was incomplete: ${escaped(reason)}</p>`),
    `<p>${escaped(next)}</p>`,
    ...(acknowledge === undefined ? [] : [`<p><code>${escaped(acknowledge)}</code></p>`]),
    ...(digest === undefined ? [] : [`<p>digest <code>${escaped(digest)}</code></p>`]),
  ];
}

function planParts({ guards, risks, changes, notices, coverage, words }: PlanView): string[] {
  return [
    ...part('Risks', [
      ...guards.flatMap((card) =>
        card.guards.map(
          ({ id, effect, message }) =>
            `<li><strong>${effect}</strong> <code>${escaped(id)}</code> ${escaped(message)}</li>`,
        ),
      ),
      ...risks.flatMap((list) =>
        list.items
          .slice(0, maxRows)
          .map(
            ({ name, text, losses = [] }) =>
              `<li>${escaped(list.title)}: <code>${escaped(name)}</code> ${[text, ...losses].map(escaped).join('; ')}</li>`,
          ),
      ),
    ]),
    ...changesPart(changes, words),
    ...part(
      words?.notices ?? 'Not changed',
      notices
        .slice(0, maxRows)
        .map(({ name, text }) => `<li><code>${escaped(name)}</code> ${escaped(text)}</li>`),
    ),
    ...part(
      'Checked',
      coverage.map(
        ({ label, details, incomplete }) =>
          `<li>${escaped(label)}: ${[...details, ...incomplete.map((why) => `incomplete: ${why}`)].map(escaped).join('; ')}</li>`,
      ),
    ),
  ];
}

function part(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`<section><h2>${title}</h2><ul>`, ...items, '</ul></section>'];
}

function changesPart(changes: readonly ChangeView[], words: PlanView['words']): string[] {
  if (changes.length === 0) return [];
  const left = changes.length - maxRows;
  return [
    `<section><h2>${words?.changes ?? 'Changes'}</h2><table class="static">`,
    `<thead><tr><th scope="col">${words?.action ?? 'Action'}</th><th scope="col">Resource</th><th scope="col">What</th><th scope="col">${words?.where ?? 'Where'}</th></tr></thead><tbody>`,
    ...changes.slice(0, maxRows).map(changeRow),
    '</tbody></table>',
    ...(left > 0 ? [`<p>and ${left} more changes: "trueup show" prints a plan file as text</p>`] : []),
    '</section>',
  ];
}

function changeRow({
  action,
  kind,
  target,
  name,
  reason,
  place = '',
  fields,
  risks = [],
  notes = [],
  tone = action as Action,
  lastModified = [],
}: ChangeView): string {
  const what = [
    `<p>${escaped(reason)}</p>`,
    ...fields.map(fieldRows),
    ...risks.map(({ effect, text }) => `<p>${escaped(effect)}: ${escaped(text)}</p>`),
    ...notes.map((note) => `<p>note: ${escaped(note)}</p>`),
    ...lastModified.map((line) => `<p>${escaped(line)}</p>`),
  ];
  return `<tr><td><span class="action ${tone}">${action}</span></td><td><code>${escaped(`${kind}/${target}/${name}`)}</code></td><td>${what.join('')}</td><td><code>${escaped(place)}</code></td></tr>`;
}

function fieldRows({ name, lines, remarks }: FieldLines): string {
  const remark = remarks === undefined ? '' : ` (${escaped(remarks)})`;
  const [before = '', after = ''] = lines;
  if (lines.length === 2 && before.startsWith('- ') && after.startsWith('+ ')) {
    const pair = `<del><code>${escaped(before.slice(2))}</code></del> → <ins><code>${escaped(after.slice(2))}</code></ins>`;
    return `<p><code>${escaped(name)}</code> ${pair}${remark}</p>`;
  }
  const shown = lines.map((line) => {
    const tag = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
    return `<${tag}><code>${escaped(line)}</code></${tag}>`;
  });
  return `<p><code>${escaped(name)}</code>${remark}<br>${shown.join('<br>')}</p>`;
}
