/**
 * Makes the call for a change of the config: one write with every field, because absent fields are reset to their defaults
 * (wire/cluster-auth 2.2). Pure. The body holds the reviewer JWT as a reference to its source.
 */
import { formatAddress } from '../../model/address.ts';
import { type CallObject, SecretReference } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind-calls.ts';
import type { Spec } from '../../model/resource.ts';
import { fieldValue, wireBody } from '../../api/cluster-auth-fields.ts';
import { mountSegments } from '../../api/cluster-auth-mount.ts';
import { fields, type LiveConfig } from './fields.ts';
import { CONFIG_NAME } from './read.ts';
import type { ConfigFields, ConfigSpec } from './schema.ts';

type Context = CallContext<ConfigSpec, LiveConfig>;

/** Before all roles of the mount. */
const CONFIG_FIRST = 0;

/** A config cannot be deleted, so a release has no call. */
export function calls(change: Change, context: Context): PlannedCalls {
  const { address, action, fields: changes } = change;
  const writes = action === 'create' || ((action === 'update' || action === 'adopt') && changes.length > 0);
  if (!writes || wouldEraseJwt(context)) return { calls: [] };
  const call = {
    id: `${formatAddress(address)}#${action === 'create' ? 'create' : 'update'}`,
    target: address.target,
    method: 'POST' as const,
    path: mountSegments(context.target, context.dialect, CONFIG_NAME),
    body: { ...bodyOf(context), ...repeatedMembers(context) },
    // The service requires "update" even if there is no config yet.
    permission: 'update',
    order: CONFIG_FIRST,
    needs: [],
    success: [200, 204],
    repeatable: true,
    description: 'replaces the whole config',
  };
  return {
    calls: [call],
    ...(context.live === undefined ? {} : { preconditions: ['reviewerJwtSet', 'repeated'] }),
  };
}

/** Whether the write would erase a stored reviewer JWT. `prepare` refuses such a plan; here it gets no call either. */
function wouldEraseJwt({ desired, live }: Context): boolean {
  return live !== undefined && desired.tokenReviewerJwt === undefined && live.facts.reviewerJwtSet !== false;
}

function bodyOf({ desired }: Context): CallObject {
  const declared: Spec = desired;
  const values: ConfigFields = Object.fromEntries(
    Object.keys(fields).map((name) => [name, fieldValue(fields, declared, name)]),
  );
  return {
    ...wireBody({ ...values, clusterCaCert: withLineEnd(values.clusterCaCert) }),
    token_reviewer_jwt: secretReference(desired.tokenReviewerJwt),
  };
}

/** Each line of a certificate ends with a newline (wire/cluster-auth 5.2); the canonical form lacks the last one. */
function withLineEnd(cert: Json | undefined): Json {
  return typeof cert === 'string' && cert !== '' ? `${cert}\n` : '';
}

/**
 * A reference to exactly the source that the plan shows.
 * @throws when a JWT is declared without a source: a bug; sending none would erase the stored one
 */
function secretReference(declared: ConfigSpec['tokenReviewerJwt']): string | SecretReference {
  if (declared === undefined || declared === null) return '';
  const { env, file } = declared;
  if (typeof env === 'string') return new SecretReference({ env });
  if (typeof file === 'string') return new SecretReference({ file });
  throw new Error('the source of the reviewer JWT is missing from what is declared');
}

function repeatedMembers({ live }: Context): JsonObject {
  return live?.facts.repeated ?? {};
}
