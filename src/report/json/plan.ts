/**
 * A plan as JSON, valid against `plan-schema.ts`. Equal plans give equal texts. Of a secret it contains only whether it is set,
 * its version and its source. What the digest covers is never redacted, except for values, whose hash is kept.
 */
import { createHash } from 'node:crypto';
import type { LastModified, Modification } from '../../model/audit-trail.ts';
import type { Call } from '../../model/call.ts';
import type { Change, Notice } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { type FieldChange, jsonPointer, toJsonPatch } from '../../model/field.ts';
import { acknowledgeableIds, type Guard, isBlocking, type Risk } from '../../model/guard.ts';
import { canonicalText, type Json } from '../../model/json.ts';
import type { PlanPart } from '../../model/part.ts';
import type { ChangedName, Coverage, Plan } from '../../model/plan.ts';
import type { PlanPolicies } from '../../model/policy.ts';
import { secretPlaceholder } from '../../redaction/known-secrets.ts';
import { summarizeSecret } from '../../redaction/mask-text.ts';
import { type Redact, withRedactedValues } from '../../redaction/stored-values.ts';
import { bodyJson, pathTemplate } from '../view/call.ts';
import { countActions } from '../view/plan-summary.ts';
import type { PlanJson } from './plan-schema.ts';
import {
  addressMembers,
  diagnosticJson,
  diagnosticsMember,
  placeMember,
  renderJson,
  sortedKeys,
} from './render-json.ts';

type ChangeJson = PlanJson['changes'][number];

/** The text of the JSON, without a final line end. */
export function renderPlanJson(plan: Plan, about: PlanJsonOptions = {}): string {
  return renderJson(planJson(plan, about));
}

interface PlanJsonOptions {
  /** diagnostics of the command that are not part of the plan */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** redacts secrets in texts; the checksum is computed afterwards */
  readonly clean?: Redact;
}

export function planJson(
  plan: Plan,
  { diagnostics = [], clean = (all) => all }: PlanJsonOptions = {},
): PlanJson {
  const head = {
    version: plan.version,
    stack: plan.stack,
    digest: plan.digest,
    digestVersion: plan.digestVersion,
    ...(plan.made === undefined ? {} : { made: plan.made }),
  };
  const rest = {
    targets: targetsJson(plan.targets),
    ...(plan.selection === undefined ? {} : { selection: [...plan.selection] }),
    ...partMember(plan),
    ...clean(aboutPlan(plan)),
    changes: plan.changes.map((change) => changeJson(plan.stack, change, clean)),
    ...(plan.changedNames.length === 0 ? {} : { changedNames: plan.changedNames.map(changedNameJson) }),
    ...clean(aboutRun(plan, diagnostics)),
  };
  // Converted to JSON and back, because the file will lack values that JSON cannot express, such as undefined.
  const written = JSON.parse(JSON.stringify({ ...head, ...rest })) as Record<string, Json>;
  return { ...head, checksum: checksumOf(written), ...rest };
}

function aboutPlan(plan: Plan): Pick<PlanJson, 'summary' | 'guards' | 'acknowledge' | 'policies'> {
  return {
    summary: {
      ...countActions(plan.changes),
      unchanged: plan.unchanged,
      mentions: plan.notices.length,
      problems: plan.problems.length,
      guards: plan.guards.length,
      blocking: plan.guards.filter(isBlocking).length,
    },
    guards: plan.guards.map(guardJson),
    acknowledge: acknowledgeableIds(plan.guards),
    ...(plan.policies === undefined ? {} : { policies: policiesJson(plan.policies) }),
  };
}

function aboutRun(
  { notices, problems, coverage }: Plan,
  diagnostics: readonly ShownDiagnostic[],
): Pick<PlanJson, 'mentions' | 'problems' | 'coverage' | 'diagnostics'> {
  return {
    mentions: notices.map(noticeJson),
    problems: problems.map(diagnosticJson),
    coverage: coverageJson(coverage),
    ...diagnosticsMember(diagnostics),
  };
}

export function partMember({ part }: { readonly part?: PlanPart | undefined }): Pick<PlanJson, 'part'> {
  if (part === undefined) return {};
  const { selectors, of, along, leftOut } = part;
  return {
    part: {
      selectors: [...selectors],
      of,
      along: along.map(({ address, neededBy }) => ({ address, neededBy: [...neededBy] })),
      leftOut,
    },
  };
}

export function targetsJson(targets: Plan['targets']): PlanJson['targets'] {
  return targets.map(({ name, service, url, place, dialect }) => ({ name, service, url, place, dialect }));
}

function changeJson(stack: string, change: Change, clean: Redact): ChangeJson {
  const { address } = change;
  const fields = change.fields.map((field) => ({
    ...withRedactedValues({ stack, address }, safeField(field), clean),
    ...(field.names === undefined ? {} : { names: clean(field.names) }),
  }));
  return {
    ...addressMembers(address),
    action: change.action,
    ...clean({ reason: change.reason, ...placeMember(change.place) }),
    ...(change.id === undefined ? {} : { id: change.id }),
    ...(change.createdBy === undefined ? {} : { createdBy: change.createdBy }),
    ...(change.fingerprint === undefined ? {} : { fingerprint: change.fingerprint }),
    ...(change.references === undefined
      ? {}
      : { references: sortedKeys(change.references) as Record<string, string> }),
    fields: fields.map(fieldJson),
    patch: toJsonPatch(fields),
    ...clean(aboutChange(change)),
  };
}

function changedNameJson({
  address,
  recorded,
  ...rest
}: ChangedName): NonNullable<PlanJson['changedNames']>[number] {
  return { ...addressMembers(address), ...rest, recorded: [...recorded] };
}

function aboutChange(
  change: Change,
): Pick<ChangeJson, 'risks' | 'notes' | 'calls' | 'sharedCall' | 'relies' | 'touched'> {
  return {
    ...(change.risks === undefined ? {} : { risks: change.risks.map(riskJson) }),
    notes: [...change.notes],
    calls: change.calls.map(callJson),
    ...(change.sharedCall === undefined ? {} : { sharedCall: change.sharedCall }),
    relies: sortedKeys(change.preconditions) as Record<string, Json>,
    ...(change.lastModified === undefined ? {} : { touched: lastModifiedJson(change.lastModified) }),
  };
}

/** The change with sorted values, and secrets as summaries. */
export function safeField(change: FieldChange): FieldChange {
  const safe = (value: Json) => (change.shape === 'secret' ? safeSecret(value) : sortedKeys(value));
  const { before, after, ...rest } = change;
  return {
    ...rest,
    ...(before === undefined ? {} : { before: safe(before) }),
    ...(after === undefined ? {} : { after: safe(after) }),
  };
}

function safeSecret(value: Json): Json {
  return value === null || value === secretPlaceholder ? value : { ...summarizeSecret(value) };
}

export function fieldJson({
  path,
  before,
  after,
  shape,
  unknown,
  origin,
  names,
  redacted,
}: FieldChange): ChangeJson['fields'][number] {
  return {
    path: jsonPointer(path),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape,
    ...(unknown === undefined ? {} : { unknown }),
    ...(origin === undefined ? {} : { origin }),
    ...(names === undefined
      ? {}
      : { names: names.map(({ at, ...sides }) => ({ at: jsonPointer(at), ...sides })) }),
    ...(redacted === undefined ? {} : { redacted }),
  };
}

function callJson(call: Call): ChangeJson['calls'][number] {
  return {
    id: call.id,
    target: call.target,
    method: call.method,
    path: pathTemplate(call.path),
    ...(call.body === undefined ? {} : { body: sortedKeys(bodyJson(call.body)) }),
    order: call.order,
    needs: [...call.needs],
    success: [...call.success],
    ...(call.already === undefined ? {} : { already: [...call.already] }),
    repeatable: call.repeatable,
    ...(call.createsId === undefined
      ? {}
      : { gives: { address: call.createsId.address, pointer: call.createsId.pointer } }),
    ...(call.permission === undefined ? {} : { permission: call.permission }),
    ...(call.description === undefined ? {} : { says: call.description }),
  };
}

export function noticeJson({ address, message, fix }: Notice): PlanJson['mentions'][number] {
  return { ...addressMembers(address), message, ...(fix === undefined ? {} : { fix }) };
}

export function coverageJson(coverage: Coverage): PlanJson['coverage'] {
  const { complete, files, documents, ledger, ledgerNotes, targets } = coverage;
  return {
    complete,
    files,
    documents,
    ledger,
    ledgerNotes: [...ledgerNotes],
    targets: targets.map(
      ({ target, unread, skipped, requests, read, limits, incomplete, invisible, notes, trail }) => ({
        target,
        ...(unread === undefined ? {} : { unread }),
        ...(skipped === undefined ? {} : { skipped }),
        requests,
        read: read.map(({ kind, count, total }) => ({
          kind,
          count,
          ...(total === undefined ? {} : { total }),
        })),
        limits: [...limits],
        incomplete: [...incomplete],
        invisible: [...invisible],
        notes: [...notes],
        ...(trail === undefined ? {} : { trail }),
      }),
    ),
  };
}

// Policies, guards and risks as JSON.

function policiesJson({ sources, exempted, ...rest }: PlanPolicies): NonNullable<PlanJson['policies']> {
  return {
    ...rest,
    sources: sources.map(({ files, ...one }) => ({ ...one, ...(files && { files: [...files] }) })),
    exempted: exempted.map((one) => ({ ...one })),
  };
}

function guardJson({ concerns, ...guard }: Guard): PlanJson['guards'][number] {
  const { id, effect, kind, target, counted, of, limit, message, ruleHash, settingHash } = guard;
  return {
    id,
    effect,
    ...(kind === undefined ? {} : { kind }),
    ...(target === undefined ? {} : { target }),
    counted,
    ...(of === undefined ? {} : { of }),
    ...(limit === undefined ? {} : { limit }),
    message,
    concerns: concerns.map(({ address, messages }) => ({ ...addressMembers(address), says: [...messages] })),
    ...(ruleHash === undefined ? {} : { ruleHash }),
    ...(settingHash === undefined ? {} : { settingHash }),
  };
}

function riskJson({
  path,
  effect,
  message,
  guard,
}: Risk): NonNullable<PlanJson['changes'][number]['risks']>[number] {
  return { path: jsonPointer(path), effect, says: message, ...(guard === undefined ? {} : { guard }) };
}

// Who last modified a resource, as JSON: without the rest of the event, which the trail has.

type LastModifiedJson = NonNullable<PlanJson['changes'][number]['touched']>;

export function lastModifiedJson({ modifications, unknown }: LastModified): LastModifiedJson {
  return { touches: modifications.map(modificationJson), ...(unknown === undefined ? {} : { unknown }) };
}

function modificationJson({
  at,
  actor,
  resource,
  event,
  requestId,
  maybeOurs,
}: Modification): LastModifiedJson['touches'][number] {
  const { id, name, kind, impersonatorId } = actor;
  return {
    at,
    actor: { id, name, kind, ...(impersonatorId === undefined ? {} : { impersonatorId }) },
    resource: { type: resource.type, action: resource.action },
    event,
    ...(requestId === undefined ? {} : { requestId }),
    ...(maybeOurs && { maybeOurs }),
  };
}

// The checksum of a plan file, which shows whether it was edited. It covers everything, texts, places and calls included. The
// digest covers only what the plan means, but a reviewer reads the rest, too.

/** The hash of all members except `checksum`, independent of member order and white space. @returns 64 hexadecimal characters */
export function checksumOf({ checksum: _, ...rest }: Readonly<Record<string, Json>>): string {
  return createHash('sha256').update(canonicalText(rest)).digest('hex');
}
