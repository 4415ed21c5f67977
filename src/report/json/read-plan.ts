/**
 * Reads a plan from its JSON: the inverse of `plan-json`, except for what the JSON lacks (the text of a manifest's line).
 * The calls of such a plan are never sent: it is only shown, and compared with a fresh one.
 */
import { messageOf } from '../../model/message-of.ts';
import { type Call, IdReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Guard } from '../../model/plan/guard.ts';
import { isJsonObject, type Json, type Path, sameJson } from '../../model/json/json.ts';
import { type Plan, planVersion } from '../../model/plan/plan.ts';
import { isRedactionPlain } from '../../model/plan/redacted-values.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { readAddress } from '../../model/resource/address.ts';
import { quoted } from '../../model/quoted.ts';
import { bodyObject } from './call-body-json.ts';
import { checksumOf } from './plan-checksum.ts';
import { safeField } from './plan-json.ts';
import type { DiagnosticJson, PlanJson } from './plan-schema.ts';

export type ReadPlan =
  | { readonly is: 'plan'; readonly plan: Plan }
  /** no plan: another file, or an incomplete one */
  | { readonly is: 'no-plan'; readonly why: string }
  /** a plan of a version that this trueup does not support */
  | { readonly is: 'other-version'; readonly version: Json }
  /** not as trueup writes plans */
  | { readonly is: 'malformed'; readonly why: string };

interface PlanReader {
  /** Validates a value against `planSchema`. @returns clauses; empty when it is valid */
  check(value: Json): readonly string[];
}

export function readPlan(text: string, { check }: PlanReader): ReadPlan {
  const value = parseJson(text);
  if (value === undefined) return { is: 'no-plan', why: 'it is no JSON' };
  if (!isPlanFile(value)) return { is: 'no-plan', why: 'it is JSON, but no plan' };
  if (value['version'] !== planVersion) return { is: 'other-version', version: value['version'] ?? null };
  if (!('checksum' in value)) return { is: 'malformed', why: noChecksum };
  const [why = edited(value)] = check(value);
  if (why !== undefined) return { is: 'malformed', why };
  try {
    // Safe: `check` has validated it.
    return { is: 'plan', plan: planOf(value as unknown as PlanJson) };
  } catch (error) {
    return { is: 'malformed', why: messageOf(error) };
  }
}

const noChecksum = 'it has no checksum, so it was edited, or an earlier trueup made it';

function edited(value: PlanMembers): string | undefined {
  return value['checksum'] === checksumOf(value)
    ? undefined
    : 'its checksum does not match, so something in it was changed';
}

/** Whether the JSON has the form of a plan of any version. */
export function isPlanFile(value: Json): value is PlanMembers {
  return isJsonObject(value) && 'version' in value && 'digest' in value && 'changes' in value;
}

type PlanMembers = Readonly<Record<string, Json>>;

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of plans that do not tell theirs. */
const firstDigestVersion = 2;

/** Everything that is shown must be what the digest covers. */
function planOf({
  checksum: _,
  summary,
  guards,
  acknowledge: __,
  diagnostics: ___,
  changes,
  mentions,
  problems,
  selection,
  ...rest
}: PlanJson): Plan {
  return {
    digestVersion: firstDigestVersion,
    ...rest,
    ...(selection === undefined ? {} : { selection: selection.map(readAddress) }),
    unchanged: summary.unchanged,
    guards: guards.map(guardOf),
    changes: changes.map(changeOf),
    mentions: mentions.map(({ address: _, kind, target, name, ...said }) => ({
      ...said,
      address: { kind, target, name },
    })),
    problems: problems.map(diagnosticOf),
  };
}

function guardOf({ concerns, ...rest }: PlanJson['guards'][number]): Guard {
  return {
    ...rest,
    concerns: concerns.map(({ kind, target, name, says }) => ({
      address: { kind, target, name },
      messages: says,
    })),
  };
}

function changeOf(json: PlanJson['changes'][number]): Change {
  const {
    address: _,
    patch: __,
    kind,
    target,
    name,
    place,
    fields,
    calls,
    risks,
    relies,
    references,
    ...rest
  } = json;
  return {
    ...rest,
    preconditions: relies,
    address: { kind, target, name },
    fields: fields.map(fieldOf),
    calls: calls.map(callOf),
    ...(risks === undefined ? {} : { risks: risks.map(riskOf) }),
    ...(place === undefined ? {} : { place: placeOf(place) }),
    ...(references === undefined ? {} : { references: referencesOf(references) }),
  };
}

function referencesOf(references: Readonly<Record<string, string>>): NonNullable<Change['references']> {
  return Object.fromEntries(Object.entries(references).map(([address, id]) => [readAddress(address), id]));
}

function riskOf({ path, says, ...rest }: NonNullable<PlanJson['changes'][number]['risks']>[number]): Risk {
  return { ...rest, path: pathOf(path), message: says };
}

/** @throws when a value is not shown as it is: a reader would take it for another one */
function fieldOf({ path, ...rest }: PlanJson['changes'][number]['fields'][number]): FieldChange {
  const field = { ...rest, path: pathOf(path) };
  if (!isRedactionPlain(field))
    throw new Error(`${quoted(path)} has the hash of a redacted value, and shows another value`);
  const { before, after } = safeField(field);
  if (!sameJson([before ?? null, after ?? null], [field.before ?? null, field.after ?? null]))
    throw new Error(`${quoted(path)} is shown as a secret, and holds another value`);
  return field;
}

/** The inverse of `jsonPointer` (RFC 6901). @throws when the text is no pointer */
function pathOf(pointer: string): Path {
  const [first, ...segments] = pointer.split('/');
  if (first !== '') throw new Error(`${quoted(pointer)} is no JSON pointer`);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function callOf({ path, body, gives, says, ...rest }: PlanJson['changes'][number]['calls'][number]): Call {
  const sent = bodyObject(body);
  return {
    ...rest,
    path: segmentsOf(path),
    ...(gives === undefined ? {} : { createsId: { ...gives, address: readAddress(gives.address) } }),
    ...(says === undefined ? {} : { description: says }),
    ...(sent === undefined ? {} : { body: sent }),
  };
}

/** The inverse of `pathTemplate`: braces always mean references, because in segments they are encoded. */
function segmentsOf(template: string): Call['path'] {
  return [...template.matchAll(/\/(?:\{(.*?)\}(?=\/|$)|([^/]*))/gs)].map(([, $id, segment = '']) =>
    $id === undefined ? decodeURIComponent(segment) : new IdReference(readAddress($id)),
  );
}

/** The code stays any text: another version may have codes that are unknown here. */
function diagnosticOf({ place, related, ...rest }: DiagnosticJson): ShownDiagnostic {
  return {
    ...rest,
    ...placed(place),
    ...(related === undefined
      ? {}
      : { related: related.map((other) => ({ message: other.message, ...placed(other.place) })) }),
  };
}

function placed(place: DiagnosticJson['place']): { readonly place?: Place } {
  return place === undefined ? {} : { place: placeOf(place) };
}

function placeOf({ file, line, column }: NonNullable<DiagnosticJson['place']>): Place {
  return { file, line, column, length: 0, text: '' };
}
