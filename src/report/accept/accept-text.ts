/** What is taken into the manifests, as text: the patch of each file, coloured as `git diff` does it. */
import { formatAddress } from '../../model/resource/address.ts';
import type { AcceptReport, NothingTaken, Widening } from './accept-report.ts';
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
export function renderAcceptedChanges(
  { files, takings, widens, refused, nothing }: AcceptReport,
  paint: Paint,
): string {
  if (files.length === 0)
    return refused.length === 0 && takings.length === 0 ? `${sentences[nothing]}\n` : '';
  const patches = files.map(({ patch }) =>
    patch
      .split('\n')
      .map((line) => paintLine(line, paint))
      .join('\n'),
  );
  return [...patches, ...widens.map((one) => `${paint.warning(widensText(one))}\n`)].join('');
}

/** `widens access: <address> <field>: "web" in "shop" gains the policy "write"` */
function widensText({ address, risk: { path, message } }: Widening): string {
  const field = path.length === 0 ? '' : ` ${path.join('.')}`;
  return printable(`widens access: ${formatAddress(address)}${field}: ${message}`);
}

function paintLine(line: string, paint: Paint): string {
  const shown = printable(line.replace(/\r$/, ''));
  if (/^(\+\+\+|---) /.test(line)) return paint.heading(shown);
  if (line.startsWith('+')) return paint.added(shown);
  return line.startsWith('-') ? paint.removed(shown) : shown;
}
