/** The results of a plan job, besides what it prints: annotations, the summary and outputs of the step, SARIF, and files. */
import { lstat, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { makeStateFolder, replaceFile } from '../../files/write-file.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { acknowledgeableIds } from '../../model/guard.ts';
import { memberOf } from '../../model/json.ts';
import { renderJson } from '../../report/json/render-json.ts';
import { renderSarif } from '../../report/json/sarif.ts';
import { code, sentence } from '../../report/markdown/escape.ts';
import { renderPlanMarkdown } from '../../report/markdown/plan.ts';
import { renderDiagnosticsMarkdown } from '../../report/markdown/sections.ts';
import { annotations, appendSummary, repositoryPath, writeOutputs } from '../../run/answer.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { isPlanFile, maxPlanSize, parsed } from '../../run/plan-file.ts';
import { planWithoutSecrets } from '../../run/print-plan.ts';
import { cleanDiagnostics } from '../../run/terminal.ts';
import { refusePlanFile, writePlanFile } from '../../run/write-plan-file.ts';
import type { StackResult } from './plan-stack.ts';

/** The name of the list of plans in the folder of plan files. */
const listName = 'plans.json';

/** What later jobs need of a plan. */
interface ListedPlan {
  readonly stack: string;
  /** from the top of the repository */
  readonly path: string;
  readonly digest: string;
  /** in the same folder */
  readonly plan: string;
  readonly changes: number;
  /** guards that have to be acknowledged */
  readonly acknowledge: readonly string[];
}

/** Writes a plan file for each plan, and a list of them. A folder that it creates is ignored by git, so that none is committed. */
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

/** A plan of an earlier run would pass for one of this run. Links, and files that hold something else, stay. */
async function removePlan(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true) return;
  const value = parsed(await readRegularText(file, maxPlanSize).catch(() => ''));
  if (value !== undefined && isPlanFile(value)) await rm(file, { force: true });
}

/** Annotations, summary and outputs of GitHub Actions; other CIs name no such files. */
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

/** Markdown. */
function summaryOf({ stack, plan, reported, host, onlyValidated, next }: StackResult): string {
  const title = `## ${code(stack.path)}`;
  const diagnostics = cleanDiagnostics(reported, host);
  if (plan !== undefined)
    return `${title}\n\n${renderPlanMarkdown(planWithoutSecrets(plan, host), { diagnostics, stack: stack.path, next })}`;
  const only =
    onlyValidated === undefined ? [] : [`**Validated, and not planned**: ${sentence(onlyValidated)}.`, ''];
  return [title, '', ...only, renderDiagnosticsMarkdown(diagnostics, 'No problems')].join('\n');
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
