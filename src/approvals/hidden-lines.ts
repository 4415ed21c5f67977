/**
 * The hidden lines in the comment of a stack. The first two name the stack and the plans that the comment has shown; another line has
 * the content of the plan. The command that writes the comment and the one that reads approvals share them. Everybody who may edit the
 * comment may change them, so they prove nothing: the code host says who wrote the comment and when it was edited, and each reader of
 * the content compares its hash with the approved digest.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isJsonObject, type Json } from '../model/json.ts';

/** One plan that a comment has shown. */
export interface ShownPlan {
  /** unique to each post */
  readonly post: string;
  /** when it was posted: `2026-11-22T21:36:28Z` */
  readonly at: string;
  /** when the plan was made; absent where its file does not say */
  readonly made?: string;
  /** the commit that it was made for, as its file says */
  readonly commit?: string;
  /** the plan includes changes that were not committed */
  readonly dirty?: true;
  readonly digest: string;
  readonly summary: string;
  /** the guards that block the plan, as `guardKeys` names them; absent where none does */
  readonly guards?: readonly string[];
}

export interface CommentState {
  readonly shown: ShownPlan;
  /** newest first */
  readonly earlier: readonly ShownPlan[];
  /** the account that wrote the comment; it counts only if the service says the same */
  readonly author?: string;
}

const maxReadable = 40;

/** The first line of the comment of a stack: the beginning of the name, for people, and a hash that makes it unique. */
export function markerOf(stack: string): string {
  const readable = stack.replace(/[^A-Za-z0-9]+/g, '_').slice(0, maxReadable);
  return `<!-- trueup plan ${readable} ${hashOf(stack)} -->`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The two lines that a comment begins with. Base64 has no character that could end an HTML comment. */
export function hiddenLines(stack: string, state: CommentState): string[] {
  return [markerOf(stack), stateLine(state)];
}

function stateLine(state: CommentState): string {
  return `<!-- ${Buffer.from(JSON.stringify(state)).toString('base64')} -->`;
}

/** Whether a comment begins like that of this stack. Does not check who wrote it. */
export function isMarked(body: string, stack: string): boolean {
  return firstLines(body)[0] === markerOf(stack);
}

/** @returns undefined where the second line is missing or was edited */
export function readState(body: string): CommentState | undefined {
  const [, encoded = ''] = /^<!-- ([A-Za-z0-9+/=]+) -->$/.exec(firstLines(body)[1] ?? '') ?? [];
  try {
    return stateIn(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
  } catch {
    return undefined;
  }
}

/** A comment that was edited on a web page may have other line ends. */
function firstLines(body: string): string[] {
  return body.split('\n', 2).map((line) => line.replace(/\r$/, ''));
}

function stateIn(value: Json): CommentState | undefined {
  if (!isJsonObject(value)) return undefined;
  const shown = shownPlan(value['shown'] ?? null);
  const earlier = Array.isArray(value['earlier']) ? value['earlier'] : [];
  const { author } = value;
  return (
    shown && {
      shown,
      earlier: earlier.flatMap((one: Json) => shownPlan(one) ?? []),
      ...(typeof author === 'string' ? { author } : {}),
    }
  );
}

function shownPlan(value: Json): ShownPlan | undefined {
  if (!isJsonObject(value)) return undefined;
  const { post, at, made, commit, dirty, digest, summary, guards } = value;
  const texts = [post, at, digest, summary];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  const [postText = '', atText = '', digestText = '', summaryText = ''] = texts as string[];
  return {
    post: postText,
    at: atText,
    ...(typeof made === 'string' ? { made } : {}),
    ...(typeof commit === 'string' ? { commit } : {}),
    ...(dirty === true ? { dirty } : {}),
    digest: digestText,
    summary: summaryText,
    ...(isTexts(guards) ? { guards } : {}),
  };
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one: Json) => typeof one === 'string');
}

const contentBegin = '<!-- trueup-plan: ';
const contentEnd = ' -->';

/** Plans with more content are compared by their digest alone. */
const maxContentSize = 16 * 1024 * 1024;

/** Base64 has no character that could end an HTML comment. @param content as JSON */
export function hiddenContent(content: object): string {
  const packed = deflateRawSync(JSON.stringify(content), { level: 9 });
  return `${contentBegin}${packed.toString('base64')}${contentEnd}`;
}

/** @returns undefined where there is none, or it cannot be read */
export function readHiddenContent(body: string): Json | undefined {
  const line = body.split(/\r?\n/).find((one) => one.startsWith(contentBegin) && one.endsWith(contentEnd));
  if (line === undefined) return undefined;
  try {
    const packed = Buffer.from(line.slice(contentBegin.length, -contentEnd.length), 'base64');
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: maxContentSize }).toString('utf8'));
  } catch {
    return undefined;
  }
}
