/**
 * Reads the signed approvals of a stack and decides which of them count: for this repository and stack file, for a head commit
 * that is applied, in time, and by a person that both the base of the pull request and the protected branch admit.
 */
import type { GitContext } from '../ledger/git/git-command.ts';
import type { Approval, FoundApprovals, RefusedApproval } from '../model/approval.ts';
import type { Json } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import { type CommitAuthors, isAuthor, namesOfKey } from './allowed-signers.ts';
import { type KeptApproval, withApprovals } from './approvals-ref.ts';
import { isPolicyKey } from './guard-keys.ts';
import {
  acknowledgedIds,
  fingerprintOfKey,
  longestValidity,
  publicKeyOf,
  type SignedApproval,
  signedText,
  type StoredApproval,
} from './signed-approval.ts';
import { type Admission, type Verifier, withVerifier } from './ssh-keygen.ts';

/** Who may sign, according to one commit. */
export interface SignerRules {
  /** text of the files that `spec.approvals.from[].signers` names there; empty if no person may sign */
  readonly allowed: string;
  readonly selfApprove: boolean;
}

/** A pull request that is applied. Without a code host, one proposal is all that is applied. */
export interface Proposal {
  readonly pullRequest?: number;
  /** full ids of the head commits that an approval may name */
  readonly heads: readonly string[];
  /** who may sign according to the base commit */
  readonly base: SignerRules;
  /** the authors of all of its commits; undefined if they are not known */
  readonly authors: CommitAuthors | undefined;
  /** its index as `Approval.parts` counts the parts of what is applied; absent for all of it */
  readonly part?: number;
}

export interface SignaturesInput {
  readonly stack: string;
  readonly repository: {
    /** all forms of its remote, without scheme and login */
    readonly remotes: readonly string[];
    /** the path of the stack file, below the root */
    readonly path: string;
  };
  readonly git: GitContext;
  /** the remote that keeps the approvals */
  readonly remote: string;
  /** who may sign according to the head of the protected branch */
  readonly head: SignerRules;
  readonly proposals: readonly Proposal[];
  /** milliseconds since 1970 */
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface FoundSignatures extends FoundApprovals {
  /** the unverified content of the approved plans, by digest: anybody may have written it */
  readonly contents: ReadonlyMap<string, Json>;
}

/**
 * Each person counts once for a digest in a pull request, with all guards that this person acknowledged.
 * @throws ApprovalsError when remote, ref or ssh-keygen cannot be used; the reason of `signal` when it was aborted
 */
export async function readSignatures(input: SignaturesInput): Promise<FoundSignatures> {
  const { stack, git, remote, now, signal } = input;
  return withApprovals({ git, remote, stack }, signal, async (kept) => {
    const results = await withVerifier({ env: git.env, now, signal }, (verifier) =>
      checkAll(kept.all, new SignatureCheck(input, verifier)),
    );
    const approvals = onePerPerson(results.filter((result): result is Counted => !('why' in result)));
    const foreign = kept.foreign.map((path) =>
      refuse(`${quoted(path)} in its ref is not a file that trueup reads`),
    );
    return {
      approvals,
      refused: [...foreign, ...results.filter((result): result is RefusedApproval => 'why' in result)],
      contents: await kept.contents(approvals.map(({ digest }) => digest)),
    };
  });
}

async function checkAll(
  kept: readonly KeptApproval[],
  check: SignatureCheck,
): Promise<(Counted | RefusedApproval)[]> {
  const results: (Counted | RefusedApproval)[] = [];
  for (const { path, stored, isNewer } of kept) {
    const why = isNewer ? 'was written by a newer trueup' : 'is not an approval';
    if (stored === undefined) results.push(refuse(`${quoted(path)} in its ref ${why}`));
    else results.push(...(await check.check(stored)));
  }
  return results;
}

function refuse(
  why: string,
  about: Pick<RefusedApproval, 'by' | 'pullRequest' | 'isOld'> = {},
): RefusedApproval {
  return { method: 'signature', ...about, why };
}

/** An approval that counts, with all names and the key of its signer. */
interface Counted {
  readonly approval: Approval;
  readonly names: readonly string[];
  readonly key: string;
}

/** Milliseconds by which clocks may differ. */
const clockSkew = 300_000;

/** Why an approval does not count here, regardless of its signer; undefined if it may count. */
export function whyElsewhere(
  { stack, repository, path, at, until }: SignedApproval,
  here: Pick<SignaturesInput, 'stack' | 'repository' | 'now'>,
): string | undefined {
  const { now } = here;
  if (stack !== here.stack) return `it is for the stack ${quoted(stack)}`;
  if (!here.repository.remotes.includes(repository))
    return `it is for the repository ${quoted(repository)}, and this is ${here.repository.remotes.map(quoted).join(' or ') || 'a repository without a remote'}`;
  if (path !== here.repository.path)
    return `it is for the stack file ${quoted(path)}, and this is ${quoted(here.repository.path)}`;
  if (Date.parse(at) > now + clockSkew) return `it was given at ${at}, which is in the future`;
  if (Date.parse(until) <= now) return `it expired at ${until}`;
  if (Date.parse(until) - Date.parse(at) > longestValidity) return 'it is valid for more than 30 days';
  return undefined;
}

class SignatureCheck {
  readonly #input: SignaturesInput;
  readonly #verifier: Verifier;

  constructor(input: SignaturesInput, verifier: Verifier) {
    this.#input = input;
    this.#verifier = verifier;
  }

  /** One result for each pull request that the approval is for. */
  async check(stored: StoredApproval): Promise<readonly (Counted | RefusedApproval)[]> {
    const { approval } = stored;
    const elsewhere = whyElsewhere(approval, this.#input);
    if (elsewhere !== undefined) {
      const signer = await this.#admission(stored, this.#input.head);
      return [refuse(elsewhere, 'why' in signer ? {} : { by: signer.names[0] })];
    }
    const proposals = this.#input.proposals.filter(({ heads }) => heads.includes(approval.commit));
    if (proposals.length === 0)
      return [
        refuse(
          `it is for commit ${quoted(approval.commit.slice(0, 12))}, which this job does not apply: it may be of an earlier apply`,
          {
            isOld: true,
          },
        ),
      ];
    const { head } = this.#input;
    const atHead = await this.#admission(stored, head);
    if ('why' in atHead)
      return [refuse(`the key ${keyName(stored)} is not admitted at the head: ${atHead.why}`)];
    const results: (Counted | RefusedApproval)[] = [];
    for (const proposal of proposals) results.push(await this.#checkFor(proposal, stored, atHead.names));
    return results;
  }

  async #checkFor(
    proposal: Proposal,
    stored: StoredApproval,
    namesAtHead: readonly [string, ...string[]],
  ): Promise<Counted | RefusedApproval> {
    const { base, authors, pullRequest } = proposal;
    const [by] = namesAtHead;
    const about = { by, ...(pullRequest === undefined ? {} : { pullRequest }) };
    const atBase = await this.#admission(stored, base);
    if ('why' in atBase)
      return refuse(`the key ${keyName(stored)} is not admitted at the base commit: ${atBase.why}`, about);
    const { head } = this.#input;
    const key = publicKeyOf(stored.signature) ?? '';
    const names = [
      ...namesAtHead,
      ...atBase.names,
      ...namesOfKey(head.allowed, key),
      ...namesOfKey(base.allowed, key),
    ];
    const isContributor = ({ authors: made }: Pick<Proposal, 'authors'>) =>
      made === undefined || isAuthor({ names, key }, made);
    if (!(head.selfApprove && base.selfApprove) && isContributor({ authors }))
      return refuse(
        'it is by an author of the commits, and the stack does not have "selfApprove: true"',
        about,
      );
    const { digest, commit, at } = stored.approval;
    const acknowledged = acknowledgedIds(stored.approval);
    const shown = stored.approval.acknowledged.filter(isPolicyKey);
    const others = this.#input.proposals.filter((one) => one !== proposal && isContributor(one));
    const parts = proposal.part === undefined ? [] : others.flatMap(({ part }) => part ?? []);
    return {
      approval: { method: 'signature', ...about, digest, commit, at, acknowledged, shown, parts },
      ...{ names, key },
    };
  }

  async #admission({ approval, signature }: StoredApproval, { allowed }: SignerRules): Promise<Admission> {
    if (allowed.trim() === '') return { why: 'no signers are named there' };
    return this.#verifier.verify({ text: signedText(approval), signature }, allowed);
  }
}

function keyName({ signature }: StoredApproval): string {
  return fingerprintOfKey(publicKeyOf(signature) ?? '');
}

/** Merges the approvals of each person. Two keys with a name in common belong to one person. */
function onePerPerson(found: readonly Counted[]): Approval[] {
  const merged = new Map<string, Approval>();
  for (const { approval, by } of withPersons(found)) {
    const id = JSON.stringify([by, approval.digest, approval.pullRequest ?? null]);
    const other = merged.get(id);
    const newest = other !== undefined && other.at > approval.at ? other : approval;
    const acknowledged = new Set([...(other?.acknowledged ?? []), ...approval.acknowledged]);
    const shown = new Set([...(other?.shown ?? []), ...(approval.shown ?? [])]);
    const parts = new Set([...(other?.parts ?? []), ...(approval.parts ?? [])]);
    const all = { acknowledged: [...acknowledged].sort(), shown: [...shown], parts: [...parts] };
    merged.set(id, { ...newest, by, ...all });
  }
  return [...merged.values()];
}

/** Each approval with the name of its person. Two names are one person if any approval shows both. */
function withPersons(found: readonly Counted[]): { readonly approval: Approval; readonly by: string }[] {
  let persons: { readonly by: string; readonly ids: ReadonlySet<string> }[] = [];
  const idsOf = ({ names, key }: Counted) => [`key ${key}`, ...names.map((name) => name.toLowerCase())];
  for (const one of found) {
    const ids = idsOf(one);
    const same = persons.filter((person) => ids.some((id) => person.ids.has(id)));
    const by = same[0]?.by ?? one.approval.by;
    persons = [
      ...persons.filter((person) => !same.includes(person)),
      { by, ids: new Set([...ids, ...same.flatMap((person) => [...person.ids])]) },
    ];
  }
  return found.map((one) => {
    const [id = ''] = idsOf(one);
    return { approval: one.approval, by: persons.find(({ ids }) => ids.has(id))?.by ?? one.approval.by };
  });
}
