/** Limits the size of a report of drift that is stored or sent: if it is too large, its lists are cut. */
import type { DriftJson } from './drift-schema.ts';

/** The default maximum, in bytes. */
const maxReportBytes = 1_000_000;

/** Maximum bytes of one field, in a report that is too large. */
const maxValueBytes = 2_000;

/**
 * The report as JSON, of at most `max` bytes. Lists are cut; counts stay those of the whole report. `access` is left out, because it is
 * not drift and a message about drift must not show who may log in.
 */
export function boundedReport({ access: _, ...report }: DriftJson, max = maxReportBytes): string {
  let text = JSON.stringify(report);
  for (const maxItems of [1000, 200, 40, 8, 0]) {
    if (Buffer.byteLength(text) <= max) break;
    text = JSON.stringify(cut(report, maxItems));
  }
  return text;
}

type Field = DriftJson['drifted'][number]['fields'][number];

function cut(report: DriftJson, maxItems: number): DriftJson {
  const first = <T>(all: readonly T[]): T[] => all.slice(0, maxItems);
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
