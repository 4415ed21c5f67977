/**
 * Sends messages to channels. Only one worker at a time sends to a channel. The database has what was sent, so that a restart sends nothing
 * again. A channel that cannot be reached is tried again later, and does not hold up the others.
 */
import { gitlabHeaders, githubHeaders, CodeHostRefusal } from '../../../api/code-host/comments.ts';
import { githubIssues, gitlabIssues } from '../../../api/code-host/issues.ts';
import { openCodeHost } from '../../../api/code-host.ts';
import { postWebhook } from '../../../api/webhook.ts';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { messageOf } from '../../../model/error-message.ts';
import { quoted } from '../../../model/quoted.ts';
import type { CliHost } from '../../../run/host.ts';
import { takeOverOldKey } from './channel-keys.ts';
import { deliver, type Sender } from './deliver.ts';
import { findPending, type Message, type Sent } from './pending.ts';
import type { Channel } from './settings.ts';
import {
  type Claim,
  claimChannel,
  claimSeconds,
  forget,
  isHeld,
  makeDigest,
  noteFailed,
  noteUnable,
  readSituation,
  releaseChannel,
} from './store.ts';

type NotifierHost = Pick<CliHost, 'clean' | 'env' | 'now' | 'secrets' | 'version'> &
  Partial<Pick<CliHost, 'observer' | 'retryPolicy'>>;

interface NotifierOptions {
  readonly host: NotifierHost;
  readonly database: {
    run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
    transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  };
  /** the newest version of the fleet */
  readonly fleet: () => { readonly name: string; readonly channels: readonly Channel[] };
  /** stops the notifier */
  readonly signal: AbortSignal;
}

/** Milliseconds before the end of a claim after which no further message is sent. */
const margin = 30_000;

export class Notifier {
  readonly #options: NotifierOptions;
  /** keys of channels that took over what was sent under their old keys */
  readonly #takenOver = new Set<string>();

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Sends once to each channel that no other worker sends to now. Only an error of the database makes it fail. */
  async pass(): Promise<void> {
    const { database, fleet, signal } = this.#options;
    const { name, channels } = fleet();
    await this.#takeOverOldKeys(name, channels);
    const usable: Channel[] = [];
    for (const channel of channels) {
      const missing = this.#missingSecret(channel);
      if (missing === undefined) usable.push(channel);
      else await database.run((client) => noteUnable(client, channel.key, missing));
    }
    let remaining = usable;
    while (remaining.length > 0 && !signal.aborted) {
      const keys = remaining.map(({ key }) => key);
      const claim = await database.run((client) => claimChannel(client, keys));
      const channel = remaining.find(({ key }) => key === claim?.channel);
      if (claim === undefined || channel === undefined) return;
      await this.#sendAll(channel, claim);
      remaining = remaining.filter((one) => one !== channel);
    }
  }

  async #takeOverOldKeys(fleet: string, channels: readonly Channel[]): Promise<void> {
    for (const { key } of channels.filter((one) => !this.#takenOver.has(one.key))) {
      await this.#options.database.transaction((client) => takeOverOldKey(client, fleet, key));
      this.#takenOver.add(key);
    }
  }

  #missingSecret({ to: { secret } }: Channel): string | undefined {
    return this.#secret(secret) === '' ? `the environment variable ${quoted(secret)} is not set` : undefined;
  }

  #secret(name: string): string {
    const value = this.#options.host.env[name]?.trim() ?? '';
    if (value !== '') this.#options.host.secrets.keep(value);
    return value;
  }

  async #sendAll(channel: Channel, claim: Claim): Promise<void> {
    const { database } = this.#options;
    let error: string | undefined;
    try {
      error = await this.#send(channel, claim);
    } catch (cause) {
      error = messageOf(cause);
    }
    const cleaned = error === undefined ? undefined : (this.#options.host.clean([error])[0] ?? '');
    await database.run((client) => releaseChannel(client, claim, cleaned));
  }

  /** @returns why nothing can be sent to the channel */
  async #send(channel: Channel, claim: Claim): Promise<string | undefined> {
    const { signal, host } = this.#options;
    const until = host.now() + claimSeconds * 1000 - margin;
    const { messages, sent } = await this.#pending(channel);
    if (messages.length === 0) return undefined;
    const { sender, close } = this.#open(channel, until);
    try {
      for (const message of messages) {
        if (signal.aborted || host.now() > until) return undefined;
        if (!(await this.#options.database.run((client) => isHeld(client, claim)))) return undefined;
        const before = sent.find(({ topic }) => topic === message.topic);
        const error = await this.#deliver(message, sender, { claim, sent: before });
        if (error !== undefined) return error;
      }
      return undefined;
    } finally {
      await close();
    }
  }

  /** The messages to send now. Many drifts that begin at the same time become one message. */
  #pending(channel: Channel) {
    const { key, hold, digestAbove } = channel;
    const limits = (window: number) => ({ hold, digestAbove, window });
    return this.#options.database.transaction(async (client) => {
      const found = await readSituation(client, channel);
      const { messages, digest, quiet } = findPending(found, limits(found.window));
      if (digest.length + quiet.length === 0) return { messages, sent: found.sent };
      if (quiet.length > 0) await forget(client, key, quiet);
      if (digest.length > 0) await makeDigest(client, key, digest);
      const updated = await readSituation(client, channel);
      return { messages: findPending(updated, limits(updated.window)).messages, sent: updated.sent };
    });
  }

  /** @returns why the channel accepts no messages. If only this message is refused, it is tried again later */
  async #deliver(
    message: Message,
    sender: Sender,
    { claim, sent }: { readonly claim: Claim; readonly sent: Sent | undefined },
  ): Promise<string | undefined> {
    const { database, fleet, signal, host } = this.#options;
    const { channel } = claim;
    const context = { database, fleet: fleet().name, channel, claim, sent, clean: host.clean };
    try {
      await deliver(message, sender, context);
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const why = messageOf(error);
      if (!(error instanceof CodeHostRefusal) || error.isFault) return why;
      const cleaned = host.clean([why])[0] ?? '';
      await database.run((client) => noteFailed(client, channel, message.topic, cleaned));
      return undefined;
    }
  }

  #open({ to }: Channel, until: number): { readonly sender: Sender; readonly close: () => Promise<void> } {
    const { host, signal } = this.#options;
    const { env, observer, secrets } = host;
    const userAgent = `trueup/${host.version}`;
    const secret = this.#secret(to.secret);
    if (to.is === 'webhook') {
      const options = { url: to.url, secret, userAgent, env, signal, observer };
      return {
        sender: { is: 'webhook', post: (message) => postWebhook(message, options) },
        close: async () => {},
      };
    }
    const { retryPolicy } = host;
    const codeHost = openCodeHost({
      ...{ url: to.url, token: secret, userAgent, env, signal, until, observer, secrets },
      headers: to.is === 'github' ? githubHeaders : gitlabHeaders,
      address: 'the "url" of the notification',
      onWait: () => {},
      ...(retryPolicy === undefined ? {} : { retryPolicy }),
    });
    const issues = to.is === 'github' ? githubIssues : gitlabIssues;
    return {
      sender: { is: 'issues', issues: issues(codeHost, to.repository) },
      close: () => codeHost.close(),
    };
  }
}
