/**
 * The text of the comment: two hidden lines with the stack and the plans it has shown, the plan, and folded earlier plans. It
 * stays below the size limit of GitHub.
 */
import { type CommentState, hiddenLines, markerOf, type ShownPlan } from '../approvals/hidden-lines.ts';
import { bytesOf, code, sentence, tableRow } from '../report/markdown/escape.ts';
import { clip } from '../report/view/printable.ts';

/** The comment without the hidden lines. */
function shownText(body: string): string {
  return body.replaceAll('\r\n', '\n').split('\n').slice(2).join('\n');
}

// The text of the comment: hidden lines, whether it is out of date, the plan, and the plans before it, folded. It stays below the
// limit of GitHub: if there were too many plans, the oldest are left out first.

/** GitHub takes 65,536 characters, GitLab 1,000,000; the plan takes at most 60,000 bytes. */
const maxCommentBytes = 65_000;

const maxEarlier = 10;
/** Longer texts are cut: an edited comment may hold anything in its hidden lines. */
const maxText = 120;
const maxGuards = 60;

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
  /** a hidden line with the plan, which is left out where the comment has no room for it */
  readonly carried?: string | undefined;
}

/** The text of the comment, without a newline at the end. */
export function renderComment(parts: CommentParts): string {
  const shown = clipped(parts.shown);
  const author = parts.author === undefined ? undefined : clip(parts.author, maxText);
  let earlier = parts.earlier.slice(0, maxEarlier).map(clipped);
  let carried = parts.carried === undefined ? [] : ['', parts.carried];
  for (;;) {
    const text = [
      ...hiddenLines(parts.stack, { shown, earlier, ...(author === undefined ? {} : { author }) }),
      '',
      ...outdatedLines(parts.outdated),
      parts.plan,
      ...madeFor(shown),
      ...earlierLines(earlier),
      ...carried,
    ].join('\n');
    if (bytesOf(text) <= maxCommentBytes || (earlier.length === 0 && carried.length === 0)) return text;
    if (earlier.length === 0) carried = [];
    else earlier = earlier.slice(0, -1);
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

/** The earlier plans in a comment with a new one: the plan that it shows now, unless the new one is the same, and those before it. */
export function earlierPlans(state: CommentState | undefined, next: ShownPlan): readonly ShownPlan[] {
  if (state === undefined) return [];
  const { shown, earlier } = state;
  const isSame =
    shown.digest === next.digest && shown.commit === next.commit && shown.summary === next.summary;
  return isSame ? earlier : [shown, ...earlier];
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

function clipped({ post, at, made, commit, dirty, digest, summary, guards }: ShownPlan): ShownPlan {
  return {
    post: clip(post, maxText),
    at: clip(at, maxText),
    ...(made === undefined ? {} : { made: clip(made, maxText) }),
    ...(commit === undefined ? {} : { commit: clip(commit, maxText) }),
    ...(dirty === undefined ? {} : { dirty }),
    digest: clip(digest, maxText),
    summary: clip(summary, maxText),
    ...(guards === undefined ? {} : { guards: guards.slice(0, maxGuards).map((key) => clip(key, maxText)) }),
  };
}
