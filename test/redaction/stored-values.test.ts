// A secret in any member of what is stored is redacted; only names stay (docs/guides/safety.md, "No secret is stored").
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrailEvent } from '../../src/model/audit-trail.ts';
import type { AddressText } from '../../src/model/address.ts';
import type { FieldChange } from '../../src/model/field.ts';
import { type Json, sameJson } from '../../src/model/json.ts';
import { KnownSecrets } from '../../src/redaction/known-secrets.ts';
import {
  findStored,
  matchesRedacted,
  redactEntry,
  redactEvent,
  redactLedger,
  redactLock,
} from '../../src/redaction/stored-values.ts';
import type {
  HistoryChange,
  HistoryEntry,
  Ledger,
  LedgerLock,
  LedgerRecord,
  RunIdentity,
} from '../../src/model/ledger.ts';
import type { ChangeForPolicies } from '../../src/model/policy.ts';
import type { IdentityText } from '../../src/model/stack.ts';

const planted = 'planted-s3cret';
const at = `Workspace/acme/${planted}` as AddressText;
const place = `https://service.internal acme ${planted}` as IdentityText;
const value = { [planted]: [planted, { deep: planted }] };

const run: Required<RunIdentity> = {
  id: planted,
  attempt: 1,
  sole: true,
  who: planted,
  where: planted,
  pid: 1,
  pidNamespace: planted,
  url: planted,
};

const record: Required<LedgerRecord> = {
  id: planted,
  origin: 'created',
  onRemove: 'delete',
  protect: true,
  fields: value,
  content: value,
  seen: value,
  inherited: value,
  names: { projectId: { name: planted, id: 'prj-1' } },
  marks: value,
  formerOwners: [{ stack: planted, id: planted }],
};

const ledger: Ledger = {
  known: true,
  serial: 1,
  records: new Map([[at, record]]),
  targets: new Map([[planted, place]]),
  commit: { id: planted, dirty: true },
  closedFor: planted,
  incoming: [{ from: { stack: planted, id: planted }, folder: planted, records: { [at]: { at, record } } }],
  movedAway: new Map([[at, { to: { stack: planted, id: planted }, id: planted, at: planted }]]),
  offered: [{ run: planted, digest: planted, at: planted }],
  approved: {
    version: 3,
    digest: planted,
    atoms: [planted],
    passed: [planted],
    replaced: [planted],
    createdAt: planted,
    since: planted,
  },
};

const checked: Required<ChangeForPolicies> = {
  before: value,
  after: value,
  tags: { [planted]: planted },
  tagsBefore: { [planted]: planted },
  accessGained: [planted],
  accessLost: [planted],
  declaredAt: planted,
  hasUnknownTags: true,
  hasUnknownInherited: true,
  getsOtherTags: true,
  parent: planted as AddressText,
  references: [planted as AddressText],
};

const field: Required<FieldChange> = {
  path: [planted],
  before: planted,
  after: value,
  shape: 'map',
  origin: 'declared',
  unknown: planted,
  names: [{ at: [planted], before: planted, after: planted }],
  redacted: { before: planted, after: planted },
};

const change: Required<HistoryChange> = {
  address: at,
  action: 'update',
  reason: planted,
  outcome: 'unchanged',
  detail: planted,
  done: [planted],
  requests: [planted],
  unnamed: true,
  inDoubt: true,
  foundTrue: true,
  fields: [field],
  was: { [at]: value },
  checked,
};

const entry: Required<HistoryEntry> = {
  version: 1,
  id: planted,
  stack: planted,
  run,
  began: planted,
  ended: planted,
  commit: planted,
  dirty: true,
  uncommitted: planted,
  ignored: true,
  commitKept: true,
  moved: true,
  digest: planted,
  acknowledged: ['deletes'],
  part: { selected: 1, of: 2 },
  targets: { [planted]: place },
  clocks: { [planted]: 1 },
  settled: planted,
  openCreations: [at],
  begunFields: [{ address: at, id: planted, fields: [field] }],
  proved: true,
  endedApprovals: { [planted]: planted },
  approvals: [
    {
      method: 'signature',
      by: planted,
      digest: planted,
      commit: planted,
      at: planted,
      pullRequest: 1,
      acknowledged: ['deletes'],
    },
  ],
  policies: {
    count: 1,
    at: planted,
    sources: [
      { policies: 1, files: [planted], remote: planted, ref: planted, path: planted, commit: planted },
    ],
    exempted: [{ guard: 'policy/one', address: planted, until: planted, owner: planted }],
  },
  unchanged: 1,
  unrecorded: true,
  pruned: { until: planted, endedApprovals: { [planted]: planted } },
  tagged: { [planted as AddressText]: checked },
  related: { [planted]: value },
  changes: [change],
};

const lock: Required<LedgerLock> = { id: planted, run, since: planted };

const event: Required<TrailEvent> = {
  id: planted,
  version: planted,
  type: planted,
  timestamp: planted,
  at: 1,
  actor: { id: planted, name: planted, kind: planted, impersonatorId: planted },
  organizationId: planted,
  requestId: planted,
  resource: { id: planted, type: planted, action: planted },
  raw: value,
};

const secrets = new KnownSecrets();
secrets.keep(planted, 'the environment variable "TOKEN"');
const redact = <T extends object>(text: T) => secrets.redactKept(text);

/** The paths of a value at which a key or a text contains the secret. */
function pathsOf(stored: unknown, path = ''): string[] {
  if (typeof stored === 'string') return stored.includes(planted) ? [path] : [];
  if (typeof stored !== 'object' || stored === null) return [];
  const members = stored instanceof Map ? [...stored] : Object.entries(stored);
  return members.flatMap(([key, member]) => [
    ...(String(key).includes(planted) ? [`${path}.(key)`] : []),
    ...pathsOf(member, `${path}.${String(key).includes(planted) ? '*' : key}`),
  ]);
}

describe('a secret in every member', () => {
  it.each([
    [
      'of a ledger is redacted, except in names and ids of resources, targets, stacks and guards',
      redactLedger(ledger, redact, (approved) => approved),
      ['.records.(key)', '.records.*.id', '.targets.(key)', '.targets.*', '.closedFor'].concat([
        '.records.*.formerOwners.0.stack',
        '.records.*.formerOwners.0.id',
        '.incoming.0.from.stack',
        '.incoming.0.from.id',
        '.incoming.0.folder',
        '.incoming.0.records.(key)',
        '.incoming.0.records.*.at',
        '.incoming.0.records.*.record.id',
        '.incoming.0.records.*.record.formerOwners.0.stack',
        '.incoming.0.records.*.record.formerOwners.0.id',
        '.movedAway.(key)',
        '.movedAway.*.to.stack',
        '.movedAway.*.to.id',
        '.movedAway.*.id',
        '.movedAway.*.at',
        '.offered.0.digest',
        '.approved.digest',
        '.approved.atoms.0',
        '.approved.passed.0',
        '.approved.replaced.0',
      ]),
    ],
    ['of a lock is redacted, except in its id', redactLock(lock, redact), ['.id']],
    [
      'of an entry of the history is redacted, except in names and ids',
      redactEntry(entry, redact),
      [
        '.id',
        '.stack',
        '.digest',
        '.approvals.0.digest',
        '.targets.(key)',
        '.targets.*',
        '.changes.0.address',
        '.changes.0.was.(key)',
        '.tagged.(key)',
        '.related.(key)',
      ],
    ],
    [
      'of an archived event is redacted, except in the ids of event, organization and resource',
      redactEvent(event, redact),
      ['.id', '.organizationId', '.resource.id'],
    ],
  ])('%s', (_, stored, names) => {
    expect([...new Set(pathsOf(stored))].sort()).toEqual([...names].sort());
  });

  it('of a ledger is redacted, even in members that this version does not know', () => {
    const later = { ...ledger, records: new Map([[at, { ...record, later: planted }]]), later: value };
    const paths = pathsOf(redactLedger(later, redact, (approved) => approved));
    expect(paths.filter((path) => path.includes('later'))).toEqual([]);
  });

  it('in a stored ledger is found, with the record and the source', () => {
    const found = findStored(ledger, (text) => secrets.sourcesIn(text));
    const source = 'the environment variable "TOKEN"';
    expect(found).toContainEqual({ record: at, member: 'seen', source });
    expect(found.map(({ member }) => member).sort()).toEqual([
      'approved',
      'commit',
      'content',
      'fields',
      'incoming',
      'inherited',
      'marks',
      'names',
      'offered',
      'seen',
    ]);
  });
});

describe('A stored value', () => {
  const text = fc
    .array(fc.constantFrom(planted, 'a', 'b', ' ', 'planted'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  const json = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 2 },
      text,
      fc.integer(),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('x', 'y'), tie('json')),
    ),
  })).json;

  it('that was redacted matches what it was before', () => {
    const secrets = new KnownSecrets();
    secrets.keep(planted);
    fc.assert(
      fc.property(json, (value) => {
        const { stored } = secrets.redactKept({ stored: value });
        expect(matchesRedacted(stored, value)).toBe(true);
      }),
    );
  });

  it('without a placeholder matches only the same value', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(matchesRedacted(one, other)).toBe(sameJson(one, other));
      }),
    );
  });

  it.each([
    ['see [secret]', 'saw planted-s3cret', false],
    ['see [secret]', 'see ', false],
    ['see [secret].', 'see planted-s3cret', false],
    ['[secret][secret]', 'x', false],
    ['a[secret]b[secret]c', 'a1b2b3c', true],
    ['[secret]', null, false],
  ])('%s and %s: %s', (stored, value, isSame) => {
    expect(matchesRedacted(stored, value)).toBe(isSame);
  });
});
