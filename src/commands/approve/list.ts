/** `trueup approve --list`: the signed approvals of a stack, and which of them may count at HEAD. */
import { approvalsRef, type KeptApproval, withApprovals } from '../../approvals/approvals-ref.ts';
import { whyElsewhere } from '../../approvals/signatures.ts';
import {
  acknowledgedIds,
  fingerprintOfKey,
  publicKeyOf,
  signedText,
} from '../../approvals/signed-approval.ts';
import { type Verifier, withVerifier } from '../../approvals/ssh-keygen.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { printable } from '../../report/view/printable.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { openLedger } from '../../run/open-ledger.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import { printJson, type Terminal, textOutput } from '../../run/terminal.ts';
import type { ApprovalPlace } from './place.ts';

interface Listed {
  readonly digest: string;
  readonly commit: string;
  readonly acknowledged: readonly string[];
  readonly at: string;
  readonly until: string;
  readonly key: string;
  readonly by?: string;
  readonly why?: string;
}

/**
 * The time (RFC 3339) at which an apply ended the approvals of a plan, by the digest of the plan. Empty if the ledger cannot be read,
 * or is not in git: only the remote of the repository is read here anyway.
 */
async function endedApprovals(
  stack: Stack,
  { host }: Pick<Terminal, 'host'>,
  time: RunTime,
): Promise<ReadonlyMap<string, string>> {
  if (stack.ledger?.in !== 'git') return new Map();
  try {
    const store = await openLedger(stack, host, time);
    try {
      return (await store.read()).endedApprovals ?? new Map();
    } finally {
      await store.close();
    }
  } catch {
    return new Map();
  }
}

export async function listApprovals(
  given: Stack,
  place: ApprovalPlace,
  {
    terminal,
    signal,
    time,
  }: { readonly terminal: Terminal; readonly signal: AbortSignal; readonly time: RunTime },
): Promise<ExitCode> {
  const { name: stack } = given;
  const ended = await endedApprovals(given, terminal, time);
  const { git, remote, remotes, path, allowed } = place;
  const now = terminal.host.now();
  const here = { stack, repository: { remotes, path }, now };
  const files = await withApprovals({ git, remote, stack }, signal, async ({ all, foreign }) => ({
    kept: all,
    foreign: foreign.length,
  }));
  const approvals = await withVerifier({ env: git.env, now, signal }, async (verifier) => {
    const listed: Listed[] = [];
    for (const one of files.kept) listed.push(...(await describe(one, { here, allowed, verifier, ended })));
    return listed.sort((one, other) => (one.at < other.at ? 1 : -1));
  });
  const ref = approvalsRef(stack);
  const unreadable = files.foreign + files.kept.filter(({ stored }) => stored === undefined).length;
  const lines =
    approvals.length === 0
      ? [`Stack ${quoted(stack)} has no signed approvals in ${quoted(ref)} of the remote ${quoted(remote)}`]
      : approvals.flatMap(approvalLines);
  if (unreadable > 0) lines.push(`${unreadable} files in ${quoted(ref)} are not approvals`);
  textOutput(terminal)?.write(`${lines.map(printable).join('\n')}\n`);
  printJson(terminal, (reported) =>
    renderJson({ version: 1, stack, remote, ref, approvals, unreadable, ...diagnosticsMember(reported) }),
  );
  return exitCodes.done;
}

interface CheckContext {
  readonly here: Parameters<typeof whyElsewhere>[1];
  readonly allowed: string;
  readonly verifier: Verifier;
  readonly ended: ReadonlyMap<string, string>;
}

async function describe(
  { stored }: KeptApproval,
  { here, allowed, verifier, ended }: CheckContext,
): Promise<Listed[]> {
  if (stored === undefined) return [];
  const { digest, commit, at, until } = stored.approval;
  const key = fingerprintOfKey(publicKeyOf(stored.signature) ?? '');
  const admission = await verifier.verify(
    { text: signedText(stored.approval), signature: stored.signature },
    allowed,
  );
  const notAdmitted = 'why' in admission ? `its key is not admitted at HEAD: ${admission.why}` : undefined;
  const end = ended.get(digest);
  const isUsed = end !== undefined && Date.parse(at) <= Date.parse(end);
  const used = isUsed ? `it was used: an apply of its plan ended at ${end}` : undefined;
  const why = whyElsewhere(stored.approval, here) ?? notAdmitted ?? used;
  return [
    {
      digest,
      commit,
      acknowledged: acknowledgedIds(stored.approval),
      at,
      until,
      key,
      ...('names' in admission ? { by: admission.names[0] } : {}),
      ...(why === undefined ? {} : { why }),
    },
  ];
}

function approvalLines({ digest, commit, acknowledged, at, until, key, by, why }: Listed): string[] {
  return [
    `${digest}  at commit ${commit.slice(0, 12)}  by ${by ?? 'an unknown key'} (${key})`,
    `  signed ${at}, expires ${until}${acknowledged.length === 0 ? '' : `, acknowledges ${acknowledged.join(', ')}`}`,
    why === undefined
      ? '  may count: for an apply of this commit, unless an author of it signed, or it was applied already'
      : `  does not count: ${why}`,
  ];
}
