/**
 * Selects the live resources of an export: those that match the filters and that nobody owns yet. A part is exported together
 * with its whole.
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { isJsonObject, ownMember } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import { matchesPattern } from '../../model/kind/name-pattern.ts';
import { ownsName } from '../../model/resource/owned-names.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { Stack, Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';

export interface Filters {
  /** patterns with `*`; an empty list matches every name */
  readonly names: readonly string[];
  /** `key=value`, or a key or flat tag alone; a resource must have all of them */
  readonly tags: readonly string[];
  readonly project?: string;
  /** includes resources that are declared or owned already */
  readonly all: boolean;
}

export interface Owners {
  readonly stack: Stack;
  readonly declared: ReadonlySet<AddressText>;
  readonly ledger: Ledger;
}

export function matchesName({ names }: Filters, name: string): boolean {
  return names.length === 0 || names.some((pattern) => matchesPattern(name, pattern));
}

/** Filters that need the live resource itself. A resource without tags or project does not match a filter for them. */
export function matchesContent({ tags, project }: Filters, { spec, facts }: LiveResource): boolean {
  if (project !== undefined && spec['projectId'] !== project) return false;
  const direct = isJsonObject(facts['direct']) ? facts['direct'] : {};
  const flat = Array.isArray(spec['tagNames']) ? spec['tagNames'].map(String) : [];
  return tags.every((tag) => {
    const [key = '', ...value] = tag.split('=');
    if (value.length === 0 && flat.includes(tag)) return true;
    const found = ownMember(direct, key);
    return value.length === 0 ? found !== undefined : found === value.join('=');
  });
}

/** Why a resource that matches the filters is left out, as a text that is the same for all with this reason; undefined when it is not. */
export function ownerOf(kind: Kind, live: LiveResource, owners: Owners): string | undefined {
  const text = formatAddress(live.address);
  const { claim } = live.witness;
  if (owners.declared.has(text)) return 'declared in this stack';
  if (claim !== undefined) {
    const { name, renamedFrom } = owners.stack;
    const isOtherId = claim.id !== undefined && claim.id !== owners.ledger.stackId;
    const another = isOtherId ? `another stack ${quoted(claim.stack)}` : 'this stack';
    const by = [name, renamedFrom].includes(claim.stack) ? another : `stack ${quoted(claim.stack)}`;
    return `claimed by ${by}${claim.inherited ? ' through a project' : ''}`;
  }
  return kind.ownership.by === 'ledger' && owners.ledger.records.has(text)
    ? 'applied by this stack before'
    : undefined;
}

/** Why a role cannot be exported: its target does not own the name, so it cannot be declared (rule 24). */
export function isExcluded({ ownership, names }: Kind, target: Target, name: string): string | undefined {
  if (ownership.by !== 'ledger' || !ownership.named || ownsName(target, name, names)) return undefined;
  return `outside the names that target ${quoted(target.name)} owns`;
}
