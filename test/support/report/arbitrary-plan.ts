/** Random plans, diagnostics and outcomes, in which every text may contain what a hostile live name can contain. */
import fc from 'fast-check';
import { type Address, type AddressText, formatAddress } from '../../../src/model/address.ts';
import {
  type Call,
  type CallObject,
  type CallValue,
  IdReference,
  SecretReference,
} from '../../../src/model/call.ts';
import type { Change, Notice, Outcome } from '../../../src/model/change.ts';
import type { ShownDiagnostic, Place } from '../../../src/model/diagnostic.ts';
import type { FieldChange, Shape } from '../../../src/model/field.ts';
import { digestVersion } from '../../../src/plan/digest.ts';
import { type Guard, guardDefaults, type Risk } from '../../../src/model/guard.ts';
import type { Json } from '../../../src/model/json.ts';
import type { PlanPart } from '../../../src/model/part.ts';
import { type Coverage, type Plan, planVersion } from '../../../src/model/plan.ts';

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 60 }),
  fc
    .tuple(
      fc.constantFrom('\u001b[2J', '\u202e', '\r', '\n', '\u009b31m', '\u2028', '\u{e0001}', '\0', '\ud800'),
      fc.string(),
    )
    .map((parts) => parts.join('x')),
);

/** For `exactOptionalPropertyTypes`: an optional member is present or absent, never undefined. */
function partial<T extends object>(
  members: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<Partial<T>> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

export const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 2, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

const address: fc.Arbitrary<Address> = fc.record({
  kind: fc.constantFrom('Toy', 'Child'),
  target: fc.constantFrom('one', 'two'),
  name: hostileText,
});

const place: fc.Arbitrary<Place> = fc.record({
  file: hostileText,
  line: fc.integer({ min: 1, max: 5000 }),
  column: fc.integer({ min: 1, max: 150 }),
  length: fc.integer({ min: 0, max: 150 }),
  text: fc.oneof(hostileText, fc.string({ minLength: 100, maxLength: 300 })),
});

const shapes: readonly Shape[] = ['scalar', 'text', 'list', 'set', 'map', 'duration', 'secret'];
const fieldValue = fc.oneof(
  anyJson,
  hostileText,
  fc.array(hostileText, { maxLength: 30 }),
  fc.dictionary(hostileText, hostileText),
  fc.nat(100_000),
);

const field: fc.Arbitrary<FieldChange> = fc
  .tuple(
    fc.record({
      path: fc.array(hostileText, { minLength: 1, maxLength: 3 }),
      shape: fc.constantFrom(...shapes),
    }),
    partial({ before: fieldValue, after: fieldValue, unknown: hostileText, origin: hostileText }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

/** The name may be any text; kind and target have no slash. */
function hostileAddress(name: string): AddressText {
  return formatAddress({ kind: 'Toy', target: 'acme', name });
}

const body: fc.Arbitrary<CallObject> = fc.dictionary(
  hostileText,
  fc.oneof(
    anyJson,
    // Objects that look like references, as a service can return them, and real references, which only a kind can make.
    hostileText.map((text): CallValue => ({ $id: text })),
    hostileText.map((text): CallValue => ({ $secret: { env: text } })),
    hostileText.map((text): CallValue => ({ $value: { $value: { $id: text } } })),
    hostileText.map((text): CallValue => new IdReference(hostileAddress(text))),
    hostileText.map((text): CallValue => new SecretReference({ env: text })),
  ),
);

const call: fc.Arbitrary<Call> = fc
  .tuple(
    fc.record({
      id: hostileText,
      target: hostileText,
      method: fc.constantFrom('POST' as const, 'PATCH' as const, 'PUT' as const, 'DELETE' as const),
      path: fc.array(
        fc.oneof(
          hostileText,
          hostileText.map((text) => new IdReference(hostileAddress(text))),
        ),
        { maxLength: 4 },
      ),
      order: fc.nat(50),
      needs: fc.array(hostileText, { maxLength: 2 }),
      success: fc.constantFrom([200], [200, 204]),
      repeatable: fc.boolean(),
    }),
    partial({
      body,
      already: fc.constant([409]),
      permission: hostileText,
      description: hostileText,
      createsId: fc.record({ address: hostileText.map(hostileAddress), pointer: hostileText }),
    }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

const risk: fc.Arbitrary<Risk> = fc
  .tuple(
    fc.record({
      path: fc.array(hostileText, { maxLength: 2 }),
      effect: fc.constantFrom('widens' as const, 'narrows' as const),
      message: hostileText,
    }),
    partial({ guard: fc.constantFrom('wildcard' as const, 'new-role' as const) }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

const actions = ['create', 'update', 'delete', 'release', 'adopt'] as const;

export const anyChange: fc.Arbitrary<Change> = fc
  .tuple(
    fc.record({
      address,
      action: fc.constantFrom(...actions),
      reason: hostileText,
      fields: fc.array(field, { maxLength: 4 }),
      notes: fc.array(hostileText, { maxLength: 2 }),
      calls: fc.array(call, { maxLength: 2 }),
      preconditions: fc.dictionary(hostileText, anyJson),
    }),
    partial({ place, id: hostileText, sharedCall: hostileText, risks: fc.array(risk, { maxLength: 2 }) }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

export const anyDiagnostic: fc.Arbitrary<ShownDiagnostic> = fc
  .tuple(
    fc.record({
      code: hostileText,
      severity: fc.constantFrom('error' as const, 'warning' as const),
      class: fc.constantFrom(
        'invalid' as const,
        'conflict' as const,
        'incomplete' as const,
        'failure' as const,
      ),
      message: hostileText,
    }),
    partial({
      place,
      found: hostileText,
      allowed: hostileText,
      fix: hostileText,
      related: fc.array(
        fc.tuple(hostileText, partial({ place })).map(([message, may]) => ({ message, ...may })),
        { maxLength: 2 },
      ),
    }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

export const anyOutcome: fc.Arbitrary<Outcome> = fc
  .tuple(
    fc.record({
      address,
      action: fc.constantFrom(...actions),
      kind: fc.constantFrom(
        'applied' as const,
        'unchanged' as const,
        'stale' as const,
        'skipped' as const,
        'failed' as const,
        'unknown' as const,
      ),
    }),
    partial({ detail: hostileText, place, done: fc.array(hostileText, { maxLength: 2 }) }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

const notice: fc.Arbitrary<Notice> = fc
  .tuple(fc.record({ address, message: hostileText }), partial({ fix: hostileText }))
  .map(([must, may]) => ({ ...must, ...may }));

const coverage: fc.Arbitrary<Coverage> = fc.record({
  complete: fc.boolean(),
  files: fc.nat(50),
  documents: fc.nat(50),
  ledger: fc.constantFrom('found' as const, 'none' as const),
  ledgerNotes: fc.array(hostileText, { maxLength: 2 }),
  targets: fc.array(
    fc.record({
      target: hostileText,
      requests: fc.nat(9),
      read: fc.array(
        fc
          .tuple(fc.record({ kind: hostileText, count: fc.nat(9) }), partial({ total: fc.nat(9) }))
          .map(([must, may]) => ({ ...must, ...may })),
        { maxLength: 2 },
      ),
      limits: fc.array(hostileText, { maxLength: 2 }),
      incomplete: fc.array(hostileText, { maxLength: 2 }),
      invisible: fc.array(hostileText, { maxLength: 2 }),
      notes: fc.array(hostileText, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
});

const guard: fc.Arbitrary<Guard> = fc
  .tuple(
    fc.record({
      id: fc.constantFrom(...(Object.keys(guardDefaults) as Guard['id'][])),
      effect: fc.constantFrom('blocks' as const, 'warns' as const),
      counted: fc.nat(50),
      message: hostileText,
      concerns: fc.array(fc.record({ address, messages: fc.array(hostileText, { maxLength: 2 }) }), {
        maxLength: 25,
      }),
    }),
    partial({
      kind: hostileText,
      target: hostileText,
      of: fc.nat(50),
      limit: fc.nat(50),
      ruleHash: hostileText,
      settingHash: hostileText,
    }),
  )
  .map(([must, may]) => ({ ...must, ...may }));

const wholePlan: fc.Arbitrary<Plan> = fc.record({
  version: fc.constant(planVersion),
  stack: hostileText,
  targets: fc.array(
    fc.record({
      name: fc.constantFrom('one', 'two'),
      service: fc.constantFrom('workspaces' as const, 'cluster-auth' as const),
      url: hostileText,
      place: hostileText,
      dialect: hostileText,
    }),
    { maxLength: 2 },
  ),
  changes: fc.array(anyChange, { maxLength: 4 }),
  changedNames: fc.uniqueArray(
    fc.record({
      address: fc.constantFrom('ball', 'bat').map((name) => ({ kind: 'Toy', target: 'acme', name })),
      field: fc.constantFrom('projectId', 'sshKeyId'),
      id: hostileText,
      recorded: fc.array(hostileText, { maxLength: 2 }),
    }),
    { maxLength: 2, selector: ({ address, field }) => `${address.name} ${field}` },
  ),
  unchanged: fc.nat(500),
  notices: fc.array(notice, { maxLength: 2 }),
  problems: fc.array(anyDiagnostic, { maxLength: 2 }),
  guards: fc.array(guard, { maxLength: 3 }),
  coverage,
  digestVersion: fc.constant(digestVersion),
  digest: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 }),
});

const addresses = fc.array(hostileText.map(hostileAddress), { maxLength: 3 });

const anyPart: fc.Arbitrary<PlanPart> = fc.record({
  selectors: fc.array(hostileText, { maxLength: 3 }),
  of: fc.nat(500),
  along: fc.array(fc.record({ address: hostileText.map(hostileAddress), neededBy: addresses }), {
    maxLength: 2,
  }),
  leftOut: fc.nat(500),
});

export const anyPlan: fc.Arbitrary<Plan> = fc
  .tuple(wholePlan, partial({ selection: addresses, part: anyPart }))
  .map(([must, may]) => ({ ...must, ...may }));
