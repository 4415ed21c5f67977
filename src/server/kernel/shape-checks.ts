/**
 * Checks unknown data against a shape, for seeds and for events that are added to a trail. Every problem is reported with its
 * path in one go; an unknown key is a problem and never ignored.
 */
import { readTimestamp } from './request-body.ts';

/** Why a seed was refused: one line for each problem, each with its path (`organizations[0].teams[1].name`). */
export class SeedError extends Error {
  override readonly name = 'SeedError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the seed is malformed:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Checks one value; adds to `problems` what is wrong with it. */
export type Check = (value: unknown, path: string, problems: string[]) => void;

export const text: Check = (value, path, problems) => {
  if (typeof value !== 'string' || value === '') problems.push(`${path} must be a text that is not empty`);
};

/** A text that requests may not make longer, either. */
export function shortText(limit: number): Check {
  return (value, path, problems) => {
    text(value, path, problems);
    if (typeof value === 'string' && value.length > limit)
      problems.push(`${path} has at most ${limit} characters`);
  };
}

export const flag: Check = (value, path, problems) => {
  if (typeof value !== 'boolean') problems.push(`${path} must be true or false`);
};

export const count: Check = (value, path, problems) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    problems.push(`${path} must be a whole number that is not negative`);
  }
};

/** A time as text, or as a date of JavaScript. */
export const time: Check = (value, path, problems) => {
  const isTime = value instanceof Date || (typeof value === 'string' && readTimestamp(value) !== undefined);
  if (!isTime) problems.push(`${path} must be an ISO 8601 time`);
};

export const anything: Check = () => {};

export function oneOf(...words: readonly string[]): Check {
  return (value, path, problems) => {
    if (typeof value !== 'string' || !words.includes(value)) {
      problems.push(`${path} must be one of ${words.join(', ')}`);
    }
  };
}

export function listOf(item: Check): Check {
  return (value, path, problems) => {
    if (!Array.isArray(value)) {
      problems.push(`${path} must be a list`);
      return;
    }
    for (const [index, element] of value.entries()) item(element, `${path}[${index}]`, problems);
  };
}

/** A map whose keys the user chooses. */
export function mapOf(item: Check): Check {
  return (value, path, problems) => {
    if (!isObject(value)) {
      problems.push(`${at(path)} must be a map`);
      return;
    }
    for (const [key, element] of Object.entries(value)) item(element, `${path}.${key}`, problems);
  };
}

/** A map with these keys and no others; those in `required` must be there. */
export function object(fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, path, problems) => {
    if (!isObject(value)) {
      problems.push(`${at(path)} must be a map`);
      return;
    }
    problems.push(
      ...required.filter((key) => value[key] === undefined).map((key) => `${at(path)} lacks ${key}`),
    );
    for (const [key, element] of Object.entries(value)) {
      const [name, check] = memberOf(fields, key, element);
      if (element !== undefined) check(element, path === '' ? name : `${path}.${name}`, problems);
    }
  };
}

/** What the member is called in problems, and how it is checked. */
function memberOf(
  fields: Readonly<Record<string, Check>>,
  key: string,
  element: unknown,
): readonly [string, Check] {
  const known = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return known === undefined
    ? [isPlainKey(key, element) ? key : hiddenKey, unknownKey(Object.keys(fields))]
    : [key, known];
}

/** In the place of a key that may be a secret of another file: the problem is told without it. */
const hiddenKey = '(a key)';

function isPlainKey(key: string, element: unknown): boolean {
  return /^[a-z][a-z_-]{0,30}$/i.test(key) && element !== null;
}

function unknownKey(known: readonly string[]): Check {
  return (_value, path, problems) => {
    problems.push(`${path} is not known here (known: ${known.join(', ')})`);
  };
}

function at(path: string): string {
  return path === '' ? 'the seed' : path;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
