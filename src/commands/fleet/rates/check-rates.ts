/**
 * The request limits that one check or apply shares with all others. Its process has no access to the database, so it sends messages to the
 * worker: it asks for start times, and reports the answers of services. These are recorded together, about once a second.
 */
import type { RatedAnswer } from '../../../api/transport/rate-controller.ts';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import type { RateAnswer, RateMessage } from '../../../run/fleet-process.ts';
import {
  identityOf,
  isUserKnown,
  pauseRequests,
  type RateOwner,
  type RequestPurpose,
  recordAnswers,
  recordUser,
  type StartTimes,
  takeStartTimes,
  type TokenOwner,
} from './request-rate.ts';

interface Database {
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

/** The database did not answer: ask again in a second. Until then no request starts. */
const unavailable: StartTimes = { count: 0, wait: 1000, apart: 0 };

/** Milliseconds for which one answer pauses all checks of a user, at most: the next refusal pauses them again. */
const longestPause = 3_600_000;

/** Answers are recorded when there are this many, at the latest. While the database is unavailable, at most `maxKeptAnswers` are kept. */
const recordedAtOnce = 50;
const maxKeptAnswers = 1000;

interface Observed {
  readonly owner: RateOwner;
  answers: (RatedAnswer | undefined)[];
  /** answers so far, also those that are recorded */
  count: number;
}

export class CheckRates {
  readonly #database: Database;
  readonly #quotaOf: (address: string) => number | undefined;
  readonly #identities = new Map<string, Promise<string>>();
  readonly #observed = new Map<string, Observed>();
  /** The answer to the last message. Messages are handled one by one, because a `set-user` changes the owner of all later requests. */
  #last: Promise<unknown> = Promise.resolve();

  /** purpose of the requests from now on */
  purpose: RequestPurpose;

  /** @param quotaOf requests per second to an address, by the fleet file */
  constructor(
    database: Database,
    purpose: RequestPurpose,
    quotaOf: (address: string) => number | undefined = () => undefined,
  ) {
    this.#database = database;
    this.purpose = purpose;
    this.#quotaOf = quotaOf;
  }

  /** Handles a message of the process. @returns the answer, if the message is a question; never rejects */
  answer(message: RateMessage): Promise<RateAnswer | undefined> {
    const answered = this.#last
      .then(() => this.#answer(message))
      .catch(() => ('id' in message ? { id: message.id, ...unavailable } : undefined));
    this.#last = answered;
    return answered;
  }

  /** Records the remaining answers. Never rejects: without them, the rate only stays as it was. */
  async end(): Promise<void> {
    await this.#last;
    for (const observed of this.#observed.values()) await this.#record(observed).catch(() => {});
  }

  /** How many requests were answered, for each owner of a limit. */
  get counts(): readonly (RateOwner & { readonly requests: number })[] {
    return [...this.#observed.values()].map(({ owner, count }) => ({ ...owner, requests: count }));
  }

  async #answer(message: RateMessage): Promise<RateAnswer | undefined> {
    const { address, identity: token } = message;
    const owner = { address, token };
    const { transaction } = this.#database;
    if (message.do === 'wants-user') {
      const isKnown = await transaction((client) => isUserKnown(client, owner));
      return { id: message.id, wantsUser: !isKnown, ...unavailable };
    }
    if (message.do === 'set-user') {
      const before = await this.#observedOf(owner);
      await this.#record(before);
      const identity = await transaction((client) => recordUser(client, owner, message.user));
      // Not read again: by now another process may have logged in as another user with the same role.
      this.#identities.set(keyOf(owner), Promise.resolve(identity));
      // Earlier requests count for the user as well.
      const { count } = before;
      before.count = 0;
      (await this.#observedOf(owner)).count += count;
      return undefined;
    }
    const observed = await this.#observedOf(owner);
    if (message.do === 'observe') await this.#observe(observed, message.answer);
    else if (message.do === 'pause')
      await transaction((client) =>
        pauseRequests(client, observed.owner, Math.min(message.milliseconds, longestPause)),
      );
    else return { id: message.id, ...(await this.#take(observed, message)) };
    return undefined;
  }

  async #observe(observed: Observed, answer: RatedAnswer | undefined): Promise<void> {
    const { answers } = observed;
    observed.count += 1;
    if (answers.length < maxKeptAnswers) answers.push(answer);
    const isRefused = answer?.status === 429 || answer?.status === 503 || answer?.remaining === 0;
    if (isRefused || answers.length % recordedAtOnce === 0) await this.#record(observed);
  }

  #take(
    observed: Observed,
    { count, late }: { readonly count: number; readonly late?: number },
  ): Promise<StartTimes> {
    return this.#recordThen(observed, (client) =>
      takeStartTimes(client, {
        ...{ ...observed.owner, purpose: this.purpose, count, late },
        quota: this.#quotaOf(observed.owner.address),
      }),
    );
  }

  async #record(observed: Observed): Promise<void> {
    if (observed.answers.length > 0) await this.#recordThen(observed, async () => {});
  }

  /** Records the answers so far and then does the work, in the same transaction. */
  async #recordThen<T>(observed: Observed, work: (client: PostgresClient) => Promise<T>): Promise<T> {
    const { owner, answers } = observed;
    observed.answers = [];
    try {
      return await this.#database.transaction(async (client) => {
        if (answers.length > 0) await recordAnswers(client, owner, answers);
        return await work(client);
      });
    } catch (error) {
      observed.answers = [...answers, ...observed.answers];
      throw error;
    }
  }

  async #observedOf(owner: TokenOwner): Promise<Observed> {
    const key = keyOf(owner);
    const asked =
      this.#identities.get(key) ?? this.#database.transaction((client) => identityOf(client, owner));
    this.#identities.set(key, asked);
    asked.catch(() => this.#identities.delete(key));
    const identity = await asked;
    const shared = JSON.stringify([owner.address, identity]);
    const observed = this.#observed.get(shared) ?? {
      owner: { address: owner.address, identity },
      answers: [],
      count: 0,
    };
    this.#observed.set(shared, observed);
    return observed;
  }
}

function keyOf({ address, token }: TokenOwner): string {
  return JSON.stringify([address, token]);
}
