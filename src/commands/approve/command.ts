/**
 * `trueup approve <plan | digest> [path]`: shows a plan, signs its approval with the reviewer's SSH key, and pushes it to a ref of
 * the remote, where `trueup ci apply` finds it.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { isAuthor, namesOfKey, readCommitAuthors } from '../../approvals/allowed-signers.ts';
import { addApproval, approvalsRef } from '../../approvals/approvals-ref.ts';
import { idOfKey, isPolicyKey, policyKeys } from '../../approvals/guard-keys.ts';
import { runGit } from '../../ledger/git/git-command.ts';
import {
  acknowledgedIds,
  fingerprintOfKey,
  longestValidity,
  publicKeyOf,
  type SignedApproval,
  signedText,
} from '../../approvals/signed-approval.ts';
import { chooseKey, signText, withVerifier } from '../../approvals/ssh-keygen.ts';
import { SigningError } from '../../model/approval.ts';
import { deniedIds, type GuardId, openIds, policyOf } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { planContent } from '../../plan/approved-plans.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { guardLines } from '../../report/text/guards.ts';
import { deniedStep, summaryLine } from '../../report/view/plan-summary.ts';
import { printable, shellWord } from '../../report/view/printable.ts';
import {
  ackOption,
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseTimeout,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { checkIds, notWritten, readIds } from '../../run/consent.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { withStack } from '../../run/load-manifests.ts';
import { openApprovedPlan } from '../../run/plan-file.ts';
import { planWithoutSecrets } from '../../run/print-plan.ts';
import { listenForEnd, raceStop, stoppedRun } from '../../run/stop-signals.ts';
import { type CommandContext, printJson, printNote, type Terminal, textOutput } from '../../run/terminal.ts';
import { listApprovals } from './list.ts';
import { type ApprovalPlace, findPlace, fullCommitId } from './place.ts';

interface ApproveOptions extends CommonOptions {
  readonly ack?: string;
  readonly key?: string;
  readonly commit?: string;
  /** milliseconds */
  readonly expires?: number;
  readonly remote: string;
  readonly list?: boolean;
  readonly yes?: boolean;
}

/** How long an approval is valid by default, in milliseconds. */
const defaultValidity = 7 * 86_400_000;

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[plan]', 'a plan file, or the digest of a plan; with --list, the stack')
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .addOption(
      ackOption(
        'acknowledged guards, separated by commas; with a digest, write policies as the job prints them',
      ),
    )
    .option(
      '--key <file>',
      "the SSH key that signs (default: git's user.signingKey, or a key of ssh-agent or ~/.ssh)",
    )
    .option('--commit <id>', 'the head commit that was reviewed (default: that of the plan file, or HEAD)')
    .option('--expires <duration>', 'how long the approval is valid, at most 30d (default: 7d)', parseExpiry)
    .option('--remote <name>', 'the remote of the repository, which keeps the approval', 'origin')
    .option('--list', 'list the signed approvals of the stack, and approve nothing')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .addOption(timeoutOption('how long the run may take (default: what the stack says, or 1h)'))
    .action(async (plan: string | undefined, path: string | undefined, options: ApproveOptions) => {
      end(await approve({ plan, path }, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup approve plan.json', 'show what the plan does, ask, and sign its approval'],
    ['trueup approve plan.json --ack deletes', 'also acknowledge a guard that blocks the plan'],
    ['trueup approve --list', 'who approved which plan of this stack, and whether it counts'],
  );
}

function parseExpiry(text: string): number {
  const milliseconds = parseTimeout(text) * 1000;
  if (milliseconds > 0 && milliseconds <= longestValidity) return milliseconds;
  throw new InvalidArgumentError('an approval is valid for some time, such as 12h or 7d, and at most 30d');
}

async function approve(
  { plan, path }: { readonly plan: string | undefined; readonly path: string | undefined },
  options: ApproveOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  if (options.list === true && path !== undefined)
    throw new CommandStop('usage', '--list takes the stack only, and no plan');
  refuseFlagsOfList(options);
  if (options.list !== true && plan === undefined)
    throw new CommandStop('usage', 'the plan is missing: name a plan file, or the digest of a plan');
  checkIds(readIds(options.ack).filter((one) => !isPolicyKey(one)));
  const stops = listenForEnd(host);
  const stackPath = options.list === true ? plan : path;
  return withStack(
    stackPath,
    { host, stops, timeout: options.timeout, ignoresMistakes: true },
    ({ stack, time }) => {
      const signal = stops.runEnded;
      const work = async () => {
        const place = await findPlace(stack, options.remote, host, signal);
        if (options.list === true) return listApprovals(stack, place, { terminal, signal, time });
        return signPlan({ stack, place, plan: plan ?? '', options, terminal, signal });
      };
      const stopped = () => stoppedRun(signal, { done: 'nothing was approved', mustPrint: true });
      return raceStop(work(), signal, stopped);
    },
  );
}

/** Refuses flags that have no effect with --list: a user who passes one expects an approval. */
function refuseFlagsOfList({ list, ack, key, commit, expires }: ApproveOptions): void {
  if (list !== true) return;
  const given = Object.entries({ ack, key, commit, expires }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`],
  );
  if (given.length > 0)
    throw new CommandStop('usage', `--list approves nothing: pass it without ${given.join(', ')}`);
}

interface Approving {
  readonly stack: Stack;
  readonly place: ApprovalPlace;
  /** as typed: a plan file, or a digest */
  readonly plan: string;
  readonly options: ApproveOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function signPlan(approving: Approving): Promise<ExitCode> {
  const { stack, place, options, terminal, signal } = approving;
  const { host } = terminal;
  const { git, remote } = place;
  const given = await readGiven(approving);
  const acknowledged = idsToSign(given, readIds(options.ack));
  const guardIds = readIds(options.ack).map(idOfKey) as readonly GuardId[];
  const unacknowledged = given.plan === undefined ? [] : showPlan(given.plan, guardIds, approving);
  const commit = await fullCommitId(git, options.commit ?? given.commit ?? 'HEAD');
  const key = await chooseKey(git, { named: options.key, cwd: host.cwd, allowed: place.allowed });
  await ask(`Approve the plan ${given.digest} at commit ${commit.slice(0, 12)}?`, approving);
  const now = host.now();
  const approval: SignedApproval = {
    version: 1,
    stack: stack.name,
    // The address that git connects to, after this machine's `insteadOf` settings.
    repository: place.remotes.at(-1) ?? '',
    path: place.path,
    digest: given.digest,
    commit,
    acknowledged,
    at: new Date(now).toISOString(),
    until: new Date(now + (options.expires ?? defaultValidity)).toISOString(),
  };
  const notify = (line: string) => host.stderr.write(`${line}\n`);
  const signature = await signText(signedText(approval), key, { env: git.env, signal, notify });
  const signer = await describeSigner({ approval, signature }, approving);
  const content =
    given.plan === undefined ? undefined : (host.clean(planContent(given.plan)) as unknown as Json);
  const added = { stored: { approval, signature }, content, now };
  const contentFits = await addApproval({ git, remote, stack: stack.name }, added, signal);
  if (!contentFits) printNote(terminal, 'the content of the plan is too long to be kept beside the approval');
  const ref = approvalsRef(stack.name);
  const { version: _, stack: name, ...signed } = approval;
  textOutput(terminal)?.write(
    `Approved the plan ${signed.digest} of stack ${quoted(name)} at commit ${commit.slice(0, 12)}, until ${signed.until}\nSigned by ${printable(signer.by)} (${signer.key}), kept in ${ref} of the remote ${quoted(remote)}\n`,
  );
  printJson(terminal, (reported) =>
    renderJson({
      version: 1,
      stack: name,
      remote,
      ref,
      ...signed,
      acknowledged: acknowledgedIds(approval),
      ...signer,
      ...(unacknowledged.length === 0 ? {} : { unacknowledged }),
      ...diagnosticsMember(reported),
    }),
  );
  return exitCodes.done;
}

interface NamedPlan {
  readonly digest: string;
  /** absent for a digest alone */
  readonly plan?: Plan;
  readonly commit?: string | undefined;
}

/** @throws CommandStop for a plan that "ci apply" would never make */
async function readGiven({ plan: typed, stack, terminal }: Approving): Promise<NamedPlan> {
  if (/^[0-9a-f]{32}$/i.test(typed)) {
    printNote(
      terminal,
      'note: a digest alone shows nothing of the plan; read the plan in the comment of the pull request, or approve the plan file',
    );
    return { digest: typed.toLowerCase() };
  }
  const { plan, file } = await openApprovedPlan(typed, terminal.host.cwd);
  const refuse = (why: string) =>
    new CommandStop('plan-elsewhere', `nothing was approved: the plan ${quoted(file)} ${why}`, {
      exit: exitCodes.stale,
    });
  if (plan.stack !== stack.name)
    throw refuse(`is of the stack ${quoted(plan.stack)}, and this is ${quoted(stack.name)}`);
  if (plan.selection !== undefined)
    throw refuse('is of a part of the stack, and "trueup ci apply" applies the whole stack: plan all of it');
  if (plan.problems.some(({ severity }) => severity === 'error'))
    throw new CommandStop(
      'plan-problems',
      `nothing was approved: the plan ${quoted(file)} has problems that must be solved first`,
    );
  const { commit, pullRequestCommit, dirty } = plan.made ?? {};
  if (dirty)
    printNote(
      terminal,
      'note: the plan was made with changes that are in no commit, which may not be merged',
    );
  return { digest: plan.digest, plan, commit: pullRequestCommit ?? commit };
}

/**
 * The ids to sign. For a policy, these are the keys of its messages, because the digest of a plan does not cover the messages.
 * @param typed ids of guards, and keys of policies as jobs print them
 * @throws CommandStop for a policy with a digest alone, which does not show the messages
 */
function idsToSign({ plan }: NamedPlan, typed: readonly string[]): string[] {
  const policies = typed.filter((one) => policyOf(one) !== undefined && !isPolicyKey(one));
  if (plan === undefined && policies.length > 0)
    throw new CommandStop(
      'usage',
      `nothing was approved: a digest alone does not show what ${policies.join(', ')} says: copy the command that the job with the plan prints, or approve the plan file`,
    );
  const rest = typed.filter((one) => !policies.includes(one));
  return [...new Set([...rest, ...(plan === undefined ? [] : policyKeys(plan.guards, policies))])].sort();
}

/** @returns the guards that block the plan and are not acknowledged */
function showPlan(
  plan: Plan,
  acknowledged: readonly GuardId[],
  { plan: file, terminal }: Approving,
): GuardId[] {
  const shown = planWithoutSecrets(plan, terminal.host);
  const layout = { paint: terminal.paint, width: Math.max(40, terminal.width ?? 100) };
  const risks = guardLines(shown, layout);
  textOutput(terminal)?.write(
    `${[...risks, ...(risks.length === 0 ? [] : ['']), `${summaryLine(shown)}; the whole plan: trueup show ${shellWord(file)}`].join('\n')}\n`,
  );
  const tripped = new Set(plan.guards.map(({ id }) => id));
  const notTripped = acknowledged.filter((id) => !tripped.has(id));
  if (notTripped.length > 0)
    printNote(terminal, `note: this plan does not trip ${notTripped.join(', ')}: nothing to acknowledge`);
  const unacknowledged = openIds(plan.guards, acknowledged);
  if (deniedIds(plan.guards).length > 0) printNote(terminal, `note: ${deniedStep(plan.guards)}`);
  else if (unacknowledged.length > 0)
    printNote(
      terminal,
      `note: this approval is not enough, because it does not acknowledge what blocks the plan: ${unacknowledged.join(', ')}; add ${quoted(`--ack ${unacknowledged.join(',')}`)}, or another person must acknowledge it`,
    );
  return unacknowledged;
}

/** @throws CommandStop unless the user agrees */
async function ask(question: string, { options, terminal, signal }: Approving): Promise<void> {
  if (options.yes === true) return;
  if (!terminal.host.interactive || terminal.format !== 'text')
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was approved: approve asks before it signs; without a terminal, pass --yes',
    );
  if (!(await terminal.host.confirm(question, signal))) throw notWritten(terminal, signal);
}

/**
 * The fingerprint of the signing key, and its name in the files of signers at HEAD.
 * @throws SigningError for an approval that cannot count, and for output that is not a signature
 */
async function describeSigner(
  { approval, signature }: { readonly approval: SignedApproval; readonly signature: string },
  { place, stack, terminal, signal }: Approving,
): Promise<{ readonly key: string; readonly by: string }> {
  const publicKey = publicKeyOf(signature);
  if (publicKey === undefined) throw new SigningError('ssh-keygen returned something else than a signature');
  const key = fingerprintOfKey(publicKey);
  if (place.allowed.trim() === '')
    throw new SigningError(
      'nothing was approved: the stack names no signers at HEAD: add "from: [{ signers: allowed_signers }]" to spec.approvals, and merge that first; if the protected branch has it already, update this clone: "git switch main", "git pull"',
    );
  const about = { env: place.git.env, now: terminal.host.now(), signal };
  const admission = await withVerifier(about, (verifier) =>
    verifier.verify({ text: signedText(approval), signature }, place.allowed),
  );
  if ('why' in admission)
    throw new SigningError(
      `nothing was approved: the stack does not admit the key ${key} at HEAD: ${admission.why}; name another key with --key, or update this clone: "git switch main", "git pull"`,
    );
  const names = [...admission.names, ...namesOfKey(place.allowed, publicKey)];
  if (
    stack.approvals?.selfApprove !== true &&
    (await isCommitAuthor({ names, key: publicKey }, approval, place))
  )
    throw new SigningError(
      `nothing was approved: ${quoted(admission.names[0])} is an author of commit ${approval.commit.slice(0, 12)}, and authors may not approve their own changes: ask another signer`,
    );
  return { key, by: admission.names[0] };
}

/** Whether a signer is an author of the commit itself. "ci apply" checks this for all commits that are merged with it. */
async function isCommitAuthor(
  signer: Parameters<typeof isAuthor>[0],
  { commit }: Pick<SignedApproval, 'commit'>,
  { git }: ApprovalPlace,
): Promise<boolean> {
  const { code, out } = await runGit(['rev-list', '--no-walk', '--no-merges', commit], git);
  const commits = code === 0 ? out.toString().split('\n').filter(Boolean) : [];
  return isAuthor(signer, await readCommitAuthors(git, commits));
}
