/** docs/reference/errors.md: the catalogue of codes. */
import type { CodeEntry } from '../../src/model/code-entry.ts';
import { type CodeGroup, codeGroups, type DiagnosticCode } from '../../src/model/diagnostic-codes.ts';
import { exitCodesOfErrors } from '../../src/run/exit-code-meanings.ts';
import { findingMeanings } from '../../src/run/finding-meanings.ts';
import { blocks, header, withCode } from './page.ts';

const head = `Every error and warning has a code, which keeps its meaning from version to version. A message shows it in brackets, such as
\`error[unknown-field]\`. With \`--format json\` every problem has its \`code\`, beside \`severity\`, \`class\` and \`message\`. A message says more than this
page: names, places, and what was found.

The class of an error decides the [exit code](exit-codes.md) of the run:

| class | what is wrong | exit code |
|---|---|---|
| \`invalid\` | the stack or a manifest | 7 |
| \`conflict\` | who owns something, or where it is | 9 |
| \`incomplete\` | not everything could be read | 1 |
| \`failure\` | anything else | 1, unless there is a code for the case: 4 stale, 5 blocked, 8 locked, 130 interrupted |

A warning does not stop the run. A warning of class \`incomplete\` makes the plan incomplete: trueup then deletes nothing that is undeclared, and does not report
"No changes".`;

export function errorsPage(): string {
  return blocks(
    header('src/model/*-codes.ts'),
    '# Errors',
    head,
    codeGroups.flatMap(groupText),
    findingsText(),
  );
}

function groupText({ title, when, about = '', codes }: CodeGroup): string[] {
  const sections = Object.entries(codes).flatMap(([code, entry]) => codeText(code, entry));
  return [`## ${title}`, withCode(`These are reported ${when}.`), withCode(about), ...sections];
}

/** Leaves out findings with the id of a code, which have the heading of the code. */
function findingsText(): string[] {
  const codes = new Set(codeGroups.flatMap((group) => Object.keys(group.codes)));
  const sections = Object.entries(findingMeanings).flatMap(([id, { title, fix }]) =>
    codes.has(id) ? [] : [`### ${id}`, `${title}.`, `What to do: ${fix}.`],
  );
  const about =
    'These are the findings of `trueup doctor`. Some findings have the id of an error above. The report says which finding would stop an apply.';
  return ['## Findings of doctor', about, ...sections];
}

/** Each code has its own heading, so that it can be linked to. */
function codeText(code: string, entry: CodeEntry): string[] {
  const { title, fix, warning = false } = entry;
  const classes = [entry.class].flat().map((name) => `\`${name}\``);
  const other = exitCodesOfErrors[code as DiagnosticCode];
  const exit = other === undefined ? '' : `, exit code ${other}`;
  const kind = `${warning ? 'warning, ' : ''}${classes.join(' or ')}${exit}`;
  return [`### ${code}`, `${title} (${kind}).`, `What to do: ${fix}.`];
}
