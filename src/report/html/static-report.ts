/**
 * The report without a script: the head, the guards and a table of the changes, as plain HTML. Every text is escaped here, and only
 * here; addresses of links are https.
 */
import type { ChangeView, FieldLines, PlanView, ReportView } from './report-view.ts';

/** A page with more rows is of no use to a reader. */
const maxRows = 500;

/** Markup that is safe to put into the body of a page. */
export function staticReport({
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
    ...(plan === undefined ? [] : going(plan)),
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

function going({ next, digest, reasons, acknowledge }: PlanView): string[] {
  return [
    ...reasons.map((reason) => `<p class="banner warning">The look was incomplete: ${escaped(reason)}</p>`),
    `<p>${escaped(next)}</p>`,
    ...(acknowledge === undefined ? [] : [`<p><code>${escaped(acknowledge)}</code></p>`]),
    `<p>digest <code>${escaped(digest)}</code></p>`,
  ];
}

function planParts({ guards, risks, changes, mentions, coverage }: PlanView): string[] {
  return [
    ...part('Risks', [
      ...guards.flatMap((card) =>
        card.guards.map(
          ({ id, blocks, message }) =>
            `<li><strong>${blocks ? 'blocks' : 'warns'}</strong> <code>${escaped(id)}</code> ${escaped(message)}</li>`,
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
    ...changesPart(changes),
    ...part(
      'Left alone',
      mentions
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

function changesPart(changes: readonly ChangeView[]): string[] {
  if (changes.length === 0) return [];
  const left = changes.length - maxRows;
  return [
    '<section><h2>Changes</h2><table class="static">',
    '<thead><tr><th scope="col">Action</th><th scope="col">Resource</th><th scope="col">What</th><th scope="col">Where</th></tr></thead><tbody>',
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
}: ChangeView): string {
  const what = [
    `<p>${escaped(reason)}</p>`,
    ...fields.map(fieldRows),
    ...risks.map(({ effect, text }) => `<p>${escaped(effect)}: ${escaped(text)}</p>`),
    ...notes.map((note) => `<p>note: ${escaped(note)}</p>`),
  ];
  return `<tr><td><span class="action ${action}">${action}</span></td><td><code>${escaped(`${kind}/${target}/${name}`)}</code></td><td>${what.join('')}</td><td><code>${escaped(place)}</code></td></tr>`;
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

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Two of them and a bracket begin a command of a CI.
  '#': '&#35;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"'#]/g, (character) => entities[character] ?? '');
}
