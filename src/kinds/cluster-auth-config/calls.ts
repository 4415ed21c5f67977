/**
 * The request that carries out a change of the config: one write with every field, because whatever is left out goes
 * back to its default (wire/cluster-auth 2.2). Pure. The reviewer JWT stands in it as a reference to its source.
 */
import { formatAddress } from '../../model/resource/address.ts';
import { type CallObject, SecretReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { fieldValue } from '../../services/cluster-auth/field-value.ts';
import { mountSegments } from '../../services/cluster-auth/mount.ts';
import { wireBody } from '../../services/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';
import type { LiveConfig } from './live-config.ts';
import { CONFIG_NAME } from './read.ts';
import type { ConfigFields, ConfigSpec } from './schema.ts';

type Context = CallContext<ConfigSpec, LiveConfig>;

/** Before every role of the mount (rule 32). */
const CONFIG_FIRST = 0;

/** A config cannot be deleted, so a release has no call. */
export function calls(change: Change, context: Context): PlannedCalls {
  const { address, action, fields: changes } = change;
  const writes = action === 'create' || ((action === 'update' || action === 'adopt') && changes.length > 0);
  if (!writes || wouldWipe(context)) return { calls: [] };
  const call = {
    id: `${formatAddress(address)}#${action === 'create' ? 'create' : 'update'}`,
    target: address.target,
    method: 'POST' as const,
    path: mountSegments(context.target, context.dialect, CONFIG_NAME),
    body: { ...bodyOf(context), ...repeatedMembers(context) },
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

/** `prepare` has refused such a plan already; what it would send must not even be written down. */
function wouldWipe({ desired, live }: Context): boolean {
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

/** The certificate's every line ends with a newline (wire/cluster-auth 5.2); its canonical form lacks the last. */
function withLineEnd(cert: Json | undefined): Json {
  return typeof cert === 'string' && cert !== '' ? `${cert}\n` : '';
}

/**
 * The source that the plan shows, and no other, is the one that is read.
 * @throws when a JWT is to be set whose source did not come along: sending none would wipe what is stored
 */
function secretReference(wanted: ConfigSpec['tokenReviewerJwt']): string | SecretReference {
  if (wanted === undefined || wanted === null) return '';
  const { env, file } = wanted;
  if (typeof env === 'string') return new SecretReference({ env });
  if (typeof file === 'string') return new SecretReference({ file });
  throw new Error('the source of the reviewer JWT is missing from what is declared');
}

function repeatedMembers({ live }: Context): JsonObject {
  return live?.facts.repeated ?? {};
}
