/**
 * Finds the messages to send to one channel, by comparing the present state with what was sent. So a restart sends nothing again, and drift
 * that begins and ends between two comparisons is never reported.
 */

/** An open drift of a stack. */
export interface OpenDrift {
  readonly id: string;
  readonly repository: string;
  readonly path: string;
  readonly stack: string;
  readonly hash: string;
  /** when it began or changed last, as a text that is only compared */
  readonly changed: string;
  /** seconds since it began */
  readonly age: number;
}

/** What was sent last to a channel about a topic. */
export interface Sent {
  readonly topic: string;
  /** hash of the drift, or id of the pause; undefined if the end was sent last, or nothing yet */
  readonly hash: string | undefined;
  /** id of the record of the drift that was sent last */
  readonly drift: string | undefined;
  /** id of the digest that this drift was sent in */
  readonly digest: string | undefined;
  readonly issue: number | undefined;
  /** RFC 3339: when a delivery began whose result is not known */
  readonly posting: string | undefined;
  /** whether a failed message must not be tried again yet */
  readonly waits: boolean;
}

/** One message about many stacks. */
export interface Digest {
  readonly id: string;
  readonly isSent: boolean;
}

export interface PausedTarget {
  readonly id: string;
  readonly address: string;
  readonly reason: string;
}

export interface Situation {
  readonly drifts: readonly OpenDrift[];
  readonly pauses: readonly PausedTarget[];
  /** topics that are still open, but are not or no longer sent to this channel */
  readonly otherTopics: readonly string[];
  readonly sent: readonly Sent[];
  /** the ones that are not closed */
  readonly digests: readonly Digest[];
}

export type Message =
  | {
      readonly about: 'stack';
      readonly event: 'opened' | 'changed';
      readonly topic: string;
      readonly drift: OpenDrift;
    }
  | { readonly about: 'stack'; readonly event: 'closed'; readonly topic: string }
  | {
      readonly about: 'digest';
      readonly event: 'opened' | 'closed';
      readonly topic: string;
      readonly digest: string;
    }
  | {
      readonly about: 'target';
      readonly event: 'opened';
      readonly topic: string;
      readonly pause: PausedTarget;
    }
  | { readonly about: 'target'; readonly event: 'closed'; readonly topic: string };

interface Pending {
  readonly messages: readonly Message[];
  /** drifts to put into one message */
  readonly digest: readonly OpenDrift[];
  /** topics of stacks that were in a digest and whose drift is gone: they get no messages of their own */
  readonly quiet: readonly string[];
}

interface Limits {
  /** seconds */
  readonly hold: number;
  readonly digestAbove: number;
  /** seconds in which each stack is checked once: drift that began everywhere at once is found within this time */
  readonly window: number;
}

const stackPrefix = 'stack ';
const targetPrefix = 'target ';

export function stackTopic({ repository, path }: Pick<OpenDrift, 'repository' | 'path'>): string {
  return `${stackPrefix}${JSON.stringify([repository, path])}`;
}

export function isOfStack(topic: string): boolean {
  return topic.startsWith(stackPrefix);
}

export function stackOf(topic: string): { readonly repository: string; readonly path: string } {
  const [repository = '', path = ''] = JSON.parse(topic.slice(stackPrefix.length)) as string[];
  return { repository, path };
}

export function targetTopic({ address }: Pick<PausedTarget, 'address'>): string {
  return `${targetPrefix}${address}`;
}

export function targetOf(topic: string): string {
  return topic.slice(targetPrefix.length);
}

function digestTopic(id: string): string {
  return `digest ${id}`;
}

export function findPending(situation: Situation, limits: Limits): Pending {
  const sent = new Map(situation.sent.map((one) => [one.topic, one]));
  const { messages, digest } = findDriftMessages(situation.drifts, sent, limits);
  const open = new Set([...situation.drifts.map(stackTopic), ...situation.otherTopics]);
  const over = situation.sent.filter(
    ({ topic, hash }) => isOfStack(topic) && hash !== undefined && !open.has(topic),
  );
  const closed = over
    .filter((one) => one.digest === undefined)
    .map(({ topic }): Message => ({ about: 'stack', event: 'closed', topic }));
  const all = [
    ...messages,
    ...closed,
    ...findDigestMessages(situation),
    ...findPauseMessages(situation, sent),
  ];
  return {
    messages: all.filter(({ topic }) => sent.get(topic)?.waits !== true),
    digest,
    quiet: over.filter((one) => one.digest !== undefined).map(({ topic }) => topic),
  };
}

function findDriftMessages(
  drifts: readonly OpenDrift[],
  sent: ReadonlyMap<string, Sent>,
  { hold, digestAbove, window }: Limits,
): { readonly messages: readonly Message[]; readonly digest: readonly OpenDrift[] } {
  const sentOf = (drift: OpenDrift) => sent.get(stackTopic(drift));
  const unsent = drifts.filter((drift) => sentOf(drift)?.hash !== drift.hash);
  // Drift without a message of its own: nothing was sent about it, or only a digest.
  const isFresh = (drift: OpenDrift) => {
    const { hash, digest } = sentOf(drift) ?? {};
    return hash === undefined || digest !== undefined;
  };
  const message = (event: 'opened' | 'changed') => (drift: OpenDrift) => ({
    ...({ about: 'stack', event, topic: stackTopic(drift), drift } as const),
  });
  const changed = unsent.filter((drift) => !isFresh(drift)).map(message('changed'));
  const fresh = unsent.filter(isFresh);
  const due = fresh.filter(({ age }) => age >= hold);
  if (fresh.length <= digestAbove)
    return { messages: [...changed, ...due.map(message('opened'))], digest: [] };
  // Many stacks begin to drift: wait for the rest of them, but not forever.
  const oldest = Math.max(0, ...due.map(({ age }) => age));
  if (due.length < fresh.length && oldest < hold + window) return { messages: changed, digest: [] };
  if (due.length > digestAbove) return { messages: changed, digest: due };
  return { messages: [...changed, ...due.map(message('opened'))], digest: [] };
}

function findDigestMessages({ digests, sent }: Situation): Message[] {
  return digests.flatMap(({ id, isSent }): Message[] => {
    const hasMembers = sent.some(({ digest, hash }) => digest === id && hash !== undefined);
    const about = { about: 'digest', topic: digestTopic(id), digest: id } as const;
    if (hasMembers) return isSent ? [] : [{ ...about, event: 'opened' }];
    return isSent ? [{ ...about, event: 'closed' }] : [];
  });
}

function findPauseMessages(
  { pauses, sent: rows, otherTopics }: Situation,
  sent: ReadonlyMap<string, Sent>,
): Message[] {
  const opened = pauses
    .filter((pause) => sent.get(targetTopic(pause))?.hash === undefined)
    .map((pause): Message => ({ about: 'target', event: 'opened', topic: targetTopic(pause), pause }));
  const paused = new Set([...pauses.map(targetTopic), ...otherTopics]);
  const over = rows.filter(
    ({ topic, hash }) => topic.startsWith(targetPrefix) && hash !== undefined && !paused.has(topic),
  );
  return [...opened, ...over.map(({ topic }): Message => ({ about: 'target', event: 'closed', topic }))];
}
