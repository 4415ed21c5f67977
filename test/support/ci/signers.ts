/** People who sign approvals in a scene, with keys of their own. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addApproval } from '../../../src/approvals/approvals-ref.ts';
import { type SignedApproval, signedText } from '../../../src/approvals/signed-approval.ts';
import { signText } from '../../../src/approvals/ssh-keygen.ts';
import type { GuardId } from '../../../src/model/guard.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { planContent } from '../../../src/plan/approved-plans.ts';
import type { GitRemote } from '../ledger/git-remote.ts';

export interface SignedPlan {
  readonly digest: string;
  /** the plan, whose content is kept beside the signature */
  readonly plan?: Plan;
  readonly commit: string;
  readonly by: string;
  readonly acknowledged?: readonly GuardId[];
  /** members of the signed text that replace the true ones, as the owner of a key can write them */
  readonly forged?: Partial<SignedApproval>;
}

/** Makes a key. @returns its line for `allowed_signers` */
export function makeSigner(folder: string, name: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, name)]);
  const [type = '', key = ''] = readFileSync(join(folder, `${name}.pub`), 'utf8').split(' ');
  return `${name}@example.com ${type} ${key.trim()}\n`;
}

interface SignedPlace {
  readonly stack: string;
  readonly remote: GitRemote;
  /** the folder with the keys */
  readonly keys: string;
}

/** Signs a plan of the stack file `pay/trueup.yaml` for a day, and pushes the approval. */
export async function pushApproval(
  { digest, plan, commit, by, acknowledged = [], forged = {} }: SignedPlan,
  { stack, remote, keys }: SignedPlace,
): Promise<void> {
  const now = Date.now();
  const time = (at: number) => new Date(at).toISOString();
  const approval = {
    version: 1 as const,
    stack,
    repository: remote.directory.replace(/\.git$/, ''),
    path: 'pay/trueup.yaml',
    ...{ digest, commit, acknowledged: [...acknowledged].sort() },
    at: time(now),
    until: time(now + 86_400_000),
    ...forged,
  };
  const { signal } = new AbortController();
  const about = { env: process.env, signal, notify: () => {} };
  const signature = await signText(signedText(approval), { file: join(keys, by) }, about);
  const content = plan && JSON.parse(JSON.stringify(planContent(plan)));
  const git = { directory: remote.clone(), env: process.env };
  await addApproval(
    { git, remote: 'origin', stack },
    { stored: { approval, signature }, content, now },
    signal,
  );
}
