/**
 * Reads plan files, and only those that trueup wrote. A file that was edited, or has an unknown version, is refused before
 * anything is compared with it. The calls of such a plan are never sent: it is only shown, and compared with a new one.
 */
import { resolve } from 'node:path';
import { megabyte, readRegularText, UnfitFile } from '../files/read-file.ts';
import { compileSchema, type SchemaError } from '../manifest/schema/compile-schema.ts';
import { readAddress } from '../model/address.ts';
import { type Call, IdReference } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import { jsonSchema } from '../model/define-kind.ts';
import type { Place, ShownDiagnostic } from '../model/diagnostic.ts';
import { messageOf } from '../model/error-message.ts';
import type { FieldChange } from '../model/field.ts';
import type { Guard, Risk } from '../model/guard.ts';
import { isJsonObject, type Json, type Path, sameJson } from '../model/json.ts';
import type { NeededResource } from '../model/part.ts';
import { type ChangedName, type Plan, planVersion } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import { digestOf, digestVersion, formerDigestOf } from '../plan/digest.ts';
import { secretPlaceholder } from '../redaction/known-secrets.ts';
import { showsOnlyPlaceholders } from '../redaction/stored-values.ts';
import { type DiagnosticJson, type PlanJson, planSchema } from '../report/json/plan-schema.ts';
import { checksumOf, safeField } from '../report/json/plan.ts';
import { bodyObject } from '../report/view/call.ts';
import { leadsToAfter } from './check-patch.ts';
import { CommandStop } from './command-stop.ts';

export interface PlanFile {
  /** as the user typed it */
  readonly file: string;
  readonly plan: Plan;
}

const unreadable: Readonly<Record<string, string>> = { ENOENT: 'there is no such file' };

/** The maximal size of a plan file in bytes, some ten thousand times that of a usual one. */
export const maxPlanSize = 256 * megabyte;

const folderReason = 'it is a directory, and no file that "trueup plan --out" wrote';

/**
 * @param file as the user typed it
 * @throws CommandStop when it cannot be used as a plan
 */
export async function openPlanFile(file: string, cwd: string): Promise<PlanFile> {
  const text = await readRegularText(resolve(cwd, file), maxPlanSize).catch(
    (error: NodeJS.ErrnoException) => {
      const isFolder = error instanceof UnfitFile && error.obstacle === 'folder';
      const why = isFolder ? folderReason : (unreadable[error.code ?? ''] ?? error.message);
      throw new CommandStop('plan-unreadable', `the plan ${quoted(file)} cannot be read: ${why}`);
    },
  );
  const read = readPlan(text, { check });
  switch (read.is) {
    case 'no-plan':
      throw new CommandStop(
        'not-a-plan',
        `${quoted(file)} is not a plan: ${read.why}; make one with "trueup plan --out plan.json"`,
      );
    case 'other-version':
      throw planAgain(
        file,
        `has version ${JSON.stringify(read.version)}, and this trueup reads version ${planVersion}`,
      );
    case 'malformed':
      throw edited(file, read.why);
    case 'plan':
      checkDigest(file, read.plan);
      return { file, plan: read.plan };
  }
}

/** The digest is always computed again from what the file shows. */
function checkDigest(file: string, plan: Plan): void {
  const isCurrent = plan.digestVersion === digestVersion;
  if (!isCurrent && (plan.digestVersion !== 2 || JSON.stringify(plan.changes).includes(secretPlaceholder)))
    throw planAgain(
      file,
      `has a digest of version ${plan.digestVersion}, which this trueup cannot check against what the file shows`,
    );
  if (plan.digest !== (isCurrent ? digestOf(plan) : formerDigestOf(plan)))
    throw edited(file, `its digest ${quoted(plan.digest)} is not that of its changes`);
}

/**
 * The plan that an apply was given as its approval.
 * @throws CommandStop also for a digest of an earlier version, which does not cover all that an approval covers today
 */
export async function openApprovedPlan(file: string, cwd: string): Promise<PlanFile> {
  const given = await openPlanFile(file, cwd);
  if (given.plan.digestVersion !== digestVersion)
    throw planAgain(file, 'was made by an earlier trueup, whose digests cover less');
  return given;
}

function planAgain(file: string, why: string): CommandStop {
  return new CommandStop('plan-version', `the plan ${quoted(file)} ${why}: plan again, and approve again`);
}

/** Whether a path of a command line means a plan file: by its content, or by its name when that ends in `.json`. */
export async function meansPlanFile(file: string, cwd: string): Promise<boolean> {
  const path = resolve(cwd, file);
  const text = await readRegularText(path, maxPlanSize).catch((error: unknown) => error);
  // A file that is too long is not read, so its name decides; opening it as a plan reports its size.
  if (text instanceof UnfitFile && text.obstacle === 'too-long') return file.endsWith('.json');
  if (typeof text !== 'string') return false;
  const value = text.trimStart().startsWith('{') ? parsed(text) : undefined;
  if (value !== undefined && isPlanFile(value)) return true;
  const isStack = typeof value === 'object' && value !== null && 'kind' in value;
  return file.endsWith('.json') && !isStack;
}

export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function edited(file: string, why: string): CommandStop {
  return new CommandStop(
    'plan-edited',
    `the plan ${quoted(file)} is not as trueup wrote it: ${why}; plan again, a plan cannot be edited`,
  );
}

/** The errors of a plan by its schema. Unknown members are not errors: a newer trueup may have written them, with the same version. */
function check(value: Json): readonly string[] {
  return compileSchema(planSchema, () => jsonSchema(planSchema))(value)
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .map(errorText);
}

function errorText({ instancePath, message = 'does not fit the schema' }: SchemaError): string {
  return `${instancePath === '' ? 'it' : quoted(instancePath)} ${message}`;
}

// Reads a plan from its JSON: the inverse of `report/json/plan.ts`, except for what the JSON lacks (the text of a manifest's line).
// The calls of such a plan are never sent: it is only shown, and compared with a fresh one.

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
  const value = parsed(text);
  if (value === undefined) return { is: 'no-plan', why: 'it is not JSON' };
  if (!isPlanFile(value)) return { is: 'no-plan', why: 'it is JSON, but no plan' };
  if (value['version'] !== planVersion) return { is: 'other-version', version: value['version'] ?? null };
  if (!('checksum' in value)) return { is: 'malformed', why: noChecksum };
  const [why = whyEdited(value)] = check(value);
  if (why !== undefined) return { is: 'malformed', why };
  try {
    // Safe: `check` has validated it.
    return { is: 'plan', plan: planOf(value as unknown as PlanJson) };
  } catch (error) {
    return { is: 'malformed', why: messageOf(error) };
  }
}

const noChecksum = 'it has no checksum, so it was edited, or an earlier trueup made it';

function whyEdited(value: PlanMembers): string | undefined {
  return value['checksum'] === checksumOf(value)
    ? undefined
    : 'its checksum does not match, so something in it was changed';
}

/** Whether the JSON has the form of a plan of any version. */
export function isPlanFile(value: Json): value is PlanMembers {
  return isJsonObject(value) && 'version' in value && 'digest' in value && 'changes' in value;
}

type PlanMembers = Readonly<Record<string, Json>>;

/** The version of plans without this member. */
const firstDigestVersion = 2;

/** The plan that the JSON describes. All that is shown of it must be what the digest covers. */
function planOf({
  checksum: _,
  summary,
  guards,
  acknowledge: __,
  diagnostics: ___,
  changes,
  changedNames = [],
  mentions,
  problems,
  selection,
  part,
  ...rest
}: PlanJson): Plan {
  return {
    digestVersion: firstDigestVersion,
    ...rest,
    ...(selection === undefined ? {} : { selection: selection.map(readAddress) }),
    ...(part === undefined ? {} : { part: { ...part, along: part.along.map(neededOf) } }),
    unchanged: summary.unchanged,
    guards: guards.map(guardOf),
    changes: changes.map(changeOf),
    changedNames: changedNames.map(changedNameOf),
    notices: mentions.map(({ address: _, kind, target, name, ...rest }) => ({
      ...rest,
      address: { kind, target, name },
    })),
    problems: problems.map(diagnosticOf),
  };
}

function changedNameOf({
  address: _,
  kind,
  target,
  name,
  resource,
  recordedAs,
  ...rest
}: NonNullable<PlanJson['changedNames']>[number]): ChangedName {
  return {
    ...rest,
    address: { kind, target, name },
    ...(resource === undefined ? {} : { resource: readAddress(resource) }),
    ...(recordedAs === undefined ? {} : { recordedAs: readAddress(recordedAs) }),
  };
}

function neededOf({ address, neededBy }: NonNullable<PlanJson['part']>['along'][number]): NeededResource {
  return { address: readAddress(address), neededBy: neededBy.map(readAddress) };
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
  const { address, patch, kind, target, name, place, fields, calls, risks, relies, references, ...rest } =
    json;
  const read = fields.map(fieldOf);
  if (!leadsToAfter(patch, read))
    throw new Error(`the patch of ${quoted(address)} is not that of its fields`);
  return {
    ...rest,
    preconditions: relies,
    address: { kind, target, name },
    fields: read,
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

/** @throws when the file shows another value than it holds, because that would mislead a reader */
function fieldOf({ path, names, ...rest }: PlanJson['changes'][number]['fields'][number]): FieldChange {
  const field = {
    ...rest,
    path: pathOf(path),
    ...(names === undefined
      ? {}
      : { names: names.map(({ at, ...sides }) => ({ ...sides, at: pathOf(at) })) }),
  };
  if (!showsOnlyPlaceholders(field))
    throw new Error(`${quoted(path)} has the hash of a redacted value, and shows another value`);
  const { before, after } = safeField(field);
  if (!sameJson([before ?? null, after ?? null], [field.before ?? null, field.after ?? null]))
    throw new Error(`${quoted(path)} is shown as a secret, and holds another value`);
  return field;
}

/** The inverse of `jsonPointer` (RFC 6901). @throws when the text is no pointer */
function pathOf(pointer: string): Path {
  const [first, ...segments] = pointer.split('/');
  if (first !== '') throw new Error(`${quoted(pointer)} is not a JSON pointer`);
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

/** The code may be any text: another version may have codes that are unknown here. */
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
