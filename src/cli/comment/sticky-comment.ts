/**
 * Keeps one comment for each stack. It is known by its hidden first line and by who wrote it: what somebody else wrote is never
 * touched. Of two jobs that both find none, both create one; each lists again afterwards, so that the later one of them sees both. The
 * oldest stays, with the newer plan, and the others are removed.
 */
import { WireError } from '../../model/wire.ts';
import {
  type CommentState,
  isMarked,
  readState,
  type ShownPlan,
} from '../../report/comment/comment-state.ts';
import { earlierPlans, markOutdated, renderComment } from '../../report/comment/comment-text.ts';
import { NoRights, type PostedComment, type Review, ReviewError } from './review.ts';

export interface Draft {
  readonly stack: string;
  readonly shown: ShownPlan;
  /** Markdown */
  readonly plan: string;
}

interface StickyOptions {
  /** whose comments are ours, where the service does not tell it */
  readonly author: string | undefined;
  /** whether a comment is created where there is none yet */
  readonly creates: boolean;
}

export type Posted =
  | { readonly is: 'created' | 'updated' | 'marked'; readonly comment: PostedComment }
  | { readonly is: 'left'; readonly why: string }
  | { readonly is: 'none' };

/** It cannot be told which comments are ours. */
export class AuthorUnknown extends Error {
  override readonly name = 'AuthorUnknown';

  constructor() {
    super(
      'a comment for this stack is there, and the service does not tell whether this token wrote it; name its author with --author, such as --author "github-actions[bot]"',
    );
  }
}

/** How often all is looked at again, because something was created or removed meanwhile. */
const maxRounds = 6;

/** So often a comment may be listed and be gone when it is updated: a list may be a moment old. Then the token may only read. */
const maxGone = 3;

/** Shows a plan. @throws NoRights, ReviewError, AuthorUnknown, WireError */
export async function postPlan(review: Review, draft: Draft, options: StickyOptions): Promise<Posted> {
  const { stack } = draft;
  let self = options.author;
  let created: PostedComment | undefined;
  const gone: number[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await findOurs(review, stack, self);
    self = found.self;
    const [kept, ...younger] = withCreated(found.ours, created);
    if (kept === undefined && !options.creates) return { is: 'none' };
    const head = await review.head();
    if (kept === undefined) {
      created = await createOnce(review, renderDraft(draft, head, []), round === 0);
      self ??= created?.author;
      continue;
    }
    const ended = await settle(review, { draft, head, kept, younger });
    if (ended === 'gone') {
      created = undefined;
      noteGone(gone, kept);
      continue;
    }
    for (const { id } of younger) await review.remove(id);
    return created?.id === kept.id && ended.is === 'updated' ? { ...ended, is: 'created' } : ended;
  }
  throw new ReviewError('the comments changed each time that they were looked at; run it again');
}

/** Marks the comment of a stack as out of date; there may be none. @param about.commit that is planned now */
export async function markStale(
  review: Review,
  { stack, author, commit }: { stack: string; author: string | undefined; commit: string | undefined },
): Promise<Posted> {
  const { ours } = await findOurs(review, stack, author);
  const [kept] = ours;
  if (kept === undefined) return { is: 'none' };
  const state = readState(kept.body);
  const head = await review.head();
  if (head !== undefined && state?.shown.commit === head && commit !== undefined && commit !== head)
    return { is: 'left', why: `it shows the plan of commit ${head}, which is the newest one` };
  const what = commit === undefined ? 'a newer commit' : `commit "${commit}"`;
  const text = markOutdated(stack, kept.body, state, `${what} is planned now`);
  const comment = await review.update(kept.id, text);
  if (comment !== undefined) return { is: 'marked', comment };
  const again = await findOurs(review, stack, author);
  if (again.ours.some(({ id }) => id === kept.id)) throw readOnly(kept);
  return { is: 'none' };
}

/** @throws NoRights when it was so too often */
function noteGone(gone: number[], kept: PostedComment): void {
  gone.push(kept.id);
  if (gone.filter((id) => id === kept.id).length >= maxGone) throw readOnly(kept);
}

/** A write is answered with 404, too, where the token may only read. */
function readOnly({ id, url }: PostedComment): NoRights {
  return new NoRights(`the comment ${url ?? id} is there, and not found when it is to be updated`);
}

/** A list may be a moment old: without what was just created, that would be created again. */
function withCreated(
  ours: readonly PostedComment[],
  created: PostedComment | undefined,
): readonly PostedComment[] {
  if (created === undefined || ours.some(({ id }) => id === created.id)) return ours;
  return [...ours, created].sort((one, other) => one.id - other.id);
}

/** Who we are is asked only where it matters: most pull requests have no such comment yet. */
async function findOurs(review: Review, stack: string, known: string | undefined) {
  const marked = (await review.list()).filter(({ body }) => isMarked(body, stack));
  const self = known ?? (marked.length === 0 ? undefined : await review.self());
  if (self === undefined && marked.length > 0) throw new AuthorUnknown();
  // Both services tell users apart without regard to case.
  const name = self?.toLowerCase();
  return { ours: marked.filter(({ author }) => author.toLowerCase() === name), self };
}

/**
 * @param looksAgain whether a create without an answer is no error yet: the next look at the list tells whether it was carried out
 * @returns undefined then
 */
async function createOnce(
  review: Review,
  text: string,
  looksAgain: boolean,
): Promise<PostedComment | undefined> {
  try {
    return await review.create(text);
  } catch (error) {
    const isLost =
      (error instanceof WireError && error.sent) || (error instanceof ReviewError && error.isFault);
    if (isLost && looksAgain) return undefined;
    throw error;
  }
}

interface Meeting {
  readonly draft: Draft;
  readonly head: string | undefined;
  readonly kept: PostedComment;
  readonly younger: readonly PostedComment[];
}

/** Brings the newest plan into the comment that stays. */
async function settle(
  review: Review,
  { draft, head, kept, younger }: Meeting,
): Promise<Exclude<Posted, { is: 'none' }> | 'gone'> {
  const { shown } = draft;
  const state = readState(kept.body);
  if (state?.shown.post === shown.post) return { is: 'updated', comment: kept };
  const others = [kept, ...younger].flatMap((comment) => {
    const other = readState(comment.body)?.shown;
    const why = other === undefined || other.post === shown.post ? undefined : whyNewer(other, shown, head);
    return why === undefined ? [] : [{ comment, why }];
  });
  const [newer] = others;
  if (newer !== undefined) {
    const isThere =
      newer.comment === kept || (await review.update(kept.id, newer.comment.body)) !== undefined;
    // Else the others would be removed, and the newer plan with them.
    return isThere ? { is: 'left', why: newer.why } : 'gone';
  }
  const comment = await review.update(kept.id, renderDraft(draft, head, earlierPlans(state, shown)));
  return comment === undefined ? 'gone' : { is: 'updated', comment };
}

function renderDraft(
  { stack, shown, plan }: Draft,
  head: string | undefined,
  earlier: CommentState['earlier'],
): string {
  return renderComment({ stack, shown, plan, earlier, outdated: whyOutdated(shown, head) });
}

function whyOutdated({ commit }: ShownPlan, head: string | undefined): string | undefined {
  if (commit === undefined || head === undefined || commit === head) return undefined;
  return `this plan was made for commit "${commit}", and the newest one is "${head}"`;
}

/**
 * Why a plan that is shown is newer than ours, or counts as newer. The commit that the service names as the newest decides; where that
 * does not tell, the order of the runs. Where neither does, the one that comes last is shown.
 */
function whyNewer(other: ShownPlan, ours: ShownPlan, head: string | undefined): string | undefined {
  const isSameCommit = other.commit === ours.commit;
  if (!isSameCommit && head !== undefined && other.commit === head)
    return `it shows the plan of commit ${other.commit}, which is the newest one, and this plan was made for ${ours.commit ?? 'no known commit'}`;
  if (!isSameCommit && head !== undefined && ours.commit === head) return undefined;
  const [one, two] = [other.run, ours.run];
  if (one === undefined || two === undefined || one.series !== two.series) return undefined;
  const isLater = one.number === two.number ? one.attempt > two.attempt : one.number > two.number;
  return isLater ? `it shows the plan of a later run (${one.number}, attempt ${one.attempt})` : undefined;
}
