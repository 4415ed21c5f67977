/**
 * Writes `docs/reference/errors.md` from the catalogue of codes, so that what is documented is what is told.
 * `--check` writes nothing and exits 1 when the file is not what would be written.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { CodeEntry } from '../src/model/code-entry.ts';
import { type CodeGroup, codeGroups } from '../src/model/diagnostic-codes.ts';

const page = fileURLToPath(new URL('../docs/reference/errors.md', import.meta.url));

const head = `<!-- Written by "npm run errors" from src/model/*-codes.ts: change it there. -->

# Errors

Every code of an error or a warning, by the part of a run that tells it: what is the case, and what to do. With \`--format json\`
every problem has its \`code\`, beside \`severity\`, \`class\` and \`message\`. As text the code of a problem stands in brackets, as in
\`error[unknown-field]\`; what ends a run is one line without it. The message knows more than this page: names, places, and what was found.
Codes keep their meaning from version to version.

The class says which exit code an error leads to, where it ends the run ([exit codes](../internals/architecture.md#exit-codes)):

| class | what is amiss | exit code |
|---|---|---|
| \`invalid\` | what manifests or the stack say | 7 |
| \`conflict\` | who owns something, or where it is | 9 |
| \`incomplete\` | not everything could be looked at | 1 |
| \`failure\` | anything else | 1, unless there is one for this very case: 4 stale, 5 blocked, 8 locked, 130 interrupted |

A warning lets the run go on. One of class \`incomplete\` makes its look incomplete: nothing undeclared is removed then, and "No changes" is
not said.
`;

/** What the page must hold. */
export function errorsPage(): string {
  return [head, ...codeGroups.map(groupText)].join('\n');
}

function groupText({ title, when, codes }: CodeGroup): string {
  const sections = Object.entries(codes).map(([code, entry]) => codeText(code, entry));
  return [`## ${title}\n\nThese are told ${when}.\n`, ...sections].join('\n');
}

/** A heading of its own, so that a code can be linked to. */
function codeText(code: string, entry: CodeEntry): string {
  const { title, fix, warning = false } = entry;
  const classes = [entry.class].flat().map((name) => `\`${name}\``);
  const kind = `${warning ? 'warning, ' : ''}${classes.join(' or ')}`;
  return `### ${code}\n\n${title} (${kind}).\n\nWhat to do: ${fix}.\n`;
}

async function main(): Promise<void> {
  const wanted = errorsPage();
  const present = await readFile(page, 'utf8').catch(() => '');
  if (present === wanted) return;
  if (process.argv.includes('--check')) {
    console.error('docs/reference/errors.md is not fresh: run "npm run errors"');
    process.exitCode = 1;
    return;
  }
  await writeFile(page, wanted);
  console.log('wrote docs/reference/errors.md');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
