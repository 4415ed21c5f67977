/** The code host of a CI job: one connection, for the comments of its pull request and for the permissions of authors. */
import type { CodeHost } from '../../api/code-host.ts';
import { isMarked } from '../../approvals/hidden-lines.ts';
import { NoRights, type Review, CodeHostRefusal } from '../../api/code-host/comments.ts';
import { openPullRequests } from '../../api/code-host/open-pull-requests.ts';
import { CodeHostError, isSameName, type PullRequests } from '../../api/code-host/pull-requests.ts';
import { WireError } from '../../model/http.ts';
import { quoted } from '../../model/quoted.ts';
import type { Trust } from '../../run/ci/baseline.ts';
import type { CiJob } from '../../run/ci/job.ts';
import { connectToCodeHost, keepTokens } from '../../run/code-host.ts';
import { describePosted, reviewOf } from '../../run/post-comment.ts';
import { type Draft, markStale, postPlan } from '../../run/sticky-comment.ts';
import type { CliHost } from '../../run/host.ts';
import { findCodeHost, type PlaceFlags, type PullRequestPlace } from '../../run/pull-request.ts';

export interface SessionOptions extends PlaceFlags {
  readonly author?: string;
  readonly comment?: boolean;
  readonly mustPost?: boolean;
}

export interface CodeHostSession {
  /** absent without a code host, or without a token for it */
  readonly pullRequests?: PullRequests;
  /** the accounts whose comments count */
  readonly accounts: { readonly author?: string | undefined; readonly usual?: string | undefined };
  /** Marks the comment of a stack as out of date: this job plans a newer commit. */
  markOutdated(stack: string): Promise<void>;
  /** Marks the comments of stacks that the pull request no longer changes. */
  markUnchangedStacks(stacks: readonly string[]): Promise<void>;
  /** @param options.creates whether a missing comment is created. @returns false if the comment had to be posted and was not */
  post(draft: Draft, options: { readonly creates: boolean }): Promise<boolean>;
  close(): Promise<void>;
}

interface SessionInput {
  readonly options: SessionOptions;
  readonly job: CiJob;
  readonly host: CliHost;
  readonly signal: AbortSignal;
  readonly until: number;
}

/** @throws CommandStop if the flags and variables for the code host are not complete */
export async function openCodeHostSession(input: SessionInput): Promise<CodeHostSession> {
  const { options, host, job } = input;
  keepTokens(options.tokenEnv, host);
  const place = findCodeHost(options, host.env);
  if (place === undefined) return noSession({ author: options.author });
  const token = host.env[place.tokenEnv]?.trim() ?? '';
  const accounts = { author: options.author, usual: place.usualAuthor };
  if (token === '') return withoutToken(accounts, place.tokenEnv, input);
  const codeHost = connectToCodeHost(place, { token, ...input });
  const pullRequests = openPullRequests(place, codeHost);
  const number = options.number ?? job.number;
  const posts = options.comment !== false && job.event !== 'merge-group' && job.event !== 'push';
  const close = () => codeHost.close();
  if (!posts || number === undefined) return { ...noSession(accounts), pullRequests, close };
  const isMerged = async () => (await pullRequests.get(number)).merged !== undefined;
  const poster = new Poster({ ...place, number }, codeHost, { ...input, accounts, isMerged });
  return {
    pullRequests,
    accounts,
    markOutdated: (stack) => poster.markOutdated(stack),
    markUnchangedStacks: (stacks) => poster.markUnchangedStacks(stacks),
    post: (draft, { creates }) => poster.post(draft, creates),
    close,
  };
}

function noSession(accounts: CodeHostSession['accounts']): CodeHostSession {
  return {
    accounts,
    markOutdated: async () => {},
    markUnchangedStacks: async () => {},
    post: async () => true,
    close: async () => {},
  };
}

function withoutToken(
  accounts: CodeHostSession['accounts'],
  variable: string,
  { options, job, host }: SessionInput,
): CodeHostSession {
  const posts = job.event === 'pull-request' && options.comment !== false;
  if (posts)
    host.stderr.write(
      `no comment is posted: the environment variable ${quoted(variable)} is not set; it has to hold a token that may write comments\n`,
    );
  return { ...noSession(accounts), post: async () => !(posts && options.mustPost === true) };
}

interface PosterInput extends SessionInput, Pick<CodeHostSession, 'accounts'> {
  /** Whether the pull request is merged. @throws CodeHostError, WireError */
  isMerged(): Promise<boolean>;
}

/** The comments of one pull request. */
class Poster {
  readonly #place: PullRequestPlace;
  readonly #review: Review;
  readonly #input: PosterInput;
  #isMerged: Promise<boolean> | undefined;
  /** whether the token may not write here, as in a fork, or the code host does not answer */
  #cannotPost = false;
  readonly #said = new Set<string>();

  constructor(place: PullRequestPlace, codeHost: CodeHost, input: PosterInput) {
    this.#place = place;
    this.#review = reviewOf(place, codeHost);
    this.#input = input;
  }

  /** @param keepsSame whether the comment is left unchanged if its plan is of the same commit */
  async markOutdated(stack: string, keepsSame = true): Promise<void> {
    const { accounts, job } = this.#input;
    await this.#try(async () => {
      const posted = await markStale(this.#review, {
        ...{ stack, accounts, commit: job.head, keepsSame },
      });
      if (posted.is === 'marked') this.#say(describePosted(posted, stack, this.#place));
    });
  }

  async markUnchangedStacks(stacks: readonly string[]): Promise<void> {
    await this.#try(async () => {
      const bodies = (await this.#review.list()).map(({ body }) => body);
      for (const stack of stacks)
        if (bodies.some((body) => isMarked(body, stack))) await this.markOutdated(stack, false);
    });
  }

  async post(draft: Draft, creates: boolean): Promise<boolean> {
    const { accounts, options } = this.#input;
    const isPosted = await this.#try(async () => {
      const posted = await postPlan(this.#review, draft, { accounts, creates });
      this.#say(describePosted(posted, draft.stack, this.#place));
    });
    return isPosted || options.mustPost !== true;
  }

  /** Changes comments. A failure does not stop the plan. @returns false if the code host refuses or fails. @throws any other error */
  async #try(act: () => Promise<void>): Promise<boolean> {
    if (this.#cannotPost) return false;
    try {
      // A job that runs again after the merge does not change the comments, because the approvals are about them.
      this.#isMerged ??= this.#input.isMerged();
      if (await this.#isMerged) this.#sayOnce('the pull request is merged: its comments stay as they are');
      else await act();
      return true;
    } catch (error) {
      const isRefused =
        error instanceof NoRights || error instanceof CodeHostRefusal || error instanceof CodeHostError;
      const isLost = error instanceof WireError && !this.#input.signal.aborted;
      if (!isRefused && !isLost) throw error;
      this.#cannotPost = !(error instanceof CodeHostRefusal);
      const why =
        error instanceof NoRights
          ? `the token has no rights for it (in a fork, that is expected): ${error.message}`
          : error.message;
      this.#sayOnce(`no comment is posted: ${why}`);
      return false;
    }
  }

  #sayOnce(line: string): void {
    if (!this.#said.has(line)) this.#say(line);
    this.#said.add(line);
  }

  #say(line: string): void {
    this.#input.host.stderr.write(`${line}\n`);
  }
}

interface TrustInput {
  /** whether the user says that the authors are trusted (`--trust-author`) */
  readonly trustAuthor: boolean;
  /** numbers of the pull requests that the changes come from */
  readonly numbers: readonly number[];
}

/** A function that asks the code host whether the authors may write to the repository. If that is not known, they are not trusted. */
export function trustOf(
  { event }: CiJob,
  { pullRequests }: Pick<CodeHostSession, 'pullRequests'>,
  { trustAuthor, numbers }: TrustInput,
): Trust {
  let asked: ReturnType<Trust> | undefined;
  const ask = async () => {
    if (event === 'push' || trustAuthor) return { isTrusted: true, why: '' };
    if (pullRequests === undefined || numbers.length === 0)
      return notTrusted('it is not known whether their author may write to the repository');
    return trustOfAuthors(pullRequests, numbers).catch((error: unknown) => {
      if (!(error instanceof CodeHostError || error instanceof WireError)) throw error;
      return notTrusted(
        `the code host does not say whether their author may write to the repository (${error.message})`,
      );
    });
  };
  return () => {
    asked ??= ask();
    return asked;
  };
}

async function trustOfAuthors(pullRequests: PullRequests, numbers: readonly number[]): ReturnType<Trust> {
  for (const number of numbers) {
    const { author, from, to } = await pullRequests.get(number);
    const permission = await pullRequests.permission(author);
    if (permission !== 'write' && permission !== 'admin')
      return notTrusted(`their author ${quoted(author)} may not write to the repository`);
    const isOwnFork = from?.includes('/') === true && isSameName(from.split('/')[0], author);
    if (!isSameName(from, to) && !isOwnFork)
      return notTrusted(
        `they come from ${from === undefined ? 'a repository that was deleted' : `the repository ${quoted(from)}`}, where others than their author ${quoted(author)} may push`,
      );
  }
  return { isTrusted: true, why: '' };
}

function notTrusted(why: string) {
  return { isTrusted: false, why };
}
