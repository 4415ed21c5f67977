/** Plans one stack of a CI job, or only validates it if the job has no secrets or if its changes decide where secrets go. */
import { dirname, join } from 'node:path';
import { displayPath, standardInput } from '../../manifest/files/find-stack.ts';
import { hasErrors, type ShownDiagnostic, sortDiagnostics } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import type { CiJob } from '../../run/ci/job.ts';
import { type Baseline, findBaseline, type Trust, warning } from '../../run/ci/baseline.ts';
import type { CiScope } from '../../run/ci/scope.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodeOf, exitCodeOfPlan, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { loadManifests, stackArgument } from '../../run/load-manifests.ts';
import { learnSources, secretNameErrors } from '../../run/needed-secrets.ts';
import { planToShow } from '../../run/plan-to-show.ts';
import { runToRead, type StackSettingsInput } from '../../run/prepare-run.ts';
import { printPlan } from '../../run/print-plan.ts';
import { secretBehind, whyAbsent } from '../../run/read-secret.ts';
import { reportStop } from '../../run/report-stop.ts';
import { raceStop } from '../../run/stop-signals.ts';
import { openTerminal, printWarnings, type Terminal } from '../../run/terminal.ts';
import type { ChosenStack } from './choose-stacks.ts';
import { stepsAfterPlan } from './refusal.ts';
import { rulesOfFirstApply, findApplyScope } from './apply-scope.ts';

export interface StackResult {
  readonly stack: ChosenStack;
  readonly code: ExitCode;
  /** absent if the stack was only validated, or could not be planned */
  readonly plan?: Plan;
  readonly planning?: PlanResult;
  /** the problems that are not in the plan */
  readonly reported: readonly ShownDiagnostic[];
  /** the stack file, as the user would type it */
  readonly stackFile: string;
  /** its working directory is the one that paths in problems are relative to */
  readonly host: CliHost;
  /** why it was not planned, as a clause */
  readonly onlyValidated?: string;
  /** the next steps for the plan, as sentences; undefined if the plan itself shows them */
  readonly next?: readonly string[] | undefined;
}

interface StackContext {
  readonly scope: CiScope;
  readonly host: CliHost;
  readonly terminal: Terminal;
  readonly trust: Trust;
  readonly timeout: number | undefined;
}

export async function planStack(stack: ChosenStack, context: StackContext): Promise<StackResult> {
  const { scope, trust } = context;
  const host = hostOf(context);
  const terminal = { ...openTerminal(host, {}), paint: context.terminal.paint };
  const root = scope.job.isOfBase ? scope.head.place.directory : scope.root;
  const path = displayPath(join(root, stack.path), host.cwd);
  const stackFile = displayPath(join(root, stack.file), host.cwd);
  const about = { stack, stackFile, host, reported: terminal.reported };
  try {
    await refuseUnreadable(stack, scope);
    const isPush = scope.job.event === 'push';
    const baseline = isPush ? unchangedBaseline : await findBaseline(scope, stack.file, { host, trust });
    const onlyValidated = baseline.onlyValidate ?? (await missingSecrets(stack, baseline, { scope, host }));
    const input = { path, host, terminal, baseline, isPush, timeout: context.timeout };
    if (onlyValidated !== undefined)
      return { ...about, ...(await validate(input, onlyValidated)), onlyValidated };
    return { ...about, ...(await plan(input, { stackPath: stack.path, event: scope.job.event })) };
  } catch (error) {
    return { ...about, code: reportStop(error, terminal) };
  }
}

/** For a pushed commit: it is compared with the last apply, as in the apply that follows, because its parent may not have been applied. */
const unchangedBaseline: Baseline = { adjust: (stack) => ({ stack, loosened: [] }), notes: [] };

/** If the work tree is that of the base branch, the files of the planned commit are in a separate folder: the new working directory. */
function hostOf({ scope, host }: StackContext): CliHost {
  if (!scope.job.isOfBase) return host;
  const { directory, env } = scope.head.place;
  const moved = { GITHUB_WORKSPACE: directory, CI_PROJECT_DIR: directory };
  return { ...host, cwd: directory, env: { ...host.env, ...env, ...moved } };
}

async function refuseUnreadable({ file }: ChosenStack, { job, head }: CiScope): Promise<void> {
  const read = await head.read(file);
  const manifests = (read?.stack ?? read?.partial)?.manifests ?? [];
  if (manifests.includes(standardInput))
    throw new CommandStop(
      'no-input',
      `${quoted(file)} takes manifests from standard input: plan it with "trueup plan -"`,
    );
  if (job.isOfBase && read !== undefined && read.refused.length > 0)
    throw new CommandStop(
      'commit-unreadable',
      `${quoteSome(read.refused)} are links or submodules, which are not followed in a job with the secrets of the base branch: use files`,
    );
}

/** Why a job that gets no secrets cannot read the targets; undefined if it can. */
async function missingSecrets(
  { file }: ChosenStack,
  { adjust }: Baseline,
  { scope, host }: { readonly scope: CiScope; readonly host: CliHost },
): Promise<string | undefined> {
  if (!scope.job.mayLackSecrets) return undefined;
  const read = await scope.head.read(file);
  if (read?.stack === undefined) return undefined;
  const { stack } = adjust(read.stack);
  for (const source of sourcesOf(stack)) {
    const why = await whyAbsent(
      source,
      { env: host.env, directory: join(scope.root, dirname(file)) },
      { reads: false },
    );
    if (why !== undefined) return `this job gets no secrets, as in a fork: ${why}`;
  }
  return undefined;
}

function sourcesOf({ targets, ledger }: Stack) {
  return [
    ...targets.flatMap(({ token }) => (token === undefined ? [] : [secretBehind(token)])),
    ...(ledger?.in === 'postgres' ? [ledger.url] : []),
  ];
}

interface RunInput {
  readonly path: string;
  readonly host: CliHost;
  readonly terminal: Terminal;
  readonly baseline: Baseline;
  readonly isPush: boolean;
  readonly timeout: number | undefined;
}

async function validate(
  { path, host, terminal, baseline, timeout }: RunInput,
  why: string,
): Promise<Pick<StackResult, 'code'>> {
  const { adjust } = baseline;
  const { diagnostics, stack, resources } = await loadManifests(path, host, { timeout, adjust });
  if (stack !== undefined) await learnSources(stack, resources, host, { files: 'none' });
  const names = stack === undefined ? [] : secretNameErrors(resources, host);
  const notPlanned = warning('validated-only', `the stack was only validated, and not planned: ${why}`);
  const found = sortDiagnostics([...diagnostics, ...names, notPlanned]);
  printWarnings(terminal, found);
  if (!hasErrors(found))
    host.stdout.write(`${terminal.paint.added('valid')}: stack ${stack?.name ?? path}\n`);
  return { code: exitCodeOf(found) };
}

async function plan(
  { path, host, terminal, baseline, isPush, timeout }: RunInput,
  { stackPath, event }: { readonly stackPath: string; readonly event: CiJob['event'] },
): Promise<Pick<StackResult, 'code' | 'plan' | 'planning' | 'next'>> {
  const { notes } = baseline;
  let proposed: Stack['approvals'];
  const adjust: Baseline['adjust'] = (stack) => {
    proposed = stack.approvals;
    return baseline.adjust(stack);
  };
  const decideSettings = async (stack: Stack, about: StackSettingsInput) =>
    (await findApplyScope(stack, about, { host, path })).stricter;
  const options = { timeout, adjust, ...(isPush ? { decideSettings } : {}) };
  let made: Pick<StackResult, 'plan' | 'planning' | 'next'> | undefined;
  const code = await runToRead(path, { host, terminal }, options, async (prepared, stop) => {
    const planned = await raceStop(planToShow(prepared, host), stop);
    const problems = sortDiagnostics([...planned.plan.problems, ...notes]);
    const shown = { ...planned.plan, problems };
    const { request, ledger } = prepared;
    const accepted = request.stack.approvals ?? {};
    const rules = ledger.commit === undefined ? rulesOfFirstApply(accepted) : accepted;
    const about = { rules, event, proposed, stack: stackPath === '.' ? undefined : stackArgument(stackPath) };
    const next = stepsAfterPlan({ ...shown, guards: host.clean(shown.guards) }, about);
    made = { ...planned, plan: shown, next };
    printPlan(terminal, shown, { stack: stackArgument(path), next });
    return exitCodeOfPlan(shown);
  });
  return { code, ...made };
}

/** The most important of several codes: first an interrupted run, then what a person has to correct. */
export function worstCode(codes: readonly ExitCode[]): ExitCode {
  const order: readonly ExitCode[] = [
    exitCodes.interrupted,
    exitCodes.invalid,
    exitCodes.conflict,
    exitCodes.error,
    exitCodes.stale,
  ];
  return order.find((code) => codes.includes(code)) ?? exitCodes.done;
}
