/**
 * Flat tags as text: how a list of them is read.
 * Invariant: names are lower case, whatever the client wrote; a tag and its capitalised twin are the same tag.
 */
import { asObject } from '../../json-api/body.ts';
import type { PointedProblem } from '../../json-api/errors.ts';

const TAG_NAME = /^[a-z0-9]([a-z0-9:_-]*[a-z0-9])?$/;
const MAX_TAG_NAME_LENGTH = 255;

/** The name as it is kept; undefined when it cannot be one. */
export function normalTagName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase();
  return name.length <= MAX_TAG_NAME_LENGTH && TAG_NAME.test(name) ? name : undefined;
}

export const TAG_NAME_RULE =
  'A tag name holds letters, digits, ":", "-" and "_", and begins and ends with a letter or a digit';

/** Reads `relationships.tags` of a create; undefined when there is none. */
export function readTagNames(relationship: unknown, problems: PointedProblem[]): string[] | undefined {
  if (relationship === undefined) return undefined;
  const pointer = '/data/relationships/tags/data';
  const data = asObject(relationship)?.['data'];
  if (!Array.isArray(data)) {
    problems.push({ detail: 'tags must be a list of tags', pointer });
    return undefined;
  }
  return data.flatMap((item: unknown, index) => {
    const name = normalTagName(asObject(asObject(item)?.['attributes'])?.['name']);
    if (name !== undefined) return [name];
    problems.push({ detail: TAG_NAME_RULE, pointer: `${pointer}/${index}/attributes/name` });
    return [];
  });
}
