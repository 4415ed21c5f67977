/**
 * What a change of a role does to who gets in, with what and for how long. Pure. It looks at one field at a time and
 * calls wider whatever it cannot prove narrower; `before` undefined is a new role, `after` undefined a deleted one.
 */
import { formatDuration } from '../../model/kind/duration.ts';
import type { RiskGuard } from '../../model/plan/guard.ts';
import type { Json } from '../../model/json/json.ts';
import { matchesPattern } from '../../model/kind/name-pattern.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { fieldValue } from '../../services/cluster-auth/field-value.ts';
import {
  admitsAll,
  admitsEveryNamespace,
  audience,
  lifetime,
  policies,
  quotedList,
  texts,
  who,
  whoBySelector,
} from './access-words.ts';
import { holdsBlock } from './address-block.ts';
import { fields, NAMES, NAMESPACES, SELECTOR } from './fields.ts';
import { selectsEverything } from './namespace-selector.ts';
import type { RoleFields } from './schema.ts';
import { zeroMeans } from './zero-lifetimes.ts';

type RoleField = keyof RoleFields;

/** What a change between two whole specs opens and closes; a field that is missing on a side has its default there. */
export function risk(before: RoleFields | undefined, after: RoleFields | undefined): readonly Risk[] {
  if (after === undefined) return before === undefined ? [] : [gone(before)];
  if (before === undefined) return [fresh(after), ...openness(after)];
  const found = judges.flatMap(({ name, judge }) => {
    const [was, is] = [fieldValue(fields, before, name), fieldValue(fields, after, name)];
    return judge({ name, was, is, before, after });
  });
  return found.filter((one, index) => found.findIndex((other) => isSame(one, other)) === index);
}

/** Two fields that open together come to one sentence: every account in every namespace. */
function isSame(one: Risk, other: Risk): boolean {
  return one.says === other.says && one.effect === other.effect && one.guard === other.guard;
}

/** One field on both sides, and the roles that it stands in. */
interface RoleSides {
  readonly name: RoleField;
  readonly was: Json;
  readonly is: Json;
  readonly before: RoleFields;
  readonly after: RoleFields;
}

type Judge = (sides: RoleSides) => Risk[];

const judges: readonly { readonly name: RoleField; readonly judge: Judge }[] = [
  { name: NAMES, judge: (sides) => judgeGlobs(sides, 'names') },
  {
    name: NAMESPACES,
    judge: (sides) => judgeEveryNamespace(sides) ?? judgeGlobs(sides, 'namespaces'),
  },
  { name: SELECTOR, judge: (sides) => judgeEveryNamespace(sides) ?? judgeSelector(sides) },
  { name: 'audience', judge: judgeAudience },
  { name: 'tokenPolicies', judge: judgePolicies },
  { name: 'tokenNoDefaultPolicy', judge: judgeDefaultPolicy },
  { name: 'tokenBoundCidrs', judge: judgeBlocks },
  { name: 'tokenTtl', judge: judgeTtl },
  { name: 'tokenMaxTtl', judge: judgeLimit },
  { name: 'tokenExplicitMaxTtl', judge: judgeLimit },
  { name: 'tokenNumUses', judge: judgeLimit },
  { name: 'tokenPeriod', judge: judgePeriod },
  { name: 'tokenType', judge: judgeType },
];

function widens(name: RoleField, says: string, guard?: RiskGuard): Risk {
  return { path: [name], effect: 'widens', says, ...(guard === undefined ? {} : { guard }) };
}

function narrows(name: RoleField, says: string): Risk {
  return { path: [name], effect: 'narrows', says };
}

function gone(before: RoleFields): Risk {
  return {
    path: [],
    effect: 'narrows',
    says: `${who(before)} can log in no more, and loses ${policies(before)}`,
  };
}

function fresh(after: RoleFields): Risk {
  const with_ = audience(fieldValue(fields, after, 'audience'));
  const says = `${who(after)} can log in with ${with_} and gets ${policies(after)}${lifetime(after)}`;
  return { path: [], effect: 'widens', says, guard: 'new-role' };
}

/** What a new role opens that a stack wants to be asked about whatever it thinks of new roles. */
function openness(after: RoleFields): Risk[] {
  const wildcards = ([NAMES, NAMESPACES] as const).filter((name) =>
    texts(fieldValue(fields, after, name)).some(admitsAll),
  );
  const selector = isOpen(SELECTOR, fieldValue(fields, after, SELECTOR));
  const endless =
    fieldValue(fields, after, 'tokenPeriod') !== 0 && fieldValue(fields, after, 'tokenExplicitMaxTtl') === 0;
  return [
    ...wildcards.map((name) => widens(name, `${name} admits all there are, by "*"`, 'wildcard')),
    ...(selector
      ? [widens(SELECTOR, `${SELECTOR} admits every namespace: it has no labels`, 'wildcard')]
      : []),
    ...(endless
      ? [widens('tokenPeriod', `tokens of ${who(after)} can be renewed for ever`, 'unlimited-lifetime')]
      : []),
  ];
}

/** A glob of one side is held by the other when one of its patterns matches it as text: sound, for `*` matches `*`. */
function judgeGlobs({ name, was, is, before, after }: RoleSides, part: 'names' | 'namespaces'): Risk[] {
  const without = (globs: string[], others: string[]) =>
    globs.filter((glob) => !others.some((other) => matchesPattern(glob, other)));
  const gained = without(texts(is), texts(was));
  const lost = without(texts(was), texts(is));
  const everyone = gained.filter(admitsAll);
  const more = gained.filter((glob) => !admitsAll(glob));
  const gains = (globs: readonly string[]) =>
    `${who(after, { [part]: globs })} can log in and gets ${policies(after)}`;
  return [
    ...(everyone.length > 0 ? [widens(name, gains(everyone), 'wildcard')] : []),
    ...(more.length > 0 ? [widens(name, gains(more))] : []),
    ...(lost.length > 0
      ? [narrows(name, `${who(before, { [part]: lost })} can log in no more, and loses ${policies(before)}`)]
      : []),
  ];
}

/**
 * The list and the selector admit besides each other, so where one of them admits every namespace, it is all that there is
 * to say of both. Undefined where that is the case neither before nor afterwards.
 */
function judgeEveryNamespace({ name, was, is, before, after }: RoleSides): Risk[] | undefined {
  const [every, now] = [admitsEveryNamespace(before), admitsEveryNamespace(after)];
  if (!every && !now) return undefined;
  if (every === now) return [];
  if (now)
    return isOpen(name, is)
      ? [widens(name, `${who(after)} can log in and gets ${policies(after)}`, 'wildcard')]
      : [];
  return isOpen(name, was) ? [narrows(name, `only ${who(after)} can log in, no more ${who(before)}`)] : [];
}

/** Whether a list, or a selector, admits every namespace. */
function isOpen(name: RoleField, value: Json): boolean {
  return name === SELECTOR ? selectsEverything(String(value)) : texts(value).some(admitsAll);
}

/** The selector admits besides the list, and which namespaces two different selectors match nobody knows offline. */
function judgeSelector({ name, was, is, before, after }: RoleSides): Risk[] {
  if (was === is) return [];
  return [
    ...(is === '' ? [] : [widens(name, `${whoBySelector(after)} can log in and gets ${policies(after)}`)]),
    ...(was === '' ? [] : [narrows(name, `${whoBySelector(before)}, as it was, can log in no more`)]),
  ];
}

function judgeAudience({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is) return [];
  if (is === '') {
    const says = `${who(after)} can log in with ${audience(is)}, no more only with one for "${String(was)}"`;
    return [widens(name, says, 'cleared-audience')];
  }
  const narrower = narrows(name, `${who(after)} can log in only with ${audience(is)}`);
  return was === '' ? [narrower] : [widens(name, `${who(after)} can log in with ${audience(is)}`), narrower];
}

function judgePolicies({ name, was, is, after }: RoleSides): Risk[] {
  const [old, now] = [texts(was), texts(is)];
  const gained = now.filter((policy) => !old.includes(policy));
  const lost = old.filter((policy) => !now.includes(policy));
  const words = (some: string[]) => `the ${some.length === 1 ? 'policy' : 'policies'} ${quotedList(some)}`;
  return [
    ...(gained.length > 0 ? [widens(name, `${who(after)} gains ${words(gained)}`)] : []),
    ...(lost.length > 0 ? [narrows(name, `${who(after)} loses ${words(lost)}`)] : []),
  ];
}

function judgeDefaultPolicy({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is) return [];
  return [
    is === true
      ? narrows(name, `${who(after)} loses the policy "default"`)
      : widens(name, `${who(after)} gains the policy "default"`),
  ];
}

/** No block at all means from anywhere. */
function judgeBlocks({ name, was, is, after }: RoleSides): Risk[] {
  const [old, now] = [texts(was), texts(is)];
  const tokens = `tokens of ${who(after)}`;
  if (old.length === 0)
    return now.length === 0 ? [] : [narrows(name, `${tokens} can be used only from ${now.join(', ')}`)];
  if (now.length === 0) return [widens(name, `${tokens} can be used from any address`)];
  const outside = (blocks: string[], others: string[]) =>
    blocks.filter((block) => !others.some((other) => holdsBlock(other, block)));
  const [gained, lost] = [outside(now, old), outside(old, now)];
  return [
    ...(gained.length > 0 ? [widens(name, `${tokens} can be used from ${gained.join(', ')}`)] : []),
    ...(lost.length > 0
      ? [narrows(name, `${tokens} can be used from all of ${lost.join(', ')} no more`)]
      : []),
  ];
}

/**
 * A first lifetime, which always ends: 0 is what the mount gives. Nobody tells here how long that is, so that neither to
 * leave it to the mount nor to take it from there is provably narrower.
 */
function judgeTtl(sides: RoleSides): Risk[] {
  const { name, was, is, after } = sides;
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  if (was !== 0 && is !== 0) return judgeLimit(sides);
  const of = `${name} of tokens of ${who(after)}`;
  return [
    is === 0
      ? widens(
          name,
          `${of} was ${formatDuration(was)} and becomes ${zeroMeans.tokenTtl}, which may be longer`,
        )
      : widens(
          name,
          `${of} was ${zeroMeans.tokenTtl}, which may be shorter, and becomes ${formatDuration(is)}`,
        ),
  ];
}

/** What is said, and asked, of a limit of the role's own that is gone; periodic tokens know no other one than these. */
const lost: { readonly [Field in RoleField]?: { readonly says: string; readonly guard?: RiskGuard } } = {
  tokenMaxTtl: { says: "has no limit any more but the mount's", guard: 'unlimited-lifetime' },
  tokenExplicitMaxTtl: { says: 'has no limit any more', guard: 'unlimited-lifetime' },
  tokenNumUses: { says: 'has no limit any more' },
};

/** A limit where 0 means none of the role's own. */
function judgeLimit({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  const of = `${name} of tokens of ${who(after)}`;
  const shown = (limit: number) => (name === 'tokenNumUses' ? String(limit) : formatDuration(limit));
  const without = lost[name];
  if (is === 0 && without !== undefined)
    return [widens(name, `${of} was ${shown(was)} and ${without.says}`, without.guard)];
  if (was === 0) return [narrows(name, `${of} had no limit and becomes ${shown(is)}`)];
  return is < was
    ? [narrows(name, `${of} shrinks from ${shown(was)} to ${shown(is)}`)]
    : [widens(name, `${of} grows from ${shown(was)} to ${shown(is)}`)];
}

/** Periodic tokens live for as long as they are renewed. */
function judgePeriod({ name, was, is, after }: RoleSides): Risk[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  const tokens = `tokens of ${who(after)}`;
  if (was === 0) return [widens(name, `${tokens} can be renewed for ever`, 'unlimited-lifetime')];
  if (is === 0) return [narrows(name, `${tokens} are periodic no more`)];
  const effect = is > was ? widens : narrows;
  return [effect(name, `the period of ${tokens} goes from ${formatDuration(was)} to ${formatDuration(is)}`)];
}

/** Batch tokens can neither be renewed nor have children; which of the others the mount gives is not known here. */
function judgeType({ name, was, is, after }: RoleSides): Risk[] {
  return was === 'batch' && is !== 'batch'
    ? [widens(name, `tokens of ${who(after)} can be renewed and have children`)]
    : [];
}

/**
 * Equal accounts in equal namespaces: a delete of one role and a create of the other is likely a rename (rule 26).
 * Names that nobody tells make nothing alike.
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
