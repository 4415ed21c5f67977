/**
 * The text of the comment: two hidden lines with the stack and the plans it has shown, the plan, and folded earlier plans. It
 * stays below the size limit of GitHub. Everybody who may edit the comment may change the hidden lines, so they prove nothing.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '../../model/json.ts';
import { bytesOf, code, sentence, tableRow } from '../../report/markdown/escape.ts';
import { clip } from '../../report/view/printable.ts';

/** One plan that a comment has shown. */
export interface ShownPlan {
  /** unique to each post */
  readonly post: string;
  /** when it was posted: `2026-11-22T21:36:28Z` */
  readonly at: string;
  /** when it was made; absent where its file does not say */
  readonly made?: string;
  /** the commit that it was made for, as its file says */
  readonly commit?: string;
  /** of that commit with changes that were not committed */
  readonly dirty?: true;
  readonly digest: string;
  readonly summary: string;
}

export interface CommentState {
  readonly shown: ShownPlan;
  /** newest first */
  readonly earlier: readonly ShownPlan[];
  /** the account that wrote the comment; it counts only where the service says the same */
  readonly author?: string;
}

const maxReadable = 40;

/** The first line of the comment of a stack. It has the beginning of the name for people, and is unique by a hash. */
export function markerOf(stack: string): string {
  const readable = stack.replace(/[^A-Za-z0-9]+/g, '_').slice(0, maxReadable);
  const hash = createHash('sha256').update(stack).digest('hex').slice(0, 16);
  return `<!-- trueup plan ${readable} ${hash} -->`;
}

/** Its second line. Base64 has no character that could end an HTML comment. */
function stateLine(state: CommentState): string {
  return `<!-- ${Buffer.from(JSON.stringify(state)).toString('base64')} -->`;
}

/** Whether a comment begins as that of this stack does. Who wrote it is another question. */
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

/** The comment without the hidden lines. */
function shownText(body: string): string {
  return body.replaceAll('\r\n', '\n').split('\n').slice(2).join('\n');
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
  const { post, at, made, commit, dirty, digest, summary } = value;
  const texts = [post, at, digest, summary];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  const [aPost = '', anAt = '', aDigest = '', aSummary = ''] = texts as string[];
  return {
    post: aPost,
    at: anAt,
    ...(typeof made === 'string' ? { made } : {}),
    ...(typeof commit === 'string' ? { commit } : {}),
    ...(dirty === true ? { dirty } : {}),
    digest: aDigest,
    summary: aSummary,
  };
}

// The text of the comment: hidden lines, whether it is out of date, the plan, and the plans before it, folded. It stays below what
// GitHub takes, however many plans there were: the oldest are left out first.

/** GitHub takes 65,536 characters, GitLab 1,000,000; the plan has at most 60,000 bytes of them. */
const maxCommentBytes = 65_000;

const maxEarlier = 10;
/** Of what an edited comment may hold in their place. */
const maxText = 120;

interface CommentParts {
  readonly stack: string;
  readonly shown: ShownPlan;
  /** the Markdown of the plan */
  readonly plan: string;
  /** what was shown before, newest first */
  readonly earlier: readonly ShownPlan[];
  /** the account that wrote the comment, once the service has returned it */
  readonly author?: string | undefined;
  /** why it is out of date, as a sentence */
  readonly outdated?: string | undefined;
}

/** Without a final line end. */
export function renderComment(parts: CommentParts): string {
  const shown = clipped(parts.shown);
  const author = parts.author === undefined ? undefined : clip(parts.author, maxText);
  let earlier = parts.earlier.slice(0, maxEarlier).map(clipped);
  for (;;) {
    const text = [
      ...hiddenLines(parts.stack, { shown, earlier, ...(author === undefined ? {} : { author }) }),
      '',
      ...outdatedLines(parts.outdated),
      parts.plan,
      ...madeFor(shown),
      ...earlierLines(earlier),
    ].join('\n');
    if (earlier.length === 0 || bytesOf(text) <= maxCommentBytes) return text;
    earlier = earlier.slice(0, -1);
  }
}

/** The same comment, marked as out of date; what it shows stays. */
export function markOutdated(
  stack: string,
  body: string,
  state: CommentState | undefined,
  why: string,
): string {
  const text = shownText(body)
    .replace(/^\n/, '')
    .replace(/^\*\*Out of date\*\*: .*\n\n/, '');
  const hidden = state === undefined ? [markerOf(stack), '<!-- -->'] : hiddenLines(stack, state);
  return [...hidden, '', ...outdatedLines(why), text].join('\n');
}

/** The plans before a new one: what the comment shows now, unless the new one says the same, and what it showed before. */
export function earlierPlans(state: CommentState | undefined, next: ShownPlan): readonly ShownPlan[] {
  if (state === undefined) return [];
  const { shown, earlier } = state;
  const isSame =
    shown.digest === next.digest && shown.commit === next.commit && shown.summary === next.summary;
  return isSame ? earlier : [shown, ...earlier];
}

function hiddenLines(stack: string, state: CommentState): string[] {
  return [markerOf(stack), stateLine(state)];
}

function outdatedLines(why: string | undefined): string[] {
  return why === undefined ? [] : [`**Out of date**: ${sentence(why)}`, ''];
}

function madeFor({ commit, dirty }: ShownPlan): string[] {
  if (commit === undefined) return [];
  const changed = dirty ? ', in a work tree with changes that are not in that commit' : '';
  return ['', `Made for commit ${code(commit)}${changed}.`];
}

function earlierLines(earlier: readonly ShownPlan[]): string[] {
  if (earlier.length === 0) return [];
  return [
    '',
    `<details><summary>Earlier plans (${earlier.length})</summary>`,
    '',
    tableRow(['posted', 'commit', 'digest', 'summary']),
    tableRow(['---', '---', '---', '---']),
    ...earlier.map(({ at, commit, digest, summary }) =>
      tableRow([
        code(at),
        commit === undefined ? '' : code(commit.slice(0, 12)),
        code(digest),
        sentence(summary),
      ]),
    ),
    '',
    '</details>',
  ];
}

function clipped({ post, at, made, commit, dirty, digest, summary }: ShownPlan): ShownPlan {
  return {
    post: clip(post, maxText),
    at: clip(at, maxText),
    ...(made === undefined ? {} : { made: clip(made, maxText) }),
    ...(commit === undefined ? {} : { commit: clip(commit, maxText) }),
    ...(dirty === undefined ? {} : { dirty }),
    digest: clip(digest, maxText),
    summary: clip(summary, maxText),
  };
}
