/** Reads the one config of a mount. A config that nobody declares or recorded is nobody's concern and is not asked for. */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { mountPath } from '../../services/cluster-auth/mount.ts';
import { mountAnswer, unreadError } from '../../services/cluster-auth/mount-answer.ts';
import {
  askMountType,
  CONFIG_PATH,
  judgeConfig,
  readConfig,
} from '../../services/cluster-auth/prove-mount.ts';
import { fields } from './fields.ts';
import { type LiveConfig, liveConfig, whyOdd } from './live-config.ts';
import type { ConfigSpec } from './schema.ts';

/** The name of every config: there is one a mount. */
export const CONFIG_NAME = CONFIG_PATH;

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(
  session: Session,
  { declared, records, undeclared }: ReadRequest<ConfigSpec>,
): Promise<LiveSet<LiveConfig>> {
  const isWanted = declared.length > 0 || records.size > 0 || undeclared?.(CONFIG_NAME) === true;
  if (!isWanted) return noResources;
  const type = await askMountType(session);
  if (type.is === 'unread') return { ...noResources, unread: type.why };
  const answer = await readConfig(session);
  const verdict = judgeConfig(session, answer);
  if (type.is === 'untold' && verdict.is === 'another') return { ...noResources, unread: verdict.why };
  if (answer.is === 'none') return { ...noResources, total: 0 };
  const address = { kind: 'ClusterAuthConfig', target: session.target.name, name: CONFIG_NAME };
  if (answer.is === 'unread') return unseen(address, answer.why);
  const odd = whyOdd(session, answer.data);
  if (odd !== undefined) return unseen(address, odd);
  const live = liveConfig(address, answer.data);
  const told: Spec = live.spec;
  const invisible = Object.keys(fields).filter((name) => told[name] === undefined);
  return { ...noResources, resources: [live], total: 1, invisible };
}

function unseen(address: Address, why: string): LiveSet<never> {
  return { ...noResources, unseen: new Map([[formatAddress(address), why]]), incomplete: [why] };
}

/**
 * Asks afresh, whatever was read before.
 * @throws WireError when the service answers neither a config nor that there is none: writing blindly is no option then
 */
export async function readOne(session: Session, address: Address): Promise<LiveConfig | undefined> {
  const answer = mountAnswer(session, await session.reader.get(mountPath(session, CONFIG_NAME)));
  if (answer.is === 'none') return undefined;
  if (answer.is === 'unread') throw unreadError(answer);
  const odd = whyOdd(session, answer.data);
  if (odd !== undefined) throw unreadError({ why: odd, answer: answer.answer });
  return liveConfig(address, answer.data);
}
