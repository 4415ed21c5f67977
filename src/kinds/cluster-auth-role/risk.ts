/**
 * What a change of a role does to who gets in, with what and for how long. Pure. It looks at one field at a time and
 * calls wider whatever it cannot prove narrower; `before` undefined is a new role, `after` undefined a deleted one.
 */
import { formatDuration } from '../../model/duration.ts';
import type { Json } from '../../model/json.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import type { Spec } from '../../model/resource.ts';
import type { AccessEffect, AccessGuard } from '../../targets/cluster-auth/access-effect.ts';
import { fieldValue } from '../../targets/cluster-auth/field-value.ts';
import { holdsBlock } from './address-block.ts';
import { fields } from './fields.ts';

/** The effects of a change between two whole specs; a field that is missing on a side has its default there. */
export function risk(before: Spec | undefined, after: Spec | undefined): readonly AccessEffect[] {
  if (after === undefined)
    return before === undefined ? [] : [{ path: [], effect: 'narrows', says: 'the role goes' }];
  const values = { before: before ?? {}, after };
  if (before === undefined) return [{ path: [], effect: 'widens', says: 'a new role' }, ...openness(after)];
  return judges.flatMap(({ name, judge }) => {
    const [was, is] = [fieldValue(fields, values.before, name), fieldValue(fields, values.after, name)];
    return judge(name, was, is);
  });
}

type Judge = (name: string, was: Json, is: Json) => AccessEffect[];

const judges: readonly { readonly name: string; readonly judge: Judge }[] = [
  { name: 'boundServiceAccountNames', judge: judgeGlobs },
  { name: 'boundServiceAccountNamespaces', judge: judgeGlobs },
  { name: 'boundServiceAccountNamespaceSelector', judge: judgeSelector },
  { name: 'audience', judge: judgeAudience },
  { name: 'tokenPolicies', judge: judgePolicies },
  { name: 'tokenNoDefaultPolicy', judge: judgeDefaultPolicy },
  { name: 'tokenBoundCidrs', judge: judgeBlocks },
  { name: 'tokenTtl', judge: judgeLimit },
  { name: 'tokenMaxTtl', judge: judgeLimit },
  { name: 'tokenExplicitMaxTtl', judge: judgeLimit },
  { name: 'tokenNumUses', judge: judgeLimit },
  { name: 'tokenPeriod', judge: judgePeriod },
  { name: 'tokenType', judge: judgeType },
];

function widens(name: string, says: string, guard?: AccessGuard): AccessEffect {
  return { path: [name], effect: 'widens', says, ...(guard === undefined ? {} : { guard }) };
}

function narrows(name: string, says: string): AccessEffect {
  return { path: [name], effect: 'narrows', says };
}

function texts(value: Json): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** What a new role opens that a stack may want to be asked about. */
function openness(after: Spec): AccessEffect[] {
  const wildcards = ['boundServiceAccountNames', 'boundServiceAccountNamespaces'].filter((name) =>
    texts(fieldValue(fields, after, name)).includes('*'),
  );
  const endless =
    fieldValue(fields, after, 'tokenPeriod') !== 0 && fieldValue(fields, after, 'tokenExplicitMaxTtl') === 0;
  return [
    ...wildcards.map((name) => widens(name, 'admits "*": everyone', 'wildcard')),
    ...(endless ? [widens('tokenPeriod', 'tokens can be renewed for ever', 'unlimited-lifetime')] : []),
  ];
}

/** A glob of one side is held by the other when one of its patterns matches it as text: sound, for `*` matches `*`. */
function judgeGlobs(name: string, was: Json, is: Json): AccessEffect[] {
  const without = (globs: string[], others: string[]) =>
    globs.filter((glob) => !others.some((other) => matchesPattern(glob, other)));
  const gained = without(texts(is), texts(was));
  const lost = without(texts(was), texts(is));
  return [
    ...gained.map((glob) =>
      glob === '*' ? widens(name, 'admits "*": everyone', 'wildcard') : widens(name, `admits "${glob}"`),
    ),
    ...lost.map((glob) => narrows(name, `admits "${glob}" no more`)),
  ];
}

/** The selector admits besides the list, and which namespaces two different selectors match nobody knows offline. */
function judgeSelector(name: string, was: Json, is: Json): AccessEffect[] {
  if (was === is) return [];
  return [
    ...(is === '' ? [] : [widens(name, 'admits the namespaces that the new selector matches')]),
    ...(was === '' ? [] : [narrows(name, 'admits the namespaces of the old selector no more')]),
  ];
}

function judgeAudience(name: string, was: Json, is: Json): AccessEffect[] {
  if (was === is) return [];
  if (is === '') return [widens(name, 'looks at the audience no more', 'cleared-audience')];
  const narrower = narrows(name, `wants the audience ${JSON.stringify(is)}`);
  return was === ''
    ? [narrower]
    : [widens(name, `accepts another audience: ${JSON.stringify(is)}`), narrower];
}

function judgePolicies(name: string, was: Json, is: Json): AccessEffect[] {
  const [old, now] = [texts(was), texts(is)];
  return [
    ...now
      .filter((policy) => !old.includes(policy))
      .map((policy) => widens(name, `gives the policy "${policy}"`)),
    ...old
      .filter((policy) => !now.includes(policy))
      .map((policy) => narrows(name, `gives the policy "${policy}" no more`)),
  ];
}

function judgeDefaultPolicy(name: string, was: Json, is: Json): AccessEffect[] {
  if (was === is) return [];
  return [
    is === true
      ? narrows(name, 'gives the policy "default" no more')
      : widens(name, 'gives the policy "default"'),
  ];
}

/** No block at all means from anywhere. */
function judgeBlocks(name: string, was: Json, is: Json): AccessEffect[] {
  const [old, now] = [texts(was), texts(is)];
  if (old.length === 0)
    return now.length === 0 ? [] : [narrows(name, 'may be used from some addresses only')];
  if (now.length === 0) return [widens(name, 'may be used from any address')];
  const outside = (blocks: string[], others: string[]) =>
    blocks.filter((block) => !others.some((other) => holdsBlock(other, block)));
  return [
    ...outside(now, old).map((block) => widens(name, `may be used from ${block}`)),
    ...outside(old, now).map((block) => narrows(name, `may be used from all of ${block} no more`)),
  ];
}

/** The limits that, once gone, leave a lifetime without one; a token's first lifetime always ends. */
const lifetimes: ReadonlyMap<string, AccessGuard> = new Map([
  ['tokenMaxTtl', 'unlimited-lifetime'],
  ['tokenExplicitMaxTtl', 'unlimited-lifetime'],
]);

/** A limit where 0 means none of the role's own. */
function judgeLimit(name: string, was: Json, is: Json): AccessEffect[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  if (is === 0) return [widens(name, `${name} has no limit any more`, lifetimes.get(name))];
  const shown = name === 'tokenNumUses' ? String(is) : formatDuration(is);
  return [
    was === 0 || is < was
      ? narrows(name, `${name} is limited to ${shown}`)
      : widens(name, `${name} grows to ${shown}`),
  ];
}

/** Periodic tokens live for as long as they are renewed. */
function judgePeriod(name: string, was: Json, is: Json): AccessEffect[] {
  if (was === is || typeof was !== 'number' || typeof is !== 'number') return [];
  if (was === 0) return [widens(name, 'tokens can be renewed for ever', 'unlimited-lifetime')];
  if (is === 0) return [narrows(name, 'tokens are periodic no more')];
  const effect = is > was ? widens : narrows;
  return [effect(name, `the period of tokens becomes ${formatDuration(is)}`)];
}

/** Batch tokens can neither be renewed nor have children; which of the others the mount gives is not known here. */
function judgeType(name: string, was: Json, is: Json): AccessEffect[] {
  return was === 'batch' && is !== 'batch' ? [widens(name, 'tokens can be renewed and have children')] : [];
}
