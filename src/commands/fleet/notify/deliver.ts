/** Delivers one message to one channel. A delivery can be repeated after any failure: issues and comments are found by their markers. */
import { createHash } from 'node:crypto';
import type { Issues } from '../../../api/code-host/issues.ts';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { boundedReport } from '../../../report/json/bounded-drift.ts';
import {
  backComment,
  changedComment,
  commandsFor,
  digestBody,
  digestGone,
  digestTitle,
  goneComment,
  issueLabel,
  markerOf,
  stackBody,
  stackTitle,
  targetBack,
  targetBody,
  targetTitle,
} from './issue-text.ts';
import { keyInFleet } from './channel-keys.ts';
import { type Message, stackOf, targetOf, type Sent } from './pending.ts';
import {
  type Claim,
  noteIssue,
  notePosting,
  noteSent,
  readEnd,
  readMembers,
  readStackDrift,
} from './store.ts';

interface Database {
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

interface DeliveryContext {
  readonly database: Database;
  readonly fleet: string;
  readonly channel: string;
  readonly claim: Claim;
  /** what was sent about the topic before */
  readonly sent: Sent | undefined;
  readonly clean: <T extends object>(value: T) => T;
}

export type Sender =
  | { readonly is: 'issues'; readonly issues: Issues }
  | {
      readonly is: 'webhook';
      post(message: { readonly id: string; readonly event: string; readonly body: string }): Promise<void>;
    };

/** What a message says, for an issue and for a webhook. */
interface Content {
  readonly title: string;
  /** of the issue; undefined: it stays as it is */
  readonly body: string | undefined;
  /** added to an issue that exists already */
  readonly comment: string;
  readonly state: 'open' | 'closed';
  readonly event: string;
  readonly data: object;
}

/** @throws WireError, CodeHostRefusal when it could not be delivered */
export async function deliver(message: Message, sender: Sender, context: DeliveryContext): Promise<void> {
  const { database, channel } = context;
  const content = await contentOf(message, context);
  // The drift ended meanwhile. If an earlier attempt may have sent this message, it counts as sent, so that the end is sent as well.
  if (content === undefined && context.sent?.posting === undefined) return;
  const posting = await database.run((client) => notePosting(client, channel, message.topic));
  if (content !== undefined) {
    const clean = context.clean(content);
    if (sender.is === 'issues') await toIssue(message, clean, { ...context, issues: sender.issues, posting });
    else await sender.post(webhookMessage(message, clean, context));
  }
  await database.run((client) => noteSent(client, context.claim, deliveredOf(message)));
}

function deliveredOf(message: Message) {
  const { topic, event } = message;
  const digest = message.about === 'digest' ? { id: message.digest, event } : undefined;
  const sent = { topic, digest: digest as { id: string; event: 'opened' | 'closed' } | undefined };
  if ('drift' in message) return { ...sent, hash: message.drift.hash, drift: message.drift.id };
  const hash = 'pause' in message ? message.pause.id : event === 'opened' ? 'sent' : undefined;
  return { ...sent, hash, drift: undefined };
}

/** The id of a message: the same for each attempt to send it, and different for all other messages. */
function messageId(message: Message, { fleet, channel, sent }: DeliveryContext): string {
  const version =
    'drift' in message
      ? [message.drift.id, message.drift.hash, message.drift.changed]
      : 'pause' in message
        ? [message.pause.id]
        : [sent?.drift ?? '', sent?.hash ?? ''];
  const parts = [keyInFleet(fleet, channel), message.topic, message.event, ...version];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** @returns undefined when there is nothing to report any more */
function contentOf(message: Message, context: DeliveryContext): Promise<Content | undefined> {
  switch (message.about) {
    case 'stack':
      return 'drift' in message ? driftContent(message, context) : goneContent(message.topic, context);
    case 'digest':
      return digestContent(message, context);
    case 'target':
      return Promise.resolve(targetContent(message));
  }
}

async function driftContent(
  { event, drift: { repository, path } }: Extract<Message, { drift: object }>,
  { database }: DeliveryContext,
): Promise<Content | undefined> {
  const found = await database.run((client) => readStackDrift(client, { repository, path }));
  if (found === undefined) return undefined;
  const shown = { ...found, repository, path };
  return {
    title: stackTitle(shown),
    body: stackBody(shown),
    comment: event === 'changed' ? changedComment(shown) : backComment(shown),
    state: 'open',
    event: `drift.${event}`,
    data: {
      stack: { repository, path, name: found.stack },
      opened: found.opened,
      changed: found.changed,
      commands: commandsFor(path),
      report: JSON.parse(boundedReport(found.report, maxWebhookBytes)) as object,
    },
  };
}

/** Bytes of the report in the message of a webhook, at most. */
const maxWebhookBytes = 200_000;

async function goneContent(topic: string, { database }: DeliveryContext): Promise<Content> {
  const { repository, path } = stackOf(topic);
  const end = await database.run((client) => readEnd(client, { repository, path }));
  return {
    title: stackTitle({ repository, path, stack: end?.stack ?? '' }),
    body: undefined,
    comment: goneComment(end),
    state: 'closed',
    event: 'drift.closed',
    data: {
      stack: { repository, path, ...(end === undefined ? {} : { name: end.stack }) },
      ...(end === undefined ? {} : { closed: end.at, because: end.because }),
    },
  };
}

async function digestContent(
  { event, digest }: Extract<Message, { about: 'digest' }>,
  { database, channel }: DeliveryContext,
): Promise<Content> {
  const members = await database.run((client) => readMembers(client, channel, digest));
  return {
    title: digestTitle(members),
    body: event === 'opened' ? digestBody(members) : undefined,
    comment: event === 'opened' ? '' : digestGone,
    state: event === 'opened' ? 'open' : 'closed',
    event: event === 'opened' ? 'drift.digest' : 'drift.digest-closed',
    data: { digest, stacks: members },
  };
}

function targetContent(message: Extract<Message, { about: 'target' }>): Content {
  const address = targetOf(message.topic);
  const reason = 'pause' in message ? message.pause.reason : '';
  const isPaused = message.event === 'opened';
  return {
    title: targetTitle(address),
    body: isPaused ? targetBody(address, reason) : undefined,
    comment: isPaused ? 'The target is paused again.' : targetBack,
    state: isPaused ? 'open' : 'closed',
    event: isPaused ? 'target.paused' : 'target.back',
    data: { target: address, ...(isPaused ? { reason } : {}) },
  };
}

function webhookMessage(message: Message, { event, data }: Content, context: DeliveryContext) {
  const id = messageId(message, context);
  return { id, event, body: JSON.stringify({ version: 1, id, event, fleet: context.fleet, ...data }) };
}

// Issues. An issue is found by its number or, if that was lost, by its marker.

/** Milliseconds by which the clock of a service may be behind. */
const clockMargin = 600_000;

interface IssueContext extends DeliveryContext {
  readonly issues: Issues;
  /** when the first attempt began: RFC 3339 */
  readonly posting: string;
}

async function toIssue(message: Message, content: Content, context: IssueContext): Promise<void> {
  const { fleet, sent, issues, posting } = context;
  const marker = markerOf(fleet, message.topic);
  const isRetry = sent?.posting !== undefined;
  const since = new Date(Date.parse(posting) - clockMargin).toISOString();
  const number = sent?.issue ?? (await issues.find(marker, isRetry ? { since } : { label: issueLabel }));
  if (number === undefined) return createIssue(message, content, { ...context, marker, since });
  const { title, body, state } = content;
  const text = body === undefined ? {} : { title, body: withMarker(marker, body) };
  const update = () => issues.update(number, text, state);
  const comment = () => commentOnce(message, content.comment, { ...context, number, since, isRetry });
  if (state === 'closed') {
    await comment();
    await update();
  } else {
    // The issue was deleted.
    if (!(await update())) return createIssue(message, content, { ...context, marker, since });
    await comment();
  }
  if (sent?.issue === undefined) await noteNumber(message, number, context);
}

async function createIssue(
  message: Message,
  { title, body, state }: Content,
  context: IssueContext & { readonly marker: string; readonly since: string },
): Promise<void> {
  const { issues, marker, since } = context;
  // Nothing was sent, so there is nothing to close.
  if (state === 'closed' || body === undefined) return;
  const created = await issues.create({ title, body: withMarker(marker, body) }, issueLabel);
  // Another worker may have created the issue while this one was stopped.
  const oldest = (await issues.find(marker, { since })) ?? created;
  if (oldest < created) await issues.update(created, {}, 'closed');
  await noteNumber(message, Math.min(oldest, created), context);
}

function noteNumber(message: Message, number: number, { database, channel }: IssueContext): Promise<void> {
  return database.run((client) => noteIssue(client, channel, message.topic, number));
}

function withMarker(marker: string, body: string): string {
  return `${marker}\n\n${body}`;
}

async function commentOnce(
  message: Message,
  text: string,
  context: IssueContext & { readonly number: number; readonly since: string; readonly isRetry: boolean },
): Promise<void> {
  const { issues, number, since, isRetry } = context;
  if (text === '') return;
  const marker = markerOf(messageId(message, context));
  if (isRetry && (await issues.hasComment(number, marker, since))) return;
  await issues.comment(number, withMarker(marker, text));
}
