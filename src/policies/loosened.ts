/**
 * What a change of the files of policies loosens. Whether one rule is stricter than another cannot be decided, so each change of a rule or
 * its match counts, and the policies before the change apply to the plan as well.
 */
import { createHash } from 'node:crypto';
import { hasErrors } from '../model/diagnostic.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import type { Policy, Severity } from '../model/policy.ts';
import type { PolicySource, PolicyText } from '../model/policy-source.ts';
import { quoted } from '../model/quoted.ts';
import { isNewExemption } from './exemptions.ts';
import { expressionProblems, policiesIn, type PolicyContext } from './load-policies.ts';

export interface LoosenedPolicies {
  readonly loosened: readonly LoosenedSetting[];
  /** the policies before the change */
  readonly sources: readonly PolicySource[];
}

/** @param commit of the texts before */
export async function loosenedPolicies(
  texts: { readonly before: readonly PolicyText[]; readonly after: readonly PolicyText[] },
  commit: string,
  context: Pick<PolicyContext, 'kinds' | 'now'>,
): Promise<LoosenedPolicies> {
  if (texts.before.length === 0 || isSameTexts(texts.before, texts.after))
    return { loosened: [], sources: [] };
  const [before, after] = [policiesIn(texts.before, context), policiesIn(texts.after, context)];
  const invalid = new Set(
    (await expressionProblems(before.policies, context.kinds)).map(({ policy }) => policy),
  );
  const unknown: LoosenedSetting = {
    name: 'the files of "spec.policies"',
    before: 'policies that are not valid',
    after: 'policies as they are now, without a comparison',
    whole: { before: wholeOf(texts.before), after: wholeOf(texts.after) },
    isLost: true,
  };
  const loosened = before.policies.flatMap((policy): LoosenedSetting[] => {
    const now = after.policies.find(({ name }) => name === policy.name);
    if (!invalid.has(policy)) return loosenedBy(policy, now);
    const [was, is] = ['a policy that is not valid', now?.severity ?? 'nothing'];
    const whole = { before: wholePolicy(policy), after: wholePolicy(now) };
    return [{ name: nameOf(policy), before: was, after: is, whole, isLost: true }];
  });
  const source: PolicySource = { texts: texts.before, commit, earlier: true };
  return {
    loosened: hasErrors(before.diagnostics) ? [unknown, ...loosened] : loosened,
    sources: loosened.length === 0 ? [] : [source],
  };
}

function isSameTexts(one: readonly PolicyText[], other: readonly PolicyText[]): boolean {
  return wholeOf(one) === wholeOf(other);
}

function wholeOf(texts: readonly PolicyText[]): string {
  return JSON.stringify(texts.map(({ text }) => text).sort());
}

/** Everything in a policy that decides what it stops. */
function wholePolicy(policy: Policy | undefined): string {
  if (policy === undefined) return 'absent';
  const { severity, match, rule, exemptions } = policy;
  return JSON.stringify([severity, match, rule, exemptions]);
}

const strength: Readonly<Record<Severity, number>> = { warn: 0, confirm: 1, deny: 2 };

function nameOf({ name }: Pick<Policy, 'name'>): string {
  return `the policy ${quoted(name)}`;
}

function loosenedBy(before: Policy, after: Policy | undefined): LoosenedSetting[] {
  const of = nameOf(before);
  const whole = { before: wholePolicy(before), after: wholePolicy(after) };
  if (after === undefined) return [{ name: of, before: before.severity, after: 'nothing', whole }];
  const about = ({ match }: Policy) => JSON.stringify(match);
  const changed = [
    { name: `the rule of ${of}`, was: before.rule, is: after.rule },
    { name: `the match of ${of}`, was: about(before), is: about(after) },
  ];
  const added = after.exemptions.filter((one) => isNewExemption(one, before.exemptions));
  return [
    ...(strength[after.severity] < strength[before.severity]
      ? [{ name: `the severity of ${of}`, before: before.severity, after: after.severity }]
      : []),
    ...changed
      .filter(({ was, is }) => was !== is)
      .map(({ name, was, is }) => ({ name, ...shownTexts(was, is) })),
    ...added.map(({ resource, until }) => ({
      name: `the exemption of ${quoted(resource)} from ${of}`,
      before: before.exemptions.find((one) => one.resource === resource)?.until ?? 'nothing',
      after: until,
    })),
  ];
}

/** Both texts if they are short, or else what differs, with a hash of the whole text. */
function shownTexts(before: string, after: string): Omit<LoosenedSetting, 'name'> {
  const whole = { before, after };
  if ([before, after].every((text) => /^[^\n\r\t]{0,200}$/.test(text) && !text.includes('  ')))
    return { before, after, whole };
  const [was, is] = [before, after].map((text) => JSON.stringify(text).slice(1, -1)) as [string, string];
  const shorter = Math.min(was.length, is.length);
  let start = 0;
  while (start < shorter && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  const part = (text: string, all: string) => {
    const [from, to] = [Math.max(0, start - nearby), Math.min(text.length, text.length - end + nearby)];
    const shown = text.slice(from, Math.min(to, from + maxShown));
    const rest = from + shown.length < text.length ? '…' : '';
    return `${from > 0 ? '…' : ''}${shown}${rest} (sha256 ${hashOf(all)})`;
  };
  return { before: part(was, before), after: part(is, after), whole };
}

/** Characters that are shown on each side of a difference, and characters in total, at most. */
const nearby = 20;
const maxShown = 400;

/** 128 bits: an author of both texts must not be able to find two with the same hash. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
