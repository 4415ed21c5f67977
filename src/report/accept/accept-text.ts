/** What is taken into the manifests, as text: the patch of each file, coloured as `git diff` does it. */
import type { AcceptReport } from './accept-report.ts';
import { printable } from '../format/printable.ts';
import type { Paint } from '../terminal/paint.ts';

/** Ends with a line break. */
export function renderTakings({ files, takings, refused }: AcceptReport, paint: Paint): string {
  if (files.length === 0)
    return refused.length === 0 && takings.length === 0 ? 'nothing to take in: live is as declared\n' : '';
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
