/**
 * What a request says about the tokens that a mount gives out, and about who may know of it (wire/cluster-auth 2.9).
 * Invariant: pure; what is not said stays out of the result, so that a tuning changes only what it names.
 */
import { leaseLimitsOf, type MountSettings } from '../cluster-auth/mounts.ts';
import { readDuration } from '../cluster-auth/values/durations.ts';
import { asText, type Coerced } from '../cluster-auth/values/field-coercion.ts';

type Body = Readonly<Record<string, unknown>>;

/** Some settings that a request names, or the text of a 400. */
type Read = Coerced<MountSettings>;

const LEASES = ['default_lease_ttl', 'max_lease_ttl'] as const;

/** Kept as they are sent. */
const PLAIN = [
  'audit_non_hmac_request_keys',
  'audit_non_hmac_response_keys',
  'passthrough_request_headers',
  'allowed_response_headers',
];

/** Reads the config of a mount that has `settings`. */
export function readMountConfig(settings: MountSettings, body: Body): Read {
  const leases = LEASES.map((field) => readLease(field, body));
  let read: MountSettings = Object.fromEntries(
    PLAIN.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  );
  for (const part of [...leases, readTokenType(body), readVisibility(body)]) {
    if (!part.ok) return part;
    read = { ...read, ...part.value };
  }
  const namesLease = LEASES.some((field) => read[field] !== undefined);
  const { defaultTtl, maxTtl } = leaseLimitsOf({ settings: { ...settings, ...read } });
  if (defaultTtl <= maxTtl || !namesLease) return { ok: true, value: read };
  return refused(
    `backend max lease TTL of ${maxTtl} would be less than backend default lease TTL of ${defaultTtl}`,
  );
}

/** Seconds; `system` is 0, the service's own; an empty text keeps what is there. */
function readLease(field: (typeof LEASES)[number], body: Body): Read {
  const text = asText(body[field] ?? '');
  if (!text.ok) return text;
  if (text.value === '') return NOTHING;
  if (text.value === 'system') return { ok: true, value: { [field]: 0 } };
  const duration = readDuration(text.value);
  if ('problem' in duration) return refused(duration.problem);
  const { seconds } = duration;
  return seconds < 0
    ? refused(`cannot provide negative value '${seconds}'`)
    : { ok: true, value: { [field]: seconds } };
}

function readTokenType({ token_type = '' }: Body): Read {
  if (token_type === '') return NOTHING;
  const known = ['default-service', 'default-batch', 'service', 'batch'].find((type) => type === token_type);
  return known === undefined
    ? refused("invalid value for 'token_type'")
    : { ok: true, value: { token_type: known } };
}

function readVisibility({ listing_visibility }: Body): Read {
  if (listing_visibility === undefined) return NOTHING;
  const known = ['', 'hidden', 'unauth'].find((visibility) => visibility === listing_visibility);
  if (known === undefined) return refused(`invalid listing_visibility value "${String(listing_visibility)}"`);
  return { ok: true, value: { listing_visibility: known === '' ? undefined : known } };
}

const NOTHING: Read = { ok: true, value: {} };

function refused(problem: string): Read {
  return { ok: false, problem };
}
