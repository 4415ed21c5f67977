/**
 * Refuses documents whose aliases never end or expand to too many values: an alias inside its own anchor, and a few lines that
 * expand to billions of values. Documents without an alias are not walked.
 */
import { type AliasEvent, EVENT_ID, type Event } from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import { toPlace, type YamlDocument } from './yaml-document.ts';

/** Far more than people write: the largest manifests have some hundred values. */
const maxValues = 100_000;

interface AliasWalk {
  readonly document: YamlDocument;
  /** number of values under each anchor, once it is closed; 0 while it is open */
  readonly sizes: Map<string, number>;
  index: number;
  problem?: Diagnostic;
}

/** @returns the problem, when the document must not be used */
export function checkAliases(document: YamlDocument, end: number): Diagnostic | undefined {
  const { events, first } = document;
  if (!hasAlias(events, first, end)) return undefined;
  const walk: AliasWalk = { document, sizes: new Map(), index: first };
  measure(walk);
  return walk.problem;
}

function hasAlias(events: readonly Event[], first: number, end: number): boolean {
  for (let index = first; index < end; index++) if (events[index]?.type === EVENT_ID.ALIAS) return true;
  return false;
}

/** Walks one node and returns the number of values that it expands to. */
function measure(walk: AliasWalk): number {
  const event = walk.document.events[walk.index++];
  if (event === undefined || walk.problem !== undefined) return 0;
  if (event.type === EVENT_ID.ALIAS) return unfold(walk, event);
  if (!('anchorStart' in event)) return 0;
  const anchor = event.anchorStart === -1 ? undefined : nameOf(walk, event);
  if (anchor !== undefined) walk.sizes.set(anchor, 0);
  const size = event.type === EVENT_ID.SCALAR ? 1 : measureMembers(walk);
  if (anchor !== undefined) walk.sizes.set(anchor, size);
  return size;
}

function measureMembers(walk: AliasWalk): number {
  let size = 1;
  while (walk.problem === undefined && walk.document.events[walk.index]?.type !== EVENT_ID.POP)
    size += measure(walk);
  walk.index++;
  return size;
}

function unfold(walk: AliasWalk, event: AliasEvent): number {
  const name = nameOf(walk, event);
  const size = walk.sizes.get(name) ?? 1;
  if (size === 0)
    walk.problem = refuse(walk, event, {
      code: 'endless-alias',
      message: `the alias ${quoted(`*${name}`)} stands inside its own anchor ${quoted(`&${name}`)}`,
      fix: 'write the value out',
    });
  else if (size > maxValues)
    walk.problem = refuse(walk, event, {
      code: 'too-many-aliases',
      message: `the alias ${quoted(`*${name}`)} stands for more than ${maxValues} values`,
      fix: 'use fewer aliases of aliases, or split the document',
    });
  return size;
}

function nameOf(
  { document }: AliasWalk,
  event: { readonly anchorStart: number; readonly anchorEnd: number },
): string {
  return document.text.slice(event.anchorStart, event.anchorEnd);
}

function refuse(
  { document }: AliasWalk,
  event: AliasEvent,
  texts: Pick<Diagnostic, 'code' | 'message' | 'fix'>,
): Diagnostic {
  const place = toPlace(document, { start: event.anchorStart - 1, end: event.anchorEnd });
  return { ...texts, severity: 'error', class: 'invalid', place };
}
