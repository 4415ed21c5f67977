/** What is taken into the manifests, as text: the patch of each file, coloured as `git diff` does it. */
import type { AcceptReport, NothingTaken } from './accept-report.ts';
import { printable } from '../format/printable.ts';
import type { Paint } from '../terminal/paint.ts';

const sentences: Readonly<Record<NothingTaken, string>> = {
  'as-declared': 'nothing to take in: live is as declared',
  'as-applied': 'nothing to take in: nothing was changed in the targets since the last apply',
  'not-written': 'nothing to take in: what differs is not written in manifests',
  'not-all-seen': 'nothing to take in of what was seen, but not all could be looked at',
  'no-values-before': 'nothing to take back: the apply changed no value that manifests declare',
};

/** Ends with a line break. */
export function renderTakings({ files, takings, refused, nothing }: AcceptReport, paint: Paint): string {
  if (files.length === 0)
    return refused.length === 0 && takings.length === 0 ? `${sentences[nothing]}\n` : '';
  return files
    .map(({ patch }) =>
      patch
        .split('\n')
        .map((line) => paintLine(line, paint))
        .join('\n'),
    )
    .join('');
}

function paintLine(line: string, paint: Paint): string {
  const shown = printable(line.replace(/\r$/, ''));
  if (/^(\+\+\+|---) /.test(line)) return paint.heading(shown);
  if (line.startsWith('+')) return paint.added(shown);
  return line.startsWith('-') ? paint.removed(shown) : shown;
}
