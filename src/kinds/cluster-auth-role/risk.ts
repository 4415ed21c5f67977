/**
 * Finds how a change of a role affects who can log in, with which policies and for how long. Pure. It checks one field at a
 * time, and every change that is not provably narrower counts as wider. `before` is undefined for a new role, `after` for a
 * deleted one.
 */
import { formatDuration } from '../../model/duration.ts';
import type { Risk, RiskGuard } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import { quoted } from '../../model/quoted.ts';
import { fieldValue } from '../../api/cluster-auth-fields.ts';
import {
  admitsAll,
  admitsEveryNamespace,
  audience,
  lifetimeText,
  policiesText,
  quotedList,
  texts,
  accountsText,
  selectedAccountsText,
} from './describe-access.ts';
import { containsBlock, selectsEverything } from './login-conditions.ts';
import { fields, NAMES, NAMESPACES, SELECTOR } from './fields.ts';
import { type RoleFields, ttlZeroMeaning } from './schema.ts';

type RoleField = keyof RoleFields;

/** The risks of a change between two complete specs; a missing field has its default. */
export function risk(before: RoleFields | undefined, after: RoleFields | undefined): readonly Risk[] {
  if (after === undefined) return before === undefined ? [] : [removed(before)];
  if (before === undefined) return [created(after), ...openness(after)];
  const found = riskChecks.flatMap(([name, check]) => {
    const [was, is] = [fieldValue(fields, before, name), fieldValue(fields, after, name)];
    return check({ name, was, is, before, after });
  });
  return found.filter((one, index) => found.findIndex((other) => isSame(one, other)) === index);
}

/** Two fields can give the same sentence, such as every account in every namespace; it is reported once. */
function isSame(one: Risk, other: Risk): boolean {
  return one.message === other.message && one.effect === other.effect && one.guard === other.guard;
}

/** The values of one field before and after, and the two complete roles. */
interface RoleSides {
  readonly name: RoleField;
  readonly was: Json;
  readonly is: Json;
  readonly before: RoleFields;
  readonly after: RoleFields;
}

type RiskCheck = (sides: RoleSides) => Risk[];

const riskChecks: readonly (readonly [RoleField, RiskCheck])[] = [
  [NAMES, (sides) => checkGlobs(sides, 'names')],
  [NAMESPACES, (sides) => checkEveryNamespace(sides) ?? checkGlobs(sides, 'namespaces')],
  [SELECTOR, (sides) => checkEveryNamespace(sides) ?? checkSelector(sides)],
  ['audience', checkAudience],
  ['tokenPolicies', checkPolicies],
  ['tokenNoDefaultPolicy', checkDefaultPolicy],
  ['tokenBoundCidrs', checkBlocks],
  ['tokenStrictlyBindIp', checkStrictBinding],
  ['tokenTtl', checkTtl],
  ['tokenMaxTtl', checkLimit],
  ['tokenExplicitMaxTtl', checkLimit],
  ['tokenNumUses', checkLimit],
  ['tokenPeriod', checkPeriod],
  ['tokenType', checkType],
];

function widens(name: RoleField, message: string, guard?: RiskGuard): Risk {
  return { path: [name], effect: 'widens', message, ...(guard === undefined ? {} : { guard }) };
}

function narrows(name: RoleField, message: string): Risk {
  return { path: [name], effect: 'narrows', message };
}

function removed(before: RoleFields): Risk {
  return {
    path: [],
    effect: 'narrows',
    message: `${accountsText(before)} can no longer log in, and loses ${policiesText(before)}`,
  };
}

function created(after: RoleFields): Risk {
  const jwt = audience(fieldValue(fields, after, 'audience'));
  const message = `${accountsText(after)} can log in with ${jwt} and gets ${policiesText(after)}${lifetimeText(after)}`;
  return { path: [], effect: 'widens', message, guard: 'new-role' };
}

/** Risks of a new role that trip other guards besides `new-role`. */
function openness(after: RoleFields): Risk[] {
  const wildcards = ([NAMES, NAMESPACES] as const).filter((name) =>
    texts(fieldValue(fields, after, name)).some(admitsAll),
  );
  const selector = isOpen(SELECTOR, fieldValue(fields, after, SELECTOR));
  const endless =
    fieldValue(fields, after, 'tokenPeriod') !== 0 && fieldValue(fields, after, 'tokenExplicitMaxTtl') === 0;
  return [
    ...wildcards.map((name) => widens(name, `${name} admits everything, by "*"`, 'wildcard')),
    ...(selector
      ? [widens(SELECTOR, `${SELECTOR} admits every namespace: it has no labels`, 'wildcard')]
      : []),
    ...(endless
      ? [
          widens(
            'tokenPeriod',
            `tokens of ${accountsText(after)} can be renewed for ever`,
            'unlimited-lifetime',
          ),
        ]
      : []),
  ];
}

/** A glob is contained in a list if one of the list's patterns matches it as a text. This is correct because `*` matches `*`. */
function checkGlobs({ name, was, is, before, after }: RoleSides, part: 'names' | 'namespaces'): Risk[] {
  const without = (globs: string[], others: string[]) =>
    globs.filter((glob) => !others.some((other) => matchesPattern(glob, other)));
  const gained = without(texts(is), texts(was));
  const lost = without(texts(was), texts(is));
  const everyone = gained.filter(admitsAll);
  const more = gained.filter((glob) => !admitsAll(glob));
  const gains = (globs: readonly string[]) =>
    `${accountsText(after, { [part]: globs })} can log in and gets ${policiesText(after)}`;
  return [
    ...(everyone.length > 0 ? [widens(name, gains(everyone), 'wildcard')] : []),
    ...(more.length > 0 ? [widens(name, gains(more))] : []),
    ...(lost.length > 0
      ? [
          narrows(
            name,
            `${accountsText(before, { [part]: lost })} can no longer log in, and loses ${policiesText(before)}`,
          ),
        ]
      : []),
  ];
}

/**
 * List and selector both admit namespaces, so if one of them admits every namespace, the other one has no effect.
 * @returns undefined if neither admits every namespace, before or after
 */
function checkEveryNamespace({ name, was, is, before, after }: RoleSides): Risk[] | undefined {
  const [hadEvery, hasEvery] = [admitsEveryNamespace(before), admitsEveryNamespace(after)];
  if (!hadEvery && !hasEvery) return undefined;
  if (hadEvery === hasEvery) return [];
  if (hasEvery)
    return isOpen(name, is)
      ? [widens(name, `${accountsText(after)} can log in and gets ${policiesText(after)}`, 'wildcard')]
      : [];
  return isOpen(name, was)
    ? [narrows(name, `only ${accountsText(after)} can log in, no longer ${accountsText(before)}`)]
    : [];
}

/** Whether a list, or a selector, admits every namespace. */
function isOpen(name: RoleField, value: Json): boolean {
  return name === SELECTOR ? selectsEverything(String(value)) : texts(value).some(admitsAll);
}

/** Which namespaces two different selectors match is not known here, so a change both widens and narrows. */
function checkSelector({ name, was, is, before, after }: RoleSides): Risk[] {
  if (was === is) return [];
  return [
    ...(is === ''
      ? []
      : [widens(name, `${selectedAccountsText(after)} can log in and gets ${policiesText(after)}`)]),
    ...(was === ''
      ? []
      : [narrows(name, `${selectedAccountsText(before)}, as it was, can no longer log in`)]),
  ];
}

function checkAudience({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is) return [];
  if (is === '') {
    const message = `${accountsText(after)} can log in with ${audience(is)}, no longer only with one for ${quoted(String(was))}`;
    return [widens(name, message, 'cleared-audience')];
  }
  const narrower = narrows(name, `${accountsText(after)} can log in only with ${audience(is)}`);
  return was === ''
    ? [narrower]
    : [widens(name, `${accountsText(after)} can log in with ${audience(is)}`), narrower];
}

function checkPolicies({ name, was, is, after }: RoleSides): Risk[] {
  const [old, now] = [texts(was), texts(is)];
  const gained = now.filter((policy) => !old.includes(policy));
  const lost = old.filter((policy) => !now.includes(policy));
  const words = (some: string[]) => `the ${some.length === 1 ? 'policy' : 'policies'} ${quotedList(some)}`;
  return [
    ...(gained.length > 0 ? [widens(name, `${accountsText(after)} gains ${words(gained)}`)] : []),
    ...(lost.length > 0 ? [narrows(name, `${accountsText(after)} loses ${words(lost)}`)] : []),
  ];
}

function checkDefaultPolicy({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is) return [];
  return [
    is === true
      ? narrows(name, `${accountsText(after)} loses the policy "default"`)
      : widens(name, `${accountsText(after)} gains the policy "default"`),
  ];
}

/** An empty list means that tokens can be used from anywhere. */
function checkBlocks({ name, was, is, after }: RoleSides): Risk[] {
  const [old, now] = [texts(was), texts(is)];
  const tokens = `tokens of ${accountsText(after)}`;
  if (old.length === 0)
    return now.length === 0 ? [] : [narrows(name, `${tokens} can be used only from ${now.join(', ')}`)];
  if (now.length === 0) return [widens(name, `${tokens} can be used from any address`)];
  const outside = (blocks: string[], others: string[]) =>
    blocks.filter((block) => !others.some((other) => containsBlock(other, block)));
  const [gained, lost] = [outside(now, old), outside(old, now)];
  return [
    ...(gained.length > 0 ? [widens(name, `${tokens} can be used from ${gained.join(', ')}`)] : []),
    ...(lost.length > 0
      ? [narrows(name, `${tokens} can no longer be used from all of ${lost.join(', ')}`)]
      : []),
  ];
}

/**
 * The initial lifetime is always limited: 0 means the default of the mount. That default is not known here, so a change from
 * or to 0 is never provably narrower.
 */
function checkTtl(sides: RoleSides): Risk[] {
  const { name, was, is, after } = sides;
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  if (was !== 0 && is !== 0) return checkLimit(sides);
  const subject = `${name} of tokens of ${accountsText(after)}`;
  return [
    is === 0
      ? widens(
          name,
          `${subject} was ${formatDuration(was)} and becomes ${ttlZeroMeaning.tokenTtl}, which may be longer`,
        )
      : widens(
          name,
          `${subject} was ${ttlZeroMeaning.tokenTtl}, which may be shorter, and becomes ${formatDuration(is)}`,
        ),
  ];
}

/** Messages and guards for removed limits of a role. */
const removedLimits: {
  readonly [Field in RoleField]?: { readonly message: string; readonly guard?: RiskGuard };
} = {
  tokenMaxTtl: { message: 'is now limited only by the mount', guard: 'unlimited-lifetime' },
  tokenExplicitMaxTtl: { message: 'has no limit now', guard: 'unlimited-lifetime' },
  tokenNumUses: { message: 'has no limit now' },
};

/** For limits where 0 means that the role has none. */
function checkLimit({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  const subject = `${name} of tokens of ${accountsText(after)}`;
  const shown = (limit: number) => (name === 'tokenNumUses' ? String(limit) : formatDuration(limit));
  const without = removedLimits[name];
  if (is === 0 && without !== undefined)
    return [widens(name, `${subject} was ${shown(was)} and ${without.message}`, without.guard)];
  if (was === 0) return [narrows(name, `${subject} had no limit and becomes ${shown(is)}`)];
  return is < was
    ? [narrows(name, `${subject} shrinks from ${shown(was)} to ${shown(is)}`)]
    : [widens(name, `${subject} grows from ${shown(was)} to ${shown(is)}`)];
}

/** Periodic tokens live as long as they are renewed. */
function checkPeriod({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  const tokens = `tokens of ${accountsText(after)}`;
  if (was === 0) return [widens(name, `${tokens} can be renewed for ever`, 'unlimited-lifetime')];
  if (is === 0) return [narrows(name, `${tokens} are no longer periodic`)];
  const effect = is > was ? widens : narrows;
  return [effect(name, `the period of ${tokens} goes from ${formatDuration(was)} to ${formatDuration(is)}`)];
}

function checkStrictBinding({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is) return [];
  const tokens = `tokens of ${accountsText(after)}`;
  return is === true
    ? [narrows(name, `${tokens} work only at the address that they were created for`)]
    : [widens(name, `${tokens} work at any address, not only at the one that they were created for`)];
}

/** Batch tokens can neither be renewed nor have children; the mount's default among the other types is not known here. */
function checkType({ name, was, is, after }: RoleSides): Risk[] {
  return was === 'batch' && is !== 'batch'
    ? [widens(name, `tokens of ${accountsText(after)} can be renewed and have children`)]
    : [];
}

/**
 * Equal names in equal namespaces: deleting one role and creating the other is likely a rename. Roles without
 * names are never similar.
 */
export function similarity(spec: RoleFields): readonly string[] | undefined {
  const [names, namespaces] = ([NAMES, NAMESPACES] as const).map((name) =>
    texts(fieldValue(fields, spec, name))
      .toSorted()
      .join(','),
  );
  if (!names) return undefined;
  const rest = [SELECTOR, 'tokenPolicies', 'audience'] as const;
  return [`${names} in ${namespaces}`, ...rest.map((name) => JSON.stringify(fieldValue(fields, spec, name)))];
}
