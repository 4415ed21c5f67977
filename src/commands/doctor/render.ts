/** The findings for a terminal, one line for each check, with the fix below what is wrong; and as JSON. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { counted } from '../../model/quoted.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { labelled, type Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';
import { checkLabel, type Finding, hasFailed } from './finding.ts';

export interface DoctorReport {
  /** undefined when there is none, or it is not valid */
  readonly stack: Stack | undefined;
  readonly findings: readonly Finding[];
}

interface Layout {
  readonly paint: Paint;
  readonly width?: number | undefined;
}

/** Symbols and colours by level. */
const marks: Readonly<
  Record<Finding['level'], readonly [symbol: string, emphasis: Exclude<keyof Paint, 'link'>]>
> = {
  ok: ['✓', 'added'],
  info: ['-', 'dim'],
  warning: ['!', 'warning'],
  error: ['✗', 'error'],
};

export function renderReport({ stack, findings }: DoctorReport, layout: Layout): string {
  const { paint } = layout;
  const sections = (stack?.targets ?? []).map((target) => {
    const own = findings.filter((finding) => finding.target === target.name && finding.check !== 'ledger');
    return [paint.heading(printable(titleOf(target))), ...linesOf(own, layout, target)];
  });
  const machine = findings.filter(({ target, check }) => target === undefined || check === 'ledger');
  const head = stack === undefined ? 'No valid stack' : `Stack ${stack.name}`;
  return [
    [paint.heading(printable(head)), ...linesOf(machine, layout)],
    ...sections,
    [verdict(findings, paint)],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function titleOf({ name, service, url, organization, dialect }: Target): string {
  const what = organization === undefined ? service : `${service} of ${organization}`;
  return `Target ${name}: ${what} at ${url} (${dialect})`;
}

/** Checks that were not made for the same reason share a line. */
function linesOf(findings: readonly Finding[], layout: Layout, target?: Target): string[] {
  const isUnchecked = ({ id, check }: Finding) => id === 'unchecked' && check !== 'address';
  const made = findings.filter((finding) => !isUnchecked(finding));
  const unchecked = Map.groupBy(findings.filter(isUnchecked), ({ message }) => message);
  return [
    ...made.flatMap((finding) => line(checkLabel(finding.check, target?.service), finding, layout)),
    ...[...unchecked.values()].flatMap((some) => {
      const [first] = some;
      if (first === undefined) return [];
      const names = some.map((finding) => checkLabel(finding.check, target?.service)).join(', ');
      return line('', { ...first, message: `${first.message}: ${names}` }, layout);
    }),
  ];
}

const nameColumn = 13;

/** Colours are added last, because a line is wrapped by the columns of its text. */
function line(name: string, { level, message, fix }: Finding, { paint, width = 80 }: Layout): string[] {
  const [symbol, emphasis] = marks[level];
  const label = `${symbol} ${name.padEnd(nameColumn)}`;
  const [first = '', ...more] = labelled(label, printable(message), width);
  const column = ' '.repeat(label.length);
  return [
    first.replace(symbol, paint[emphasis](symbol)),
    ...more,
    ...(fix === undefined ? [] : labelled(`${column}fix: `, printable(fix), width)),
  ];
}

function verdict(findings: readonly Finding[], paint: Paint): string {
  const { errors, warnings } = summaryOf(findings);
  const also = warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`;
  if (errors > 0) return paint.error(`${counted(errors, 'error')}${also}: an apply would stop`);
  return paint.added(`Nothing found that would stop an apply${also}`);
}

function summaryOf(findings: readonly Finding[]) {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  return { errors: count('error'), warnings: count('warning') };
}

/** `{ version: 1, stack?, healthy, summary, findings, diagnostics? }`, valid against `schema.ts`. */
export function renderReportJson(
  { stack, findings }: DoctorReport,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    ...(stack === undefined ? {} : { stack: stack.name }),
    healthy: !hasFailed(findings),
    summary: summaryOf(findings),
    findings,
    ...diagnosticsMember(diagnostics),
  });
}
