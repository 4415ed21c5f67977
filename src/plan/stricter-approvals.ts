/** The stricter of two versions of `spec.approvals`: who may approve, how, and how many must. Pure. */
import { approvalMethods, type ApprovalRules, type Approver } from '../model/approval.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import { canonicalText } from '../model/json.ts';
import { type ListElement, loosenedList } from '../model/loosened-list.ts';

/** A setting of a stack, or a group of settings: the stricter value, and what was loosened. */
export interface StricterSetting<T> {
  readonly value: T;
  readonly loosened: readonly LoosenedSetting[];
}

type Accepted = NonNullable<ApprovalRules['accept']>;

/** An empty `accept` of the result means that no method is accepted by both. */
export function stricterApprovals(
  before: ApprovalRules | undefined,
  after: ApprovalRules | undefined,
): StricterSetting<ApprovalRules | undefined> {
  if (before === undefined && after === undefined) return { value: undefined, loosened: [] };
  const [was, is] = [before ?? {}, after ?? {}];
  const people = stricterPeople(was.from, is.from);
  const [accepted, acceptedNow] = [acceptedBy(was), acceptedBy(is)];
  const both = acceptedByBoth(accepted, acceptedNow);
  const accept = people.hasNoCommonPeople
    ? both.filter((method) => method === 'signature' || method === 'none')
    : both;
  const [count, countNow] = [was.count ?? 1, is.count ?? 1];
  const flags = (['selfApprove', 'selfAck'] as const).map((name) => ({
    name,
    was: was[name] ?? false,
    is: is[name] ?? false,
  }));
  const isWider = !accepted.includes('none') && acceptedNow.some((method) => !accepted.includes(method));
  const from = 'spec.approvals';
  return {
    value: {
      accept,
      count: Math.max(count, countNow),
      ...(people.from.length === 0 ? {} : { from: people.from }),
      ...Object.fromEntries(flags.map(({ name, was, is }) => [name, was && is])),
    },
    loosened: [
      ...(isWider
        ? [loosenedList(`${from}.accept`, { before: elementsOf(accepted), after: elementsOf(acceptedNow) })]
        : []),
      ...(countNow < count ? [{ name: `${from}.count`, before: `${count}`, after: `${countNow}` }] : []),
      ...(people.isWider
        ? [
            loosenedList(
              `${from}.from`,
              { before: elementsOf(was.from), after: elementsOf(is.from) },
              { before: 'no signers', after: 'no limit' },
            ),
          ]
        : []),
      ...flags
        .filter(({ was, is }) => is && !was)
        .map(({ name }) => ({ name: `${from}.${name}`, before: 'false', after: 'true' })),
    ],
  };
}

function acceptedBy({ accept }: ApprovalRules): Accepted {
  if (accept === undefined) return approvalMethods;
  return accept.includes('none') ? ['none'] : accept;
}

/** If one of them needs no approval, the other one counts. */
function acceptedByBoth(one: Accepted, other: Accepted): Accepted {
  if (one.includes('none')) return other;
  if (other.includes('none')) return one;
  return one.filter((method) => other.includes(method));
}

interface People {
  readonly from: readonly Approver[];
  /** both name people of the code host, and none of them in common: only signatures are left */
  readonly hasNoCommonPeople: boolean;
  readonly isWider: boolean;
}

/** The approvers that both lists admit. A list without people admits everybody who may write; one without signers, no signature. */
function stricterPeople(
  before: readonly Approver[] | undefined = [],
  after: readonly Approver[] | undefined = [],
): People {
  const [was, is] = [splitApprovers(before), splitApprovers(after)];
  const signers = common(was.signers, is.signers);
  const isFree = was.people.length === 0 || is.people.length === 0;
  const people = isFree ? [...was.people, ...is.people] : common(was.people, is.people);
  const hasMorePeople =
    was.people.length > 0 &&
    (is.people.length === 0 || common(is.people, was.people).length < is.people.length);
  return {
    from: [...signers, ...people],
    hasNoCommonPeople: !isFree && people.length === 0,
    isWider: hasMorePeople || signers.length < is.signers.length,
  };
}

interface SplitApprovers {
  readonly signers: readonly Approver[];
  readonly people: readonly Approver[];
}

function splitApprovers(all: readonly Approver[]): SplitApprovers {
  return {
    signers: all.filter((one) => 'signers' in one),
    people: all.filter((one) => !('signers' in one)),
  };
}

function common(one: readonly Approver[], other: readonly Approver[]): readonly Approver[] {
  const known = new Set(other.map((each) => canonicalText({ ...each })));
  return one.filter((each) => known.has(canonicalText({ ...each })));
}

/** The elements of a list of texts, or of objects. */
export function elementsOf(list: readonly (string | Approver)[] | undefined): ListElement[] | undefined {
  return list?.map((one) => {
    const whole = canonicalText(typeof one === 'string' ? one : { ...one });
    return { whole, shown: whole };
  });
}
