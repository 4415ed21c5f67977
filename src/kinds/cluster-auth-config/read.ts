/** Reads the config of a mount, but only if it is declared, recorded, or begun by an unfinished apply. */
import { type Address, formatAddress } from '../../model/address.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind.ts';
import type { Spec } from '../../model/resource.ts';
import {
  askMountType,
  checkConfig,
  CONFIG_PATH,
  mountAnswer,
  mountPath,
  readConfig,
  unreadError,
} from '../../api/cluster-auth-mount.ts';
import { fields, type LiveConfig, liveConfig, whyUnexpected } from './fields.ts';
import type { ConfigSpec } from './schema.ts';

/** The name of every config: each mount has one. */
export const CONFIG_NAME = CONFIG_PATH;

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(
  session: Session,
  { declared, records, begun, undeclared }: ReadRequest<ConfigSpec>,
): Promise<LiveSet<LiveConfig>> {
  const isKnown = declared.length > 0 || records.size > 0 || (begun?.size ?? 0) > 0;
  const isWanted = isKnown || undeclared?.(CONFIG_NAME) === true;
  if (!isWanted) return noResources;
  const type = await askMountType(session);
  if (type.is === 'unread') return { ...noResources, unread: type.why };
  const answer = await readConfig(session);
  const verdict = checkConfig(session, answer);
  if (type.is === 'unknown' && verdict.is === 'another') return { ...noResources, unread: verdict.why };
  if (answer.is === 'none') return { ...noResources, total: 0 };
  const address = { kind: 'ClusterAuthConfig', target: session.target.name, name: CONFIG_NAME };
  if (answer.is === 'unread') return unreadConfig(address, answer.why);
  const unexpected = whyUnexpected(session, answer.data);
  if (unexpected !== undefined) return unreadConfig(address, unexpected);
  const live = liveConfig(address, answer.data);
  const known: Spec = live.spec;
  const invisible = Object.keys(fields).filter((name) => known[name] === undefined);
  return { ...noResources, resources: [live], total: 1, invisible };
}

function unreadConfig(address: Address, why: string): LiveSet<never> {
  return { ...noResources, unseen: new Map([[formatAddress(address), why]]), incomplete: [why] };
}

/**
 * Reads again, without the session's cache.
 * @throws WireError when the service returns neither a config nor "not found": nothing may be written then
 */
export async function readOne(session: Session, address: Address): Promise<LiveConfig | undefined> {
  const answer = mountAnswer(session, await session.reader.get(mountPath(session, CONFIG_NAME)));
  if (answer.is === 'none') return undefined;
  if (answer.is === 'unread') throw unreadError(answer);
  const unexpected = whyUnexpected(session, answer.data);
  if (unexpected !== undefined) throw unreadError({ why: unexpected, answer: answer.answer });
  return liveConfig(address, answer.data);
}
