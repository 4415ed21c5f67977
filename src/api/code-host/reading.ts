/**
 * Reads what a code host answers, and refuses everything that its documentation does not describe: a failure, a redirect, a list
 * without an end, a member that is missing or of another type. Nothing is skipped, because a skipped item might be a rejection.
 */
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { CodeHost, CodeHostAnswer } from '../code-host.ts';
import { CodeHostError } from './pull-requests.ts';

const advice = 'nothing is approved as long as the code host does not give it in full';

/** What the user can do about a refusal, as a clause that begins with a colon; empty if nothing. */
function toDo(status: number): string {
  if (status === 401) return ': check that the token of this job is valid';
  return status === 403 || status === 404
    ? ': give the token of this job the right to read it, in a job of GitHub by "permissions" such as "pull-requests: read"'
    : '';
}

export class Reading {
  readonly #host: CodeHost;
  /** for messages */
  readonly #serviceName: string;

  constructor(host: CodeHost, serviceName: string) {
    this.#host = host;
    this.#serviceName = serviceName;
  }

  async get(path: string): Promise<Item> {
    return this.#item(await this.#send(path));
  }

  /** @returns undefined for 404, which is a valid answer here */
  async find(path: string): Promise<Item | undefined> {
    const answer = await this.#send(path, [404]);
    return answer.status === 404 ? undefined : this.#item(answer);
  }

  /** The pages of a list. @param path without `page` and `per_page` */
  async *pages(path: string): AsyncGenerator<readonly Item[]> {
    const joined = `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=`;
    const pages = readPages((page) => this.#send(`${joined}${page}`), {
      unexpected: (answer) => this.#unexpected(answer, 'it is not a list'),
      endless: (answer) => this.#unexpected(answer, 'the list has no end'),
    });
    for await (const { answer, items } of pages) yield this.#items(answer, items);
  }

  /** All items of a list. @param path as above */
  async list(path: string): Promise<readonly Item[]> {
    const all: Item[] = [];
    for await (const items of this.pages(path)) all.push(...items);
    return all;
  }

  /** All items of a list; none for 404. @param path as above */
  async listIfThere(path: string): Promise<readonly Item[]> {
    const { status } = await this.#send(`${path}?per_page=100&page=1`, [404]);
    return status === 404 ? [] : this.list(path);
  }

  /** One page of a list, and where the next one begins. @param ignores statuses that count as an empty list */
  async page(
    path: string,
    ignores: readonly number[] = [],
  ): Promise<{ items: readonly Item[]; next?: string }> {
    const answer = await this.#send(path, ignores);
    if (ignores.includes(answer.status)) return { items: [] };
    if (!Array.isArray(answer.body)) throw this.#unexpected(answer, 'it is not a list');
    const items = this.#items(answer, answer.body as readonly Json[]);
    return { items, ...(answer.nextCursor === undefined ? {} : { next: answer.nextCursor }) };
  }

  /** The data of a GraphQL query; the query must change nothing. */
  async query(query: string, variables: Readonly<Record<string, string>>): Promise<Item> {
    const answer = await this.#host.send({
      method: 'POST',
      path: 'graphql',
      body: { query, variables },
      repeatable: true,
    });
    if (answer.status >= 300) throw this.#failure(answer);
    const { body } = answer;
    if (memberOf(body, 'errors') !== undefined) throw this.#unexpected(answer, 'it has errors');
    return this.#item(answer).item('data');
  }

  /** The user that the token belongs to. @returns undefined if the code host does not say, as for the tokens of apps */
  async self(path: string, member: string): Promise<string | undefined> {
    const answer = await this.#send(path, [401, 403, 404]);
    const name = answer.status < 300 ? memberOf(answer.body, member) : undefined;
    return typeof name === 'string' && name !== '' ? name : undefined;
  }

  async #send(path: string, accepted: readonly number[] = []): Promise<CodeHostAnswer> {
    const answer = await this.#host.send({ method: 'GET', path, repeatable: true });
    if (answer.status >= 300 && !accepted.includes(answer.status)) throw this.#failure(answer);
    return answer;
  }

  #item(answer: CodeHostAnswer): Item {
    return new Item(answer.body, (why) => this.#unexpected(answer, why));
  }

  #items(answer: CodeHostAnswer, values: readonly Json[]): readonly Item[] {
    return values.map((value) => new Item(value, (why) => this.#unexpected(answer, why)));
  }

  #failure({ method, url, status, words }: CodeHostAnswer): CodeHostError {
    const reason = words === '' ? '' : `: ${words}`;
    return new CodeHostError(`${method} ${url} answered ${status}${reason}; ${advice}${toDo(status)}`);
  }

  #unexpected({ method, url }: CodeHostAnswer, why: string): CodeHostError {
    return new CodeHostError(
      `${method} ${url} gave another answer than ${this.#serviceName} documents: ${why}; ${advice}`,
    );
  }
}

/** An object in an answer. Methods throw if the member is missing or of another type; those that begin with `may` accept a missing one. */
export class Item {
  readonly value: JsonObject;
  readonly #fail: (why: string) => CodeHostError;

  constructor(value: Json, fail: (why: string) => CodeHostError) {
    if (!isJsonObject(value)) throw fail('an item is not an object');
    this.value = value;
    this.#fail = fail;
  }

  /** A text that is not empty. */
  text(name: string): string {
    const value = memberOf(this.value, name);
    if (typeof value !== 'string' || value === '') throw this.#missing(name);
    return value;
  }

  /** @returns undefined where it is absent, null or empty */
  mayText(name: string): string | undefined {
    const value = memberOf(this.value, name) ?? '';
    if (typeof value !== 'string') throw this.#missing(name);
    return value === '' ? undefined : value;
  }

  /** RFC 3339. */
  time(name: string): string {
    return this.#timeIn(name, this.text(name));
  }

  mayTime(name: string): string | undefined {
    const text = this.mayText(name);
    return text === undefined ? undefined : this.#timeIn(name, text);
  }

  number(name: string): number {
    const value = memberOf(this.value, name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.#missing(name);
    return value;
  }

  flag(name: string): boolean {
    const value = memberOf(this.value, name);
    if (typeof value !== 'boolean') throw this.#missing(name);
    return value;
  }

  item(name: string): Item {
    return new Item(memberOf(this.value, name) ?? null, () => this.#missing(name));
  }

  /** @returns undefined where it is absent or null */
  mayItem(name: string): Item | undefined {
    const value = memberOf(this.value, name) ?? null;
    return value === null ? undefined : new Item(value, () => this.#missing(name));
  }

  items(name: string): readonly Item[] {
    const value = memberOf(this.value, name);
    if (!Array.isArray(value)) throw this.#missing(name);
    return (value as readonly Json[]).map((one) => new Item(one, () => this.#missing(name)));
  }

  texts(name: string): readonly string[] {
    const value = memberOf(this.value, name);
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw this.#missing(name);
    return value as readonly string[];
  }

  fail(why: string): CodeHostError {
    return this.#fail(why);
  }

  #timeIn(name: string, text: string): string {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) || Number.isNaN(Date.parse(text)))
      throw this.#missing(name);
    return text;
  }

  #missing(name: string): CodeHostError {
    return this.#fail(`${quoted(name)} is missing or of another type`);
  }
}

// Reads the pages of a list of a code host. Source: wire/code-hosts 3

/** The maximal number of pages: more comments, reviews or events than any pull request may have. */
const maxPages = 500;

/**
 * The pages of a list, in their order. An item may appear twice if the list changed meanwhile.
 * @param send requests a page, from 1; throws if the service answers with a failure
 */
export async function* readPages(
  send: (page: number) => Promise<CodeHostAnswer>,
  fail: {
    /** for an answer that is not a list */
    unexpected(answer: CodeHostAnswer): Error;
    endless(answer: CodeHostAnswer): Error;
  },
): AsyncGenerator<{ readonly answer: CodeHostAnswer; readonly items: readonly Json[] }> {
  for (let page: number | undefined = 1, read = 0; page !== undefined; read += 1) {
    const answer = await send(page);
    if (!Array.isArray(answer.body)) throw fail.unexpected(answer);
    yield { answer, items: answer.body as readonly Json[] };
    const { nextPage } = answer;
    if (nextPage !== undefined && (nextPage <= page || read >= maxPages)) throw fail.endless(answer);
    page = nextPage;
  }
}
