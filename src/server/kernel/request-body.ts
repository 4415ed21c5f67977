/**
 * Reads request bodies: from unknown JSON to typed values, with absent, null and empty kept apart. Every problem is recorded
 * with its JSON pointer, so that one answer lists them all; unknown members are ignored.
 */
import { conflict, type Identifier, invalid, type PointedProblem } from './documents.ts';

/** The most characters in a name of a workspace, project, team or organization, or of a shared object such as an agent pool. */
export const NAME_LIMIT = 90;

/** The limit of texts that the service only stores: descriptions, reasons. */
export const TEXT_LIMIT = 64 * 1024;

export type BodyObject = Readonly<Record<string, unknown>>;

/** The value as an object; undefined for everything else, lists and null included. */
export function asObject(value: unknown): BodyObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as BodyObject)
    : undefined;
}

/** The type of a resource whose body has no type, where that is allowed. It matches every type, and JSON cannot contain it. */
const ANY_TYPE = Symbol('the type of the path');

/** The body with `ANY_TYPE` for each missing or empty type of a resource, also in relationships. */
export function withAnyType(body: unknown): unknown {
  const envelope = asObject(body);
  if (envelope === undefined || envelope['data'] === undefined) return body;
  const { data } = envelope;
  return { ...envelope, data: Array.isArray(data) ? data.map(typed) : typed(data) };
}

function typed(item: unknown): unknown {
  const resource = asObject(item);
  if (resource === undefined) return item;
  const related = asObject(resource['relationships']);
  return {
    ...resource,
    type: resource['type'] || ANY_TYPE,
    ...(related && {
      relationships: Object.fromEntries(
        Object.entries(related).map(([name, relationship]) => [name, withAnyType(relationship)]),
      ),
    }),
  };
}

/** Whether a resource of a body has this type, or may leave it out. */
export function isOfType(resource: BodyObject | undefined, type: string): boolean {
  return resource?.['type'] === type || resource?.['type'] === ANY_TYPE;
}

/**
 * `data` of a body that must be one resource of this type; `id` is the id in the path of an update.
 * @throws ApiError 422 when it is not such a resource, 409 when its id differs from `id`
 */
export function readResource(
  body: unknown,
  type: string,
  id?: string,
): { attributes: BodyObject; relationships: BodyObject } {
  const data = asObject(asObject(body)?.['data']);
  if (data === undefined) {
    throw invalid([{ detail: 'data must be a resource object', pointer: '/data' }]);
  }
  if (!isOfType(data, type)) {
    throw invalid([{ detail: `type must be "${type}"`, pointer: '/data/type' }]);
  }
  if (id !== undefined && data['id'] !== undefined && data['id'] !== id) {
    throw conflict(`The body is of another resource than the path: its id is not "${id}"`);
  }
  const problems: PointedProblem[] = [];
  const read = new MemberReader(data, '/data', problems);
  const attributes = read.object('attributes');
  const relationships = read.object('relationships');
  if (problems.length > 0) throw invalid(problems);
  return { attributes: attributes ?? {}, relationships: relationships ?? {} };
}

/** The same with a reader of the attributes, which adds to `problems`. @throws ApiError 422, 409 */
export function readAttributes(body: unknown, type: string, id?: string) {
  const problems: PointedProblem[] = [];
  const { attributes, relationships } = readResource(body, type, id);
  const read = new MemberReader(attributes, '/data/attributes', problems);
  return { attributes, relationships, read, problems };
}

/** `data` of a body that must be a list of resources of this type, which are returned as they are. @throws ApiError 422. */
export function readResourceList(body: unknown, type: string): BodyObject[] {
  const data = asObject(body)?.['data'];
  if (!Array.isArray(data)) {
    throw invalid([{ detail: `data must be a list of "${type}"`, pointer: '/data' }]);
  }
  const problems: PointedProblem[] = [];
  const items = data.map((item: unknown, index) => {
    const object = asObject(item);
    if (!isOfType(object, type)) {
      problems.push({ detail: `type must be "${type}"`, pointer: `/data/${index}/type` });
    }
    return object ?? {};
  });
  if (problems.length > 0) throw invalid(problems);
  return items;
}

/** `data` of a body that must be a list of identifiers of this type. @throws ApiError 422. */
export function readIdentifiers(body: unknown, type: string): Identifier[] {
  const problems: PointedProblem[] = [];
  const identifiers = readResourceList(body, type).map((item, index) => {
    const id = item['id'];
    if (typeof id !== 'string' || id === '') {
      problems.push({ detail: 'id must be given', pointer: `/data/${index}/id` });
    }
    return { id: String(id), type };
  });
  if (problems.length > 0) throw invalid(problems);
  return identifiers;
}

/** Reads members of one object. Each method returns undefined for an absent member and for a refused one. */
export class MemberReader {
  readonly #source: BodyObject;
  readonly #pointer: string;
  readonly #problems: PointedProblem[];

  /** `pointer` is the place of `source` in the body; problems are added to the caller's list. */
  constructor(source: BodyObject, pointer: string, problems: PointedProblem[]) {
    this.#source = source;
    this.#pointer = pointer;
    this.#problems = problems;
  }

  refuse(name: string, detail: string): undefined {
    this.#problems.push({ detail, pointer: `${this.#pointer}/${name}` });
    return undefined;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#source[name];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.refuse(name, `${name} must be true or false`);
  }

  /** At most `limit` characters. */
  text(name: string, limit = Number.POSITIVE_INFINITY): string | undefined {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    if (typeof value !== 'string') return this.refuse(name, `${name} must be a string`);
    return value.length <= limit ? value : this.refuse(name, `${name} has at most ${limit} characters`);
  }

  /** The member `name`. A name that is too long is refused, but still returned, so that it does not count as missing. */
  name(): string | undefined {
    const name = this.text('name');
    if ((name?.length ?? 0) > NAME_LIMIT) this.refuse('name', `Name has at most ${NAME_LIMIT} characters`);
    return name;
  }

  nullableText(name: string, limit?: number): string | null | undefined {
    return this.#source[name] === null ? null : this.text(name, limit);
  }

  /** A list of strings within these limits; null means an empty one. */
  texts(
    name: string,
    limits: { readonly entries: number; readonly characters: number },
  ): string[] | undefined {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    if (value === null) return [];
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (!isList) return this.refuse(name, `${name} must be a list of strings`);
    if (value.length > limits.entries)
      return this.refuse(name, `${name} has at most ${limits.entries} entries`);
    if (value.some((item) => item.length > limits.characters))
      return this.refuse(name, `an entry of ${name} has at most ${limits.characters} characters`);
    return value;
  }

  positiveInteger(name: string): number | undefined {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    return this.refuse(name, `${name} must be a whole number greater than 0`);
  }

  /** 0 or more. */
  count(name: string): number | undefined {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.refuse(name, `${name} must be a whole number that is not negative`);
  }

  nullableCount(name: string): number | null | undefined {
    return this.#source[name] === null ? null : this.count(name);
  }

  object(name: string): BodyObject | undefined {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    return asObject(value) ?? this.refuse(name, `${name} must be an object`);
  }

  nullableObject(name: string): BodyObject | null | undefined {
    const value = this.#source[name];
    if (value === undefined || value === null) return value;
    return asObject(value) ?? this.refuse(name, `${name} must be an object or null`);
  }

  /** One of the allowed words, or null. */
  nullableWord<Word extends string>(name: string, allowed: readonly Word[]): Word | null | undefined {
    const value = this.#source[name];
    if (value === undefined || value === null) return value;
    return (
      allowed.find((word) => word === value) ??
      this.refuse(name, `${name} must be one of ${allowed.join(', ')}`)
    );
  }
}

// Times that users write: in bodies, and in seeds.
// Invariant: only days that exist. `Date` reads the 30th of February as a day of March.

/** Milliseconds since 1970 of an ISO 8601 date or time, or undefined for any other text. A time without a zone is local. */
export function readTimestamp(text: string): number | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|T\d\d:\d\d)/.exec(text)?.[1];
  const time = Date.parse(text);
  if (day === undefined || Number.isNaN(time)) return undefined;
  const known = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(known.getTime()) && known.toISOString().startsWith(day) ? time : undefined;
}
