/** A report of drift that is kept or sent: its lists are cut where it would be too large. */
import type { DriftJson } from './drift-schema.ts';

/** In bytes, where nothing else is asked. */
const maxReportBytes = 1_000_000;

/** In bytes: of the values of one field, where the report is too large. */
const maxValueBytes = 2_000;

/**
 * The report as JSON with at most so many bytes. Its lists are cut; its counts stay those of the whole. What access the stack gives is
 * left out: it is no drift, so that a message about drift tells nobody who may log in.
 */
export function boundedReport({ access: _, ...report }: DriftJson, max = maxReportBytes): string {
  let text = JSON.stringify(report);
  for (const most of [1000, 200, 40, 8, 0]) {
    if (Buffer.byteLength(text) <= max) break;
    text = JSON.stringify(cut(report, most));
  }
  return text;
}

type Field = DriftJson['drifted'][number]['fields'][number];

function cut(report: DriftJson, most: number): DriftJson {
  const first = <T>(all: readonly T[]): T[] => all.slice(0, most);
  const short = <T extends { fields: Field[] }>(all: readonly T[]): T[] =>
    first(all).map((one) => ({ ...one, fields: first(one.fields).map(withoutLongValues) }));
  const { coverage, selection, diagnostics, unmanaged } = report;
  return {
    ...report,
    drifted: short(report.drifted),
    changedNames: first(report.changedNames),
    pending: short(report.pending),
    unrecorded: first(report.unrecorded),
    untold: first(report.untold),
    problems: first(report.problems),
    coverage: { ...coverage, ledgerNotes: [], targets: [] },
    ...(selection === undefined ? {} : { selection: first(selection) }),
    ...(diagnostics === undefined ? {} : { diagnostics: first(diagnostics) }),
    ...(unmanaged === undefined
      ? {}
      : { unmanaged: { ...unmanaged, resources: short(unmanaged.resources) } }),
  };
}

function withoutLongValues(field: Field): Field {
  const { names: _, redacted: __, ...rest } = field;
  if (Buffer.byteLength(JSON.stringify(field)) <= maxValueBytes) return field;
  const side = (name: 'before' | 'after') =>
    rest[name] === undefined ? {} : { [name]: `${JSON.stringify(rest[name]).length} characters` };
  return { ...rest, shape: 'scalar', ...side('before'), ...side('after') };
}
