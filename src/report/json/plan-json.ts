/**
 * A plan as JSON, valid against `plan-schema`. Equal plans give equal texts: members have a fixed order, keys inside values are
 * sorted. Of a secret it contains only whether it is set, its version and its source. What the digest covers is never redacted, but
 * for values, of which the hash stays.
 */
import type { Call } from '../../model/plan/call.ts';
import type { Change, Notice } from '../../model/plan/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { blockingIds, isBlocking } from '../../model/plan/guard.ts';
import type { Json } from '../../model/json/json.ts';
import { jsonPointer, toJsonPatch } from '../../model/json/json-patch.ts';
import type { Coverage, Plan } from '../../model/plan/plan.ts';
import { secretPlaceholder } from '../../model/redaction/known-secrets.ts';
import { withRedactedValues } from '../../model/plan/redacted-values.ts';
import type { Redact } from '../../model/redaction/stored-values.ts';
import { summarizeSecret } from '../../model/secret-summary.ts';
import { addressMembers } from './address-members.ts';
import { bodyJson } from './call-body-json.ts';
import { renderJson, sortedKeys } from './canonical-json.ts';
import { diagnosticJson, placeMember, diagnosticsMember } from './diagnostics-json.ts';
import { pathTemplate } from '../format/format-call.ts';
import { guardJson, riskJson } from './guards-json.ts';
import { checksumOf } from './plan-checksum.ts';
import type { PlanJson } from './plan-schema.ts';
import { lastModifiedJson } from '../touched/touched-json.ts';
import { countActions } from '../format/plan-summary.ts';

type ChangeJson = PlanJson['changes'][number];

/** Without a final line end. */
export function renderPlanJson(plan: Plan, about: PlanJsonOptions = {}): string {
  return renderJson(planJson(plan, about));
}

interface PlanJsonOptions {
  /** diagnostics of the command that are no part of the plan */
  readonly told?: readonly ShownDiagnostic[];
  /** redacts secrets in texts; the checksum is computed afterwards */
  readonly clean?: Redact;
}

export function planJson(plan: Plan, { told = [], clean = (all) => all }: PlanJsonOptions = {}): PlanJson {
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
    ...clean(aboutPlan(plan)),
    changes: plan.changes.map((change) => changeJson(plan.stack, change, clean)),
    ...clean(aboutRun(plan, told)),
  };
  return { ...head, checksum: checksumOf({ ...head, ...rest }), ...rest };
}

function aboutPlan(plan: Plan): Pick<PlanJson, 'summary' | 'guards' | 'acknowledge'> {
  return {
    summary: {
      ...countActions(plan.changes),
      unchanged: plan.unchanged,
      mentions: plan.mentions.length,
      problems: plan.problems.length,
      guards: plan.guards.length,
      blocking: plan.guards.filter(isBlocking).length,
    },
    guards: plan.guards.map(guardJson),
    acknowledge: blockingIds(plan.guards),
  };
}

function aboutRun(
  { mentions, problems, coverage }: Plan,
  told: readonly ShownDiagnostic[],
): Pick<PlanJson, 'mentions' | 'problems' | 'coverage' | 'diagnostics'> {
  return {
    mentions: mentions.map(noticeJson),
    problems: problems.map(diagnosticJson),
    coverage: coverageJson(coverage),
    ...diagnosticsMember(told),
  };
}

export function targetsJson(targets: Plan['targets']): PlanJson['targets'] {
  return targets.map(({ name, service, url, place, dialect }) => ({ name, service, url, place, dialect }));
}

function changeJson(stack: string, change: Change, clean: Redact): ChangeJson {
  const { address } = change;
  const fields = change.fields.map((field) =>
    withRedactedValues({ stack, address }, safeField(field), clean),
  );
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

function aboutChange(
  change: Change,
): Pick<ChangeJson, 'risks' | 'notes' | 'calls' | 'sharedCall' | 'relies' | 'touched'> {
  return {
    ...(change.risks === undefined ? {} : { risks: change.risks.map(riskJson) }),
    notes: [...change.notes],
    calls: change.calls.map(callJson),
    ...(change.sharedCall === undefined ? {} : { sharedCall: change.sharedCall }),
    relies: sortedKeys(change.preconditions) as Record<string, Json>,
    ...(change.touched === undefined ? {} : { touched: lastModifiedJson(change.touched) }),
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
  redacted,
}: FieldChange): ChangeJson['fields'][number] {
  return {
    path: jsonPointer(path),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape,
    ...(unknown === undefined ? {} : { unknown }),
    ...(origin === undefined ? {} : { origin }),
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
      ({ target, unread, requests, read, limits, incomplete, invisible, notes, trail }) => ({
        target,
        ...(unread === undefined ? {} : { unread }),
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
