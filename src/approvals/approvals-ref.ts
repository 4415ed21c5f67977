/**
 * Keeps signed approvals in one ref of a remote, `refs/trueup-approvals/<stack>`: one file for each approval, and the content of
 * the approved plans beside them. Everybody who can push can write there, so its content is not trusted: sizes and numbers are
 * limited, and only regular files with our names are read.
 */
import { createHash } from 'node:crypto';
import type { GitContext } from '../ledger/git/git-command.ts';
import { GitRepository, type RefEntry, type Snapshot } from '../ledger/git/git-repository.ts';
import { ApprovalsError } from '../model/approval.ts';
import type { Json } from '../model/json.ts';
import { LedgerError, WaitEnded } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { formatApproval, parseApproval, type StoredApproval } from './signed-approval.ts';

/** Maximal sizes in bytes: of an approval, of a plan, of the plans that are read at once, and of the output of git. */
const limits = {
  approval: 65_536,
  plan: 16 * 1024 * 1024,
  plans: 64 * 1024 * 1024,
  output: 128 * 1024 * 1024,
};

/** The maximal number of approvals of a ref, expired ones included: they are removed with the next approval. */
const maxApprovals = 500;

/** The maximal number of entries of a ref, including files that are not ours. */
const maxEntries = 5_000;

const approvalPath = /^approvals\/[0-9a-f]{32}-[0-9a-f]{16}\.json$/;
const planPath = /^plans\/([0-9a-f]{32})\.json$/;

/** A write fails after it lost this many races against other approvals. */
const maxAttempts = 20;

interface ApprovalsPlace {
  readonly git: GitContext;
  /** the name of a remote of the clone */
  readonly remote: string;
  /** name of the stack */
  readonly stack: string;
}

export interface KeptApproval {
  readonly path: string;
  /** undefined for a file that is not an approval */
  readonly stored: StoredApproval | undefined;
  /** it was written by a newer trueup */
  readonly isNewer: boolean;
}

/** The approvals of one state of the ref. */
interface KeptApprovals {
  readonly all: readonly KeptApproval[];
  /** paths of entries that trueup does not read */
  readonly foreign: readonly string[];
  /** The unverified content of plans, without plans that are missing, too long or not JSON. @param digests which plans */
  contents(digests: Iterable<string>): Promise<ReadonlyMap<string, Json>>;
}

export function approvalsRef(stack: string): string {
  return `refs/trueup-approvals/${stack}`;
}

/**
 * Runs `work` with the approvals of a stack; there are none when the ref does not exist.
 * @throws ApprovalsError when the remote or the ref cannot be read, or holds too much
 */
export async function withApprovals<T>(
  place: ApprovalsPlace,
  signal: AbortSignal,
  work: (kept: KeptApprovals) => Promise<T>,
): Promise<T> {
  return withRepository(place, async (repository) => work(await readKept(repository, place, signal)));
}

/**
 * Adds an approval with the content of its plan. Removes expired and invalid approvals, files that trueup does not read, and plans
 * without an approval; plans stay if a newer trueup has written approvals.
 * @param added.now milliseconds since 1970
 * @returns false when the content of the plan is too long to be kept
 * @throws ApprovalsError when it cannot be pushed
 */
export async function addApproval(
  place: ApprovalsPlace,
  added: { readonly stored: StoredApproval; readonly content: Json | undefined; readonly now: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { stored, content, now } = added;
  const { digest } = stored.approval;
  const contentText = content === undefined ? undefined : `${JSON.stringify(content)}\n`;
  const fits = contentText === undefined || Buffer.byteLength(contentText) <= limits.plan;
  const text = formatApproval(stored);
  return withRepository(place, async (repository) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const { state, all, foreign } = await readKept(repository, place, signal);
      const useless = all.filter((kept) => !isWorthKeeping(kept, now)).map(({ path }) => path);
      const digests = all.flatMap(({ path, stored: one }) =>
        one === undefined || useless.includes(path) ? [] : [one.approval.digest],
      );
      const plans = [...state.blobs.keys()].filter((path) => {
        const [, planDigest] = planPath.exec(path) ?? [];
        return planDigest !== undefined && planDigest !== digest && !digests.includes(planDigest);
      });
      const hasNewer = all.some(({ isNewer }) => isNewer);
      const removed = [...useless, ...foreign, ...(hasNewer ? [] : plans)];
      const edits = {
        ...Object.fromEntries(removed.map((path) => [path, undefined])),
        [pathOf(digest, text)]: text,
        ...(contentText === undefined || !fits ? {} : { [`plans/${digest}.json`]: contentText }),
      };
      const about = { message: `${place.stack}: approve ${digest}`, signal };
      const next = await repository.prepare(state, edits, about);
      if (await repository.replace(state, next, signal)) return fits;
    }
    throw new ApprovalsError('too many approvals are written at once: try again');
  });
}

/** The name contains a hash of the content, so that two approvals never get the same name. */
function pathOf(digest: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `approvals/${digest}-${hash}.json`;
}

function isWorthKeeping({ stored, isNewer }: KeptApproval, now: number): boolean {
  return isNewer || (stored !== undefined && Date.parse(stored.approval.until) > now);
}

async function withRepository<T>(
  { git, remote, stack }: ApprovalsPlace,
  work: (repository: GitRepository) => Promise<T>,
): Promise<T> {
  // parts of the messages of GitRepository
  const words = {
    kept: 'the approvals',
    needs: 'a signed approval',
    whereNamed: 'with --remote',
  };
  const repository = new GitRepository(
    { ...git, maxOutput: limits.output },
    { remote, ref: approvalsRef(stack), words },
  );
  try {
    return await work(repository);
  } catch (error) {
    if (!(error instanceof LedgerError) || error instanceof WaitEnded) throw error;
    throw new ApprovalsError(error.message, { cause: error });
  } finally {
    await repository.close();
  }
}

async function readKept(
  repository: GitRepository,
  { remote, stack }: ApprovalsPlace,
  signal: AbortSignal,
): Promise<KeptApprovals & { readonly state: Snapshot }> {
  const state = await repository.read(signal);
  const entries = await repository.entries(state, signal);
  const approvals = entries.filter((entry) => isOurs(entry, approvalPath, limits.approval));
  const plans = entries.filter((entry) => isOurs(entry, planPath, limits.plan));
  if (approvals.length > maxApprovals || entries.length > maxEntries)
    throw new ApprovalsError(
      `${quoted(approvalsRef(stack))} of the remote ${quoted(remote)} has ${entries.length} files, more than trueup reads; check who pushed them, and remove the ref with ${quoted(`git push ${remote} --delete ${approvalsRef(stack)}`)}: approvals must then be given again`,
    );
  const ours = new Set([...approvals, ...plans].map(({ path }) => path));
  const texts = await repository.readBlobs(
    approvals.map(({ id }) => id),
    signal,
  );
  const contents = (digests: Iterable<string>) => readPlans(repository, plans, new Set(digests), signal);
  return {
    state,
    all: approvals.map(({ path }, index) => readOne(path, texts[index] ?? '')),
    foreign: entries.map(({ path }) => path).filter((path) => !ours.has(path)),
    contents,
  };
}

function isOurs({ path, isFile, size }: RefEntry, pattern: RegExp, maxSize: number): boolean {
  return isFile && size <= maxSize && pattern.test(path);
}

/** The name of a file must have the hash of its content. */
function readOne(path: string, text: string): KeptApproval {
  const found = parseApproval(text);
  if (found === 'newer') return { path, stored: undefined, isNewer: true };
  const isNamed = found !== undefined && pathOf(found.approval.digest, text) === path;
  return { path, stored: isNamed ? found : undefined, isNewer: false };
}

async function readPlans(
  repository: GitRepository,
  entries: readonly RefEntry[],
  digests: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Json>> {
  const plans = new Map<string, Json>();
  let total = 0;
  for (const { path, id, size } of entries) {
    const [, digest = ''] = planPath.exec(path) ?? [];
    total += digests.has(digest) ? size : 0;
    if (!digests.has(digest) || total > limits.plans) continue;
    const [text = ''] = await repository.readBlobs([id], signal);
    try {
      plans.set(digest, JSON.parse(text));
    } catch {
      // Text that is not JSON is not the content of a plan.
    }
  }
  return plans;
}
