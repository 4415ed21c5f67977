/**
 * Every combination of document, ownership tag, creator mark, ledger and live difference, checked by the planner and by the rows of
 * the rules in docs/internals/rules/ownership.md: each combination matches exactly one row, and the plan does what that row says.
 */
import { describe, expect, it } from 'vitest';
import { type Address, formatAddress, readAddress } from '../../src/model/address.ts';
import type { LedgerRecord, Origin } from '../../src/model/ledger.ts';
import type { DesiredResource, Metadata } from '../../src/model/resource.ts';
import type { PlanResult } from '../../src/plan/build-plan.ts';
import {
  applies,
  type Circumstances,
  type Combination,
  combinationsOf,
  type Rule,
  wordsOf,
} from '../support/sample-kinds/decision-table.ts';
import {
  type RoleCase,
  roleCircumstances,
  isPossibleRole,
} from '../support/sample-kinds/role-circumstances.ts';
import { roleGuards, roleOrigins } from '../support/sample-kinds/role-consequences.ts';
import { roleActions } from '../support/sample-kinds/role-decisions.ts';
import {
  type ParentCase,
  parentCircumstances,
  parentActions,
  parentGuards,
  parentOrigins,
  isPossibleParent,
} from '../support/sample-kinds/parent-decisions.ts';
import { app, at, desired, live, planOf, record, type World } from '../support/sample-kinds/sample-plan.ts';

const role = at('Role', 'job');

function documentOf(address: Address, document: ParentCase['document']): DesiredResource[] {
  const metadata: Readonly<Record<ParentCase['document'], Partial<Metadata>>> = {
    none: {},
    declared: {},
    adopt: { adopt: true },
    'safe removal request': { remove: 'safe' },
    'force removal request': { remove: 'force' },
  };
  return document === 'none' ? [] : [desired(address, { colour: 'blue' }, metadata[document])];
}

/** The stack is called `mine`; `former` is what it was called, for ownership tags and creator marks from that time. */
function parentWorld(combination: ParentCase, claimant = 'mine'): World {
  const { document, ownershipTag, creatorMark, ledger, live: found } = combination;
  const [, flag] = ownershipTag.split(':');
  const claims = ownershipTag.startsWith('ours')
    ? `${claimant}${flag === undefined ? '' : `:${flag}`}`
    : undefined;
  const tagText =
    { none: undefined, "another's": 'yours', inherited: claimant }[ownershipTag as string] ?? claims;
  const creatorStack = { ours: claimant, "another's": 'yours', none: undefined }[creatorMark];
  const colour = found === 'different' ? 'red' : 'blue';
  const about = {
    ownershipTag: tagText,
    inherited: ownershipTag === 'inherited',
    creatorStack,
    spec: { colour },
  };
  return {
    desired: documentOf(app, document),
    live: found === 'missing' ? [] : [live(app, about)],
    ledger: ledger !== 'no ledger',
    records: parentRecords(ledger),
  };
}

function parentRecords(ledger: ParentCase['ledger']): Readonly<Record<string, LedgerRecord>> {
  if (ledger === 'no ledger' || ledger === 'no record') return {};
  const id = ledger === 'record of another id' ? 'id-of-another' : 'id-app';
  const origin: Origin = ledger === 'adopted' ? 'adopted' : 'created';
  return { [formatAddress(app)]: record({ id, origin, fields: { colour: 'blue' } }) };
}

function roleWorld({ document, owns, ledger, live: found, target }: RoleCase): World {
  const written = { colour: 'green', timeout: 0, readers: [] };
  const [origin, flag] = ledger.split(':');
  const flags =
    flag === 'protect'
      ? { protect: true }
      : flag === 'release' || flag === 'delete'
        ? ({ onRemove: flag } as const)
        : {};
  const patterns = { inside: { owns: ['jo*'] }, outside: { owns: ['back*'] }, unsaid: {} }[owns];
  const colour = { 'as declared': 'blue', 'as last written': 'green', 'changed since': 'red', missing: '' }[
    found
  ];
  const known = (by: Origin) =>
    record({ origin: by, content: written, fields: { colour: 'green' }, ...flags });
  return {
    desired: documentOf(role, document),
    live: found === 'missing' ? [] : [live(role, { spec: { ...written, colour } })],
    ledger: ledger !== 'no ledger',
    records: origin === 'created' || origin === 'adopted' ? { [formatAddress(role)]: known(origin) } : {},
    begunCreations: ledger === 'begun' ? [role] : [],
    target: { ...patterns, ...(target === 'exclusive' ? { exclusive: true } : {}) },
  };
}

/** The result of the plan, in the words of the rows. */
function actionOf({ plan, forget }: PlanResult, { records = {} }: World): string {
  const problems = plan.problems.map(({ class: kind, code }) => `${kind} ${code}`);
  if (problems.length > 0) return problems.join(', ');
  const actions = plan.changes.map(({ action, fields }) => {
    const details = fields.map(({ path: [name], before, after }) => {
      if (name === 'claim') return `claim ${before ?? 'none'} → ${after ?? 'none'}`;
      return name === 'remove' ? `by ${String(after)}` : String(name);
    });
    return [action, ...details].join(', ');
  });
  const messages = plan.notices.map(({ message }) => `says "${message}"`);
  const forgotten = forget.some((text) => Object.hasOwn(records, text)) ? ['forgotten'] : [];
  return [...(actions.length === 0 ? ['nothing'] : actions), ...messages, ...forgotten].join(', ');
}

function originOf({ plan, records }: PlanResult): string {
  const [first] = plan.problems.length > 0 ? [] : records.values();
  return first?.record.origin ?? '-';
}

/** Only guards about ownership: guards that count are not about one resource. */
function guardsOf({ plan }: PlanResult): string {
  const asked = plan.guards.filter(({ id }) => ['recreate', 'no-record', 'adopt'].includes(id));
  return asked.map(({ id }) => id).join(', ') || '-';
}

/** A row quotes only the part of a message that distinguishes it from others. */
function matchesRow(expected: string, found: string): boolean {
  const quoted = /says "([^"]*)"/;
  const [, words = ''] = quoted.exec(expected) ?? [];
  const shortened = found.replace(/says ".*"(?=$|, forgotten$)/, (message) =>
    words !== '' && message.includes(words) ? `says "${words}"` : message,
  );
  return expected === shortened;
}

interface Table<C extends Circumstances> {
  readonly rules: readonly Rule<C>[];
  readonly cases: readonly Combination<C>[];
  observe(combination: Combination<C>): string;
}

function checkTable<C extends Circumstances>({ rules, cases, observe }: Table<C>): void {
  it('has exactly one row for every combination', () => {
    const ambiguous = cases.flatMap((combination) => {
      const rows = rules.filter((rule) => applies(rule, combination));
      return rows.length === 1
        ? []
        : [`${wordsOf(combination)}: ${rows.map(({ says }) => says).join(' / ')}`];
    });
    expect(ambiguous).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.says, rule] as const))('%s', (_, rule) => {
    const concerned = cases.filter((combination) => applies(rule, combination));
    expect(concerned).not.toEqual([]);
    const wrong = concerned.flatMap((combination) => {
      const found = observe(combination);
      return matchesRow(rule.comes, found) ? [] : [`${wordsOf(combination)} → ${found}`];
    });
    expect(wrong, rule.comes).toEqual([]);
  });
}

const parents = combinationsOf(parentCircumstances).filter(isPossibleParent);
const roles = combinationsOf(roleCircumstances).filter(isPossibleRole);

const ofParent = (observe: (planning: PlanResult, world: World) => string) => (combination: ParentCase) => {
  const world = parentWorld(combination);
  return observe(planOf(world), world);
};

const ofRole = (observe: (planning: PlanResult, world: World) => string) => (combination: RoleCase) => {
  const world = roleWorld(combination);
  return observe(planOf(world), world);
};

it('the tables cover every possible combination', () => {
  // Five documents, six ownership tags, three creator marks, five ledgers, two contents; and missing resources, in four ledgers.
  expect(parents).toHaveLength(5 * 6 * 3 * 5 * 2 + 5 * 4);
  // Five documents where a name may be declared, three where it may not; eight ledgers, four contents, two targets.
  expect(roles).toHaveLength((5 * 2 + 3) * 8 * 4 * 2);
});

describe('the action for a parent', () => {
  checkTable({ rules: parentActions, cases: parents, observe: ofParent(actionOf) });
});

describe('the recorded origin of a parent', () => {
  checkTable({ rules: parentOrigins, cases: parents, observe: ofParent(originOf) });
});

describe('the guard that asks about a parent', () => {
  checkTable({ rules: parentGuards, cases: parents, observe: ofParent(guardsOf) });
});

describe('the action for a role', () => {
  checkTable({ rules: roleActions, cases: roles, observe: ofRole(actionOf) });
});

describe('the recorded origin of a role', () => {
  checkTable({ rules: roleOrigins, cases: roles, observe: ofRole(originOf) });
});

describe('the guard that asks about a role', () => {
  checkTable({ rules: roleGuards, cases: roles, observe: ofRole(guardsOf) });
});

/** A stack whose former ledger exists and was taken over: only the ownership tags are left to take over. */
const renamed: World = {
  stack: { renamedFrom: 'former' },
  former: { name: 'former', hasLedger: true, records: new Set() },
};

it('a renamed stack treats its former name like its own, and writes the new one', () => {
  const wrong = parents.flatMap((combination) => {
    const former = parentWorld(combination, 'former');
    const own = parentWorld(combination);
    const expected = withFormerClaim(actionOf(planOf(own), own), combination);
    const found = actionOf(planOf({ ...former, ...renamed }), former);
    return found === expected ? [] : [`${wordsOf(combination)} → ${found}, and not ${expected}`];
  });
  expect(wrong).toEqual([]);
});

/** An ownership tag of the former name is taken over wherever it would be kept or changed. */
function withFormerClaim(
  action: string,
  { document, ownershipTag, creatorMark, ledger }: ParentCase,
): string {
  const former = action.replace(/claim mine(?=[ :])/, 'claim former');
  if (document !== 'declared' && document !== 'adopt') return former;
  if (ownershipTag === 'ours') return former.replace(/^(nothing|update)/, 'adopt, claim former → mine');
  // Without an ownership tag the creator mark decides, unless our record says more.
  const isRecorded = ['created', 'adopted'].some((origin) => ledger.startsWith(origin));
  const isFormer =
    ownershipTag.startsWith('ours:') || (ownershipTag === 'none' && creatorMark === 'ours' && !isRecorded);
  return isFormer ? former.replace(/^update/, 'adopt') : former;
}

describe('a stack with a new name', () => {
  const ofFormer = { ownershipTag: 'former', creatorStack: 'former', spec: { colour: 'red' } };
  const withRecords = (...addresses: readonly Address[]): World => ({
    stack: { renamedFrom: 'former' },
    former: { name: 'former', hasLedger: true, records: new Set(addresses.map(formatAddress)) },
  });
  const content = { colour: 'red', timeout: 0, readers: [] };
  const guards = (world: World) =>
    planOf(world).plan.guards.flatMap(({ id, effect, concerns }) =>
      concerns.map(({ address, messages }) => [id, effect, formatAddress(address), ...messages].join(' ')),
    );

  it('takes over resources with the former ownership tag, and asks first', () => {
    const world = { ...withRecords(), desired: [desired(app)], live: [live(app, ofFormer)] };
    expect(guards(world)).toEqual(['takeover blocks Parent/acme/app']);
  });

  it('takes over a role that its former ledger has, although nothing is sent for it', () => {
    const world = {
      ...withRecords(role),
      desired: [desired(role, { colour: 'red' })],
      live: [live(role, { spec: content })],
      records: { 'Role/acme/job': { origin: 'created', fields: { colour: 'red' }, content } as const },
    };
    const { plan, records } = planOf(world);
    expect(plan.changes).toMatchObject([{ action: 'adopt', fields: [], calls: [] }]);
    expect(records.get(readAddress('Role/acme/job'))?.record.origin).toBe('created');
    expect(guards(world)).toEqual(['takeover blocks Role/acme/job']);
    // Once it was taken over, it is like any other role.
    const after = { ...world, former: { ...world.former, records: new Set() } } as World;
    expect(planOf(after).plan.changes).toEqual([]);
  });

  it('counts what it takes over among what it owns', () => {
    const old = live(at('Parent', 'old'), ofFormer);
    const world = { ...withRecords(), desired: [desired(app)], live: [live(app, ofFormer), old] };
    expect(guards(world).filter((text) => text.startsWith('zero'))).toEqual([]);
  });

  it('asks with two guards before it deletes resources of the former stack', () => {
    const world = {
      ...withRecords(role),
      live: [live(role, { spec: content }), live(app, ofFormer)],
      records: { 'Role/acme/job': { origin: 'created', fields: {}, content } as const },
    };
    expect(guards(world).filter((text) => !text.startsWith('zero'))).toEqual([
      'no-record blocks Parent/acme/app',
      'takeover blocks Parent/acme/app and deleted',
      'takeover blocks Role/acme/job and deleted',
    ]);
  });

  it('deletes no resources of the former name while its ledger is not found, and says so', () => {
    const { plan } = planOf({ stack: { renamedFrom: 'former' }, live: [live(app, ofFormer)] });
    expect(plan.changes).toEqual([]);
    expect(plan.notices[0]?.message).toContain('whose ledger was not found: it is kept');
    expect(plan.coverage.ledgerNotes).toEqual([
      'the ledger of stack "former" was not found where this stack keeps its own: resources with its ownership tag are not deleted',
    ]);
  });
});
