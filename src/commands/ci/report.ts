/**
 * The results of a plan job: annotations, the summary and outputs of the step, SARIF, files and comments; and the last lines of its
 * output, which give the result of each stack and the next step.
 */
import { lstat, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { makeStateFolder, replaceFile } from '../../files/write-file.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { acknowledgeableIds } from '../../model/guard.ts';
import { memberOf } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { renderJson } from '../../report/json/render-json.ts';
import { renderSarif } from '../../report/json/sarif.ts';
import { code, sentence } from '../../report/markdown/escape.ts';
import { renderPlanMarkdown } from '../../report/markdown/plan.ts';
import { renderDiagnosticsMarkdown } from '../../report/markdown/sections.ts';
import { annotations, appendSummary, repositoryPath, writeOutputs } from '../../run/answer.ts';
import { carriedLine } from '../../run/carried-plan.ts';
import type { CiJob } from '../../run/ci/job.ts';
import { type ExitCode, exitCodeOfPlan, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { isPlanFile, maxPlanSize, parsed } from '../../run/plan-file.ts';
import { draftOf, isEmptyPlan } from '../../run/post-comment.ts';
import { planWithoutSecrets } from '../../run/print-plan.ts';
import { reportStop } from '../../run/report-stop.ts';
import type { Draft } from '../../run/sticky-comment.ts';
import { cleanDiagnostics, type CommandContext } from '../../run/terminal.ts';
import { refusePlanFile, writePlanFile } from '../../run/write-plan-file.ts';
import type { ChosenStack } from './choose-stacks.ts';
import type { CodeHostSession } from './code-host-session.ts';
import type { StackResult } from './plan-stack.ts';

/** The name of the list of plans in the folder of plan files. */
const listName = 'plans.json';

/** What later jobs need to know of a plan. */
interface ListedPlan {
  readonly stack: string;
  /** path of the stack, from the top of the repository */
  readonly path: string;
  readonly digest: string;
  /** name of the plan file, in the same folder */
  readonly plan: string;
  readonly changes: number;
  /** guards that have to be acknowledged */
  readonly acknowledge: readonly string[];
}

/** Writes a plan file for each plan, and a list of them. If it creates the folder, git ignores it, so that no plan file is committed. */
export async function writePlans(
  folder: string,
  results: readonly StackResult[],
  host: CliHost,
): Promise<void> {
  const directory = resolve(host.cwd, folder);
  await makeStateFolder(directory);
  const former = await formerPlans(directory);
  const listed: ListedPlan[] = [];
  for (const { stack, plan } of results) {
    if (plan === undefined) continue;
    const name = `${plan.stack}.plan.json`;
    const file = join(folder, name);
    await refusePlanFile(file, host);
    await writePlanFile(file, host, plan);
    listed.push({
      stack: plan.stack,
      path: stack.path,
      digest: plan.digest,
      plan: name,
      changes: plan.changes.length,
      acknowledge: acknowledgeableIds(plan.guards),
    });
  }
  const written = new Set(listed.map(({ plan }) => plan));
  for (const name of former) if (!written.has(name)) await removePlan(join(directory, name));
  await replaceFile(join(directory, listName), `${renderJson({ version: 1, plans: listed })}\n`);
}

/** In bytes; it has some lines for each stack. */
const maxList = 4 * megabyte;

/** The plan files that the list of an earlier run names, as names in the folder. A list that cannot be read names none. */
async function formerPlans(directory: string): Promise<string[]> {
  const text = await readRegularText(join(directory, listName), maxList).catch(() => '');
  const plans = memberOf(parsed(text), 'plans');
  return (Array.isArray(plans) ? plans : []).flatMap((one) => {
    const name = memberOf(one, 'plan');
    return typeof name === 'string' && /^[^/\\]+\.plan\.json$/.test(name) ? [name] : [];
  });
}

/** Removes the plan of an earlier run, which could be mistaken for one of this run. Links, and files without a plan, stay. */
async function removePlan(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true) return;
  const value = parsed(await readRegularText(file, maxPlanSize).catch(() => ''));
  if (value !== undefined && isPlanFile(value)) await rm(file, { force: true });
}

/** Annotations, summary and outputs of GitHub Actions; other CIs have no such files. */
export function reportToGithub(results: readonly StackResult[], code: ExitCode, host: CliHost): void {
  const isAction = host.env['GITHUB_ACTIONS'] === 'true';
  if (isAction)
    for (const result of results)
      for (const line of annotations(problemsOf(result), (file) => repositoryPath(file, result.host)))
        host.writeCommand(line);
  for (const result of results) appendSummary(host, summaryOf(result));
  if (results.length === 0) appendSummary(host, 'No stack is changed.');
  const plans = results.flatMap(({ plan }) => (plan === undefined ? [] : [plan]));
  const [only] = plans;
  writeOutputs(host, {
    stacks: JSON.stringify(results.map(({ stack }) => stack.path)),
    digests: JSON.stringify(Object.fromEntries(plans.map(({ stack, digest }) => [stack, digest]))),
    ...(only !== undefined && plans.length === 1 ? { stack: only.stack, digest: only.digest } : {}),
    changes: String(plans.reduce((sum, { changes }) => sum + changes.length, 0)),
    'exit-code': String(code),
  });
}

function problemsOf({ plan, reported, host }: StackResult): ShownDiagnostic[] {
  return cleanDiagnostics([...reported, ...(plan?.problems ?? [])], host);
}

/** The result of a stack, in Markdown. */
function summaryOf({ stack, plan, reported, host, onlyValidated, next }: StackResult): string {
  const title = `## ${code(stack.path)}`;
  const diagnostics = cleanDiagnostics(reported, host);
  if (plan !== undefined)
    return `${title}\n\n${renderPlanMarkdown(planWithoutSecrets(plan, host), { diagnostics, stack: stack.path, next })}`;
  const validation =
    onlyValidated === undefined ? [] : [`**Validated, and not planned**: ${sentence(onlyValidated)}.`, ''];
  return [title, '', ...validation, renderDiagnosticsMarkdown(diagnostics, 'No problems')].join('\n');
}

/** One log for all stacks. A problem without a place gets the stack file as its place. */
export async function writeSarif(
  file: string,
  results: readonly StackResult[],
  host: CliHost,
): Promise<void> {
  const paths = new Map<string, string | undefined>();
  const diagnostics = results.flatMap((result) =>
    problemsOf(result).map((diagnostic) => {
      const { place = { file: result.stackFile, line: 1, column: 1, length: 0, text: '' } } = diagnostic;
      const shown = repositoryPath(place.file, result.host);
      paths.set(shown ?? place.file, shown);
      return { ...diagnostic, place: { ...place, file: shown ?? place.file } };
    }),
  );
  const text = renderSarif(diagnostics, {
    version: host.version,
    stackFile: results[0]?.stackFile ?? 'trueup.yaml',
    pathOf: (path) => paths.get(path) ?? repositoryPath(path, host),
  });
  await replaceFile(resolve(host.cwd, file), `${text}\n`);
}

/** Posts the comments, at the end of the job. The next job marks comments that were not updated as out of date. */
export async function postAll(
  results: readonly StackResult[],
  removed: readonly ChosenStack[],
  { session, context }: { readonly session: CodeHostSession; readonly context: CommandContext },
): Promise<ExitCode> {
  try {
    let isPosted = true;
    for (const stack of removed)
      if (stack.name !== undefined) {
        const text = `**Removed, and not planned**: ${sentence(removedText(stack))}.`;
        const note = noteOf(stack.name, { text, summary: 'removed, and not planned' }, context.host);
        isPosted = (await session.post(note, { creates: true })) && isPosted;
      }
    for (const result of results) isPosted = (await postOne(result, session)) && isPosted;
    return isPosted ? exitCodes.done : exitCodes.error;
  } catch (error) {
    return reportStop(error, context.terminal);
  }
}

async function postOne(
  { plan, host, stack, onlyValidated, next }: StackResult,
  session: CodeHostSession,
): Promise<boolean> {
  if (plan !== undefined) {
    const commit = commitOf(plan);
    const draft = draftOf(plan, host, originOf(plan), next);
    return session.post(
      { ...draft, carried: carriedLine(plan, commit, host) },
      { creates: !isEmptyPlan(plan) },
    );
  }
  if (onlyValidated === undefined || stack.name === undefined) return true;
  const text = `**Validated, and not planned**: ${sentence(onlyValidated)}.`;
  const note = noteOf(stack.name, { text, summary: 'validated, and not planned' }, host);
  return session.post(note, { creates: true });
}

/** A comment without a plan. @param about.text Markdown */
function noteOf(
  stack: string,
  { text, summary }: { readonly text: string; readonly summary: string },
  host: CliHost,
): Draft {
  const at = new Date(host.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return { stack, plan: text, shown: { post: host.newId(), at, digest: '', summary } };
}

function commitOf({ made }: Plan): string | undefined {
  return made?.pullRequestCommit ?? made?.commit;
}

function originOf(plan: Plan) {
  const { made } = plan;
  const commit = commitOf(plan);
  return {
    ...(made === undefined ? {} : { made: made.at }),
    ...(commit === undefined ? {} : { commit }),
    ...(made?.dirty ? { dirty: true as const } : {}),
  };
}

export function removedText({ file, name }: ChosenStack): string {
  const stack = name === undefined ? '' : ` of the stack ${quoted(name)}`;
  return `the stack file ${quoted(file)}${stack} is removed: its resources stay as they are; to remove them, keep the file for now, with "optional: true" for each pattern of "spec.manifests", remove only the manifests, and remove the file after the apply`;
}

interface EndOptions {
  readonly job: CiJob;
  readonly outDir: string | undefined;
  /** stacks that the commits remove */
  readonly removed: readonly ChosenStack[];
}

type EndedStack = Pick<StackResult, 'stack' | 'code' | 'plan' | 'onlyValidated'>;

/** What happened, and what to do next: the last lines of a plan job. */
export function closingText(
  results: readonly EndedStack[],
  code: ExitCode,
  { job, outDir, removed }: EndOptions,
): string {
  if (results.length === 0 && code !== exitCodes.done) return `No stack was planned.\n${nextStep(code, job)}`;
  if (results.length === 0)
    return removed.length === 0
      ? 'No stack is changed, so nothing was planned. There is nothing to do.'
      : `${counted(removed.length, 'stack')} removed, and nothing was planned. Next: decide what becomes of the resources, as the message says.`;
  const groups = Map.groupBy(results, kindOf);
  const parts = resultKinds.flatMap((kind) => {
    const found = groups.get(kind) ?? [];
    if (found.length === 0) return [];
    const which = kind.isGood ? '' : `: ${found.map(({ stack }) => stack.path).join(', ')}`;
    return [{ count: found.length, text: `${kind.text}${which}` }];
  });
  const texts = parts.map(({ count, text }, index) =>
    index === 0 ? `${counted(count, 'stack')} ${text}` : `${count} ${text}`,
  );
  const hasPlans = results.some(({ plan }) => plan !== undefined);
  const kept = outDir === undefined || !hasPlans ? '' : `; the plan files are in ${quoted(outDir)}`;
  const isValidation = groups.get(validated)?.length === results.length && job.event !== 'push';
  return `${texts.join(', ')}${kept}.\n${isValidation ? stepAfterValidation : nextStep(code, job)}`;
}

interface ResultKind {
  readonly text: string;
  /** whether nothing needs attention; otherwise the stacks are named */
  readonly isGood: boolean;
}

const planned: ResultKind = { text: 'planned', isGood: true };
const validated: ResultKind = { text: 'only validated', isGood: true };
const notReviewed: ResultKind = { text: 'with a plan that was not reviewed', isGood: false };
const incomplete: ResultKind = { text: 'not planned completely', isGood: false };
const failed: ResultKind = { text: 'not planned', isGood: false };
const resultKinds: readonly ResultKind[] = [planned, validated, notReviewed, incomplete, failed];

function kindOf({ plan, onlyValidated, code }: EndedStack): ResultKind {
  if (plan === undefined) return onlyValidated !== undefined && code === exitCodes.done ? validated : failed;
  if (code === exitCodes.done) return planned;
  return exitCodeOfPlan(plan) === exitCodes.done ? notReviewed : incomplete;
}

const stepAfterValidation =
  'Next: review the changes. Then let a person who may write to this repository push the commits to a branch of it, so that a job with secrets can plan them.';

/** What to do after a plan job, as sentences. */
export function nextStep(code: ExitCode, { event }: CiJob): string {
  switch (code) {
    case exitCodes.done:
      return event === 'push'
        ? 'Next: let the plan be approved, then apply it with "trueup ci apply".'
        : 'Next: review each plan and its guards. After the merge, "trueup ci apply" applies what was approved.';
    case exitCodes.invalid:
      return 'Next: correct the lines that the messages name, and push again.';
    case exitCodes.stale:
      return 'Next: take the pull request out of the queue, update its branch, and review its new plan; if an earlier merge is not applied yet, wait for that apply, and queue it again.';
    case exitCodes.conflict:
      return 'Next: read the message. It names the owner or the place, and the ways to go on.';
    case exitCodes.interrupted:
      return 'Next: run the job again. Nothing was changed.';
    default:
      return 'Next: remove the cause that the message names, and run the job again. Nothing was changed.';
  }
}
