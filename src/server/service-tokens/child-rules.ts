/**
 * What a token may give to one that it makes (wire/cluster-auth 2.9).
 * Invariants: without `sudo` a child has no policy that its parent lacks; what is made in another namespace inherits no
 * name of a policy, for the same name means another policy there; the first rule that is broken is the one that is told.
 */
import {
  asBoolean,
  asDuration,
  asInteger,
  asList,
  asPairs,
  asText,
  type SentFields,
} from '../cluster-auth/values/field-coercion.ts';
import { DEFAULT_POLICY } from '../identity/built-in-policies.ts';
import { ROOT_POLICY } from '../identity/service-policies.ts';
import { tokenPolicies } from './token-policies.ts';
import type { ServiceToken } from './token-store.ts';

/** What `auth/token/create` takes. */
export const CHILD_FIELDS = {
  id: asText,
  type: asText,
  policies: asList,
  no_default_policy: asBoolean,
  no_parent: asBoolean,
  ttl: asDuration,
  period: asDuration,
  explicit_max_ttl: asDuration,
  num_uses: asInteger,
  renewable: asBoolean,
  display_name: asText,
  meta: asPairs,
  entity_alias: asText,
} as const;

/** A token that another one wants to make. */
export interface ChildWish {
  readonly parent: ServiceToken;
  readonly sent: SentFields<typeof CHILD_FIELDS>;
  /** Where it shall live. */
  readonly namespace: string;
  /** Whether the parent has `sudo` on the path, as who may do everything has. */
  readonly isSudo: boolean;
  /** Those that the service keeps for itself. */
  readonly reservedPolicies: readonly string[];
}

/** The policies of the child: those that are wished for, else its parent's. */
export function childPolicies({ parent, sent, namespace, isSudo }: ChildWish): string[] {
  const { policies: wished = [], no_default_policy: noDefault } = sent;
  const inherits = wished.length === 0 && namespace === parent.namespace;
  const addsDefault = !inherits && (isSudo || parent.policies.includes(DEFAULT_POLICY));
  const policies = tokenPolicies(inherits ? parent.policies : wished, addsDefault);
  return noDefault === true ? policies.filter((policy) => policy !== DEFAULT_POLICY) : policies;
}

/** Why a token can make no others at all. */
export function parentRefusal({ type, numUses }: ServiceToken): string | undefined {
  if (type === 'batch') return 'batch tokens cannot create more tokens';
  return numUses > 0 ? 'restricted use token cannot generate child tokens' : undefined;
}

type ChildRule = (wish: ChildWish, policies: readonly string[]) => string | false | undefined;

/** The first rule that the wish breaks, in the original's order. `policies` are what it would have. */
export function childRefusal(wish: ChildWish, policies: readonly string[]): string | undefined {
  for (const rule of RULES) {
    const text = rule(wish, policies);
    if (text !== false && text !== undefined) return text;
  }
  return undefined;
}

const isAway = ({ parent, namespace }: ChildWish) => namespace !== parent.namespace;
const isBatch = ({ sent }: ChildWish) => sent.type === 'batch';

const RULES: readonly ChildRule[] = [
  (wish) =>
    isAway(wish) && !wish.isSudo && 'root or sudo privileges required generate a namespace admin token',
  (wish, policies) =>
    isAway(wish) &&
    policies.includes(ROOT_POLICY) &&
    'root tokens may not be created from a parent namespace',
  ({ sent }) => !['', 'service', 'batch'].includes(sent.type ?? '') && "invalid 'token_type' value",
  (wish) => {
    const { explicit_max_ttl = 0, num_uses = 0, period = 0 } = wish.sent;
    const [given] = Object.entries({ explicit_max_ttl, num_uses, period }).find(([, value]) => value) ?? [];
    return isBatch(wish) && given !== undefined && `batch tokens cannot have "${given}" set`;
  },
  ({ sent }) => (sent.num_uses ?? 0) < 0 && 'number of uses cannot be negative',
  ({ sent }) =>
    (sent.entity_alias ?? '') !== '' && "'entity_alias' is only allowed in combination with token role",
  idRefusal,
  ({ parent, sent, isSudo }) => {
    const wished = tokenPolicies(sent.policies ?? [], false);
    const isSubset = isSudo || wished.every((policy) => parent.policies.includes(policy));
    return !isSubset && 'child policies must be subset of parent';
  },
  ({ reservedPolicies }, policies) => {
    const reserved = policies.find((policy) => reservedPolicies.includes(policy));
    return reserved !== undefined && `cannot assign policy "${reserved}"`;
  },
  ({ parent }, policies) =>
    policies.includes(ROOT_POLICY) &&
    !parent.policies.includes(ROOT_POLICY) &&
    'root tokens may not be created without parent token being root',
  (wish, policies) => isBatch(wish) && policies.includes(ROOT_POLICY) && 'batch tokens cannot be root tokens',
  ({ sent, isSudo }) =>
    sent.no_parent === true && !isSudo && 'root or sudo privileges required to create orphan token',
  ({ sent, isSudo }) =>
    (sent.period ?? 0) > 0 && !isSudo && 'root or sudo privileges required to create periodic token',
];

/** A token may choose how another one is spelt only where it may do all else, too; never like those that are made here. */
function idRefusal({ sent, namespace, isSudo }: ChildWish): string | undefined {
  const { id = '' } = sent;
  if (id === '') return undefined;
  if (!isSudo) return 'root or sudo privileges required to specify token id';
  if (namespace !== '') return 'token IDs can only be manually specified in the root namespace';
  return id.includes('.') ? "custom token ID cannot have the '.' in the value" : undefined;
}
