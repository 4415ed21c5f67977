/**
 * Keeps one comment for each stack. It is recognized by its hidden first line and by the account that wrote it: the comments of other
 * accounts are never changed. Two jobs that find no comment both create one. Each lists the comments again afterwards, so that the later
 * job sees both: the oldest stays, with the newer plan, and the others are removed.
 */
import { type CommentState, isMarked, readState, type ShownPlan } from '../approvals/hidden-lines.ts';
import { WireError } from '../model/http.ts';
import { quoted } from '../model/quoted.ts';
import { NoRights, type PostedComment, type Review, CodeHostRefusal } from '../api/code-host/comments.ts';
import { CommandStop } from './command-stop.ts';
import { earlierPlans, markOutdated, renderComment } from './comment-text.ts';

export interface Draft {
  readonly stack: string;
  readonly shown: ShownPlan;
  /** Markdown */
  readonly plan: string;
  /** a hidden line with the plan */
  readonly carried?: string | undefined;
}

/** Which accounts may be ours. */
interface Accounts {
  /** named by the user */
  readonly author?: string | undefined;
  /** the author of comments with the token of the job, if the service does not show whose token it is */
  readonly usual?: string | undefined;
}

interface StickyOptions {
  readonly accounts: Accounts;
  /** whether a comment is created where there is none yet */
  readonly creates: boolean;
}

export type Posted =
  | { readonly is: 'created' | 'updated' | 'marked'; readonly comment: PostedComment }
  | { readonly is: 'left'; readonly why: string }
  | { readonly is: 'none' };

/** The error if it is not known which comments are ours. */
function unknownAuthor(): CommandStop {
  return new CommandStop(
    'comment-author',
    'there are comments for this stack, and the service does not say which account this token belongs to, so nothing was changed; name the author of the comment with --author, such as --author "github-actions[bot]"',
  );
}

/** How often all comments are listed again, because something was created or removed meanwhile. */
const maxRounds = 6;

/** If so many updates do not find a listed comment, the token counts as read-only. Before that, the list may be out of date. */
const maxGone = 3;

/** Shows a plan. @throws NoRights, CommandStop, WireError */
export async function postPlan(review: Review, draft: Draft, options: StickyOptions): Promise<Posted> {
  const { stack } = draft;
  let self = options.accounts.author;
  let created: PostedComment | undefined;
  const gone: number[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await findOurs(review, stack, { ...options.accounts, author: self });
    self = found.self;
    const [kept, ...younger] = withCreated(found.ours, created);
    if (kept === undefined && !options.creates) return { is: 'none' };
    const head = await review.head();
    if (kept === undefined) {
      created = await createOnce(review, renderDraft(draft, head), round === 0);
      created = created && (await withAuthor(review, created, { draft, head, accounts: options.accounts }));
      self ??= created?.author;
      continue;
    }
    const ended = await updateKept(review, { draft, head, kept, younger });
    if (ended === 'gone') {
      created = undefined;
      noteGone(gone, kept);
      continue;
    }
    for (const { id } of younger) await review.remove(id);
    return created?.id === kept.id && ended.is === 'updated' ? { ...ended, is: 'created' } : ended;
  }
  throw new CodeHostRefusal('the comments changed each time that they were listed; run it again');
}

interface StaleOptions {
  readonly stack: string;
  readonly accounts: Accounts;
  /** the commit that is planned now */
  readonly commit: string | undefined;
  /** a comment about this commit is not edited: reviews before an edit would no longer count */
  readonly keepsSame?: boolean;
}

/** Marks the comment of a stack as out of date; there may be none. */
export async function markStale(
  review: Review,
  { stack, accounts, commit, keepsSame = false }: StaleOptions,
): Promise<Posted> {
  const { ours } = await findOurs(review, stack, accounts);
  const [kept] = ours;
  if (kept === undefined) return { is: 'none' };
  const state = readState(kept.body);
  if (keepsSame && commit !== undefined && state?.shown.commit === commit)
    return { is: 'left', why: 'it shows a plan of the same commit' };
  const head = await review.head();
  if (head !== undefined && state?.shown.commit === head && commit !== undefined && commit !== head)
    return { is: 'left', why: `it shows the plan of commit ${head}, which is the newest one` };
  const what = commit === undefined ? 'a newer commit' : `commit ${quoted(commit)}`;
  const text = markOutdated(stack, kept.body, state, `${what} is planned now`);
  const comment = await review.update(kept.id, text);
  if (comment !== undefined) return { is: 'marked', comment };
  const again = await findOurs(review, stack, accounts);
  if (again.ours.some(({ id }) => id === kept.id)) throw readOnly(kept);
  return { is: 'none' };
}

/** @throws NoRights when the same comment was not found too often */
function noteGone(gone: number[], kept: PostedComment): void {
  gone.push(kept.id);
  if (gone.filter((id) => id === kept.id).length >= maxGone) throw readOnly(kept);
}

/** The error for a listed comment that an update does not find: if the token may only read, services answer a write with 404, too. */
function readOnly({ id, url }: PostedComment): NoRights {
  return new NoRights(`the comment ${url ?? id} is listed, but an update does not find it`);
}

/** Adds the comment that was just created, which a list may lack: otherwise it would be created again. */
function withCreated(
  ours: readonly PostedComment[],
  created: PostedComment | undefined,
): readonly PostedComment[] {
  if (created === undefined || ours.some(({ id }) => id === created.id)) return ours;
  return [...ours, created].sort((one, other) => one.id - other.id);
}

/**
 * The comments of our account. The account is requested only if needed: most pull requests have no such comment yet.
 * @throws CommandStop when it is not known which account is ours
 */
async function findOurs(review: Review, stack: string, accounts: Accounts) {
  const marked = (await review.list()).filter(({ body }) => isMarked(body, stack));
  const self =
    accounts.author ??
    (marked.length === 0 ? undefined : ((await review.self()) ?? ourApp(marked, accounts)));
  return { ours: marked.filter(({ author }) => isSameAccount(author, self)), self };
}

/**
 * Our account if services do not show it, which is so only for the token of an app. It is the usual app of CI jobs, or the app that a
 * comment names as its author, if the service shows that this app wrote the comment.
 */
function ourApp(marked: readonly PostedComment[], { usual }: Accounts): string | undefined {
  const apps = marked.filter(
    ({ author, isApp, body }) =>
      isSameAccount(author, usual) || (isApp && isSameAccount(author, readState(body)?.author)),
  );
  const [one, ...more] = new Set(apps.map(({ author }) => author.toLowerCase()));
  if (more.length > 0 || (one === undefined && usual === undefined)) throw unknownAuthor();
  return one;
}

/** Both services ignore the case of user names. */
function isSameAccount(author: string, other: string | undefined): boolean {
  return author.toLowerCase() === other?.toLowerCase();
}

interface Created {
  readonly draft: Draft;
  readonly head: string | undefined;
  readonly accounts: Accounts;
}

/** Adds the name of the app that wrote the comment to it, if the next job could not know which app that was. */
async function withAuthor(
  review: Review,
  created: PostedComment,
  { draft, head, accounts: { author, usual } }: Created,
): Promise<PostedComment> {
  if (!created.isApp || author !== undefined || isSameAccount(created.author, usual)) return created;
  return (await review.update(created.id, renderDraft(draft, head, { author: created.author }))) ?? created;
}

/**
 * @param listsAgain whether a create without an answer is not an error yet: the next list shows whether it was carried out
 * @returns undefined after such a create
 */
async function createOnce(
  review: Review,
  text: string,
  listsAgain: boolean,
): Promise<PostedComment | undefined> {
  try {
    return await review.create(text);
  } catch (error) {
    const isLost =
      (error instanceof WireError && error.sent) || (error instanceof CodeHostRefusal && error.isFault);
    if (isLost && listsAgain) return undefined;
    throw error;
  }
}

interface PlanUpdate {
  readonly draft: Draft;
  readonly head: string | undefined;
  readonly kept: PostedComment;
  readonly younger: readonly PostedComment[];
}

/** Writes the newest plan into the comment that stays. */
async function updateKept(
  review: Review,
  { draft, head, kept, younger }: PlanUpdate,
): Promise<Exclude<Posted, { is: 'none' }> | 'gone'> {
  const { shown } = draft;
  const state = readState(kept.body);
  if (state?.shown.post === shown.post) return { is: 'updated', comment: kept };
  const others = [kept, ...younger].flatMap((comment) => {
    const other = readState(comment.body)?.shown;
    const why = other === undefined || other.post === shown.post ? undefined : whyNewer(other, shown, head);
    return why === undefined ? [] : [{ comment, why, made: Date.parse(other?.made ?? '') || 0 }];
  });
  const [newer] = others.toSorted((a, b) => b.made - a.made);
  if (newer !== undefined) {
    const isThere =
      newer.comment === kept || (await review.update(kept.id, newer.comment.body)) !== undefined;
    // Else the others would be removed, and the newer plan with them.
    return isThere ? { is: 'left', why: newer.why } : 'gone';
  }
  if (state !== undefined && showsAlready(kept.body, state, { draft, head }))
    return { is: 'left', why: 'it shows this plan already' };
  const comment = await review.update(
    kept.id,
    renderDraft(draft, head, { earlier: earlierPlans(state, shown), author: kept.author }),
  );
  return comment === undefined ? 'gone' : { is: 'updated', comment };
}

/** Whether the comment shows this plan already. Then it is not edited, because reviews count only if they are later than the last edit. */
function showsAlready(
  body: string,
  { shown, earlier, author }: CommentState,
  { draft, head }: Pick<PlanUpdate, 'draft' | 'head'>,
): boolean {
  const { post, at, made } = shown;
  const { made: _, ...ours } = draft.shown;
  const same = { ...ours, post, at, ...(made === undefined ? {} : { made }) };
  return (
    renderDraft({ ...draft, shown: same }, head, { earlier, ...(author === undefined ? {} : { author }) }) ===
    body.replaceAll('\r\n', '\n')
  );
}

function renderDraft(
  { stack, shown, plan, carried }: Draft,
  head: string | undefined,
  { earlier = [], author }: Partial<Pick<CommentState, 'earlier' | 'author'>> = {},
): string {
  return renderComment({ stack, shown, plan, carried, earlier, author, outdated: whyOutdated(shown, head) });
}

function whyOutdated({ commit }: ShownPlan, head: string | undefined): string | undefined {
  if (commit === undefined || head === undefined || commit === head) return undefined;
  return `this plan was made for commit ${quoted(commit)}, and the newest one is ${quoted(head)}`;
}

/**
 * Why a plan that is shown is newer than ours. Other jobs may share our account, so the plan of a comment counts only if it is of the
 * newest commit, as the service names it: then a plan of another commit, or one that was made earlier, does not replace it. A time in
 * the future does not count. Otherwise the last plan is shown.
 */
function whyNewer(other: ShownPlan, ours: ShownPlan, head: string | undefined): string | undefined {
  if (head === undefined || other.commit !== head || ours.commit === undefined) return undefined;
  if (ours.commit !== head)
    return `it shows the plan of commit ${other.commit}, which is the newest one, and this plan was made for ${ours.commit}`;
  if (other.made === undefined || ours.made === undefined) return undefined;
  const [theirs, own, now] = [other.made, ours.made, ours.at].map(Date.parse);
  const isLater =
    theirs !== undefined && own !== undefined && now !== undefined && own < theirs && theirs < now + 1000;
  return isLater ? `it shows a plan of the same commit that was made later (${other.made})` : undefined;
}
