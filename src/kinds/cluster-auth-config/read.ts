/** Reads the one config of a mount. A config that nobody declares or recorded is nobody's concern and is not asked for. */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { type LiveSet, noResources, type Session, type Wanted } from '../../model/kind.ts';
import type { LiveResource } from '../../model/resource.ts';
import { mountPath } from '../../targets/cluster-auth/mount.ts';
import { type MountAnswer, mountAnswer, unreadError } from '../../targets/cluster-auth/mount-answer.ts';
import { answeredFields } from '../../targets/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';

/** The name of every config: there is one a mount. */
export const CONFIG_NAME = 'config';

/** A setting that no manifest knows and that every write would reset: what it is, writes repeat (facts 2.2). */
export const REPEATED_MEMBER = 'use_annotations_as_alias_metadata';

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(session: Session, { declared, records, undeclared }: Wanted): Promise<LiveSet> {
  const isWanted = declared.length > 0 || records.size > 0 || undeclared?.(CONFIG_NAME) === true;
  if (!isWanted) return noResources;
  const answer = await askFor(session);
  if (answer.is === 'none') return { ...noResources, total: 0 };
  const address = { kind: 'ClusterAuthConfig', target: session.target.name, name: CONFIG_NAME };
  if (answer.is === 'unread') {
    const unseen = new Map([[formatAddress(address), answer.why]]);
    return { ...noResources, unseen, incomplete: [answer.why] };
  }
  const live = liveConfig(address, answer.data);
  const invisible = Object.keys(fields).filter((name) => live.spec[name] === undefined);
  return { ...noResources, resources: [live], total: 1, invisible };
}

/** @throws WireError when the service answers neither the config nor that there is none: writing blindly is no option then */
export async function readOne(session: Session, address: Address): Promise<LiveResource | undefined> {
  const answer = await askFor(session);
  if (answer.is === 'unread') throw unreadError(answer);
  return answer.is === 'none' ? undefined : liveConfig(address, answer.data);
}

async function askFor(session: Session): Promise<MountAnswer> {
  return mountAnswer(session, await session.reader.get(mountPath(session, CONFIG_NAME)));
}

/**
 * The spec holds what was answered; of the reviewer JWT it holds only that there is none, when the service says so.
 * The fact `reviewerJwtSet` is null where the service does not tell.
 */
export function liveConfig(address: Address, data: JsonObject): LiveResource {
  const { tokenReviewerJwt: _, ...answered } = answeredFields(Object.keys(fields), data);
  const flag = data['token_reviewer_jwt_set'];
  const reviewerJwtSet = typeof flag === 'boolean' ? flag : null;
  const spec: Record<string, Json> = {
    ...answered,
    ...(reviewerJwtSet === false ? { tokenReviewerJwt: null } : {}),
  };
  const repeated = data[REPEATED_MEMBER];
  return {
    address,
    spec,
    witness: {},
    facts: { reviewerJwtSet, repeated: repeated === undefined ? {} : { [REPEATED_MEMBER]: repeated } },
  };
}
