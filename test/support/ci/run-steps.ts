/**
 * Runs the `run:` steps of a workflow or of a composite action with bash, as a runner does: the environment of the step overrides that
 * of the job, and what a step adds to GITHUB_PATH is in the PATH of later ones. Steps with `uses:` are not run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { temporaryFolder, writeFiles } from '../rig/temporary-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface WorkflowStep {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly WorkflowStep[] };
}

export interface WorkflowFile {
  readonly on: object;
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

interface WorkflowJob {
  readonly needs?: string;
  readonly if?: string;
  readonly steps: readonly WorkflowStep[];
}

export function readYaml<T>(path: string): T {
  return load(readFileSync(join(root, path), 'utf8')) as T;
}

export interface StepsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface StepsOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs action.yml with these inputs. It supports expressions that are one input, and conditions on the command. */
export async function runAction(
  given: Readonly<Record<string, string>>,
  options: StepsOptions,
): Promise<StepsResult> {
  const { inputs, runs } = readYaml<ActionFile>('action.yml');
  const values: Record<string, string> = {};
  for (const [name, { default: usual = '' }] of Object.entries(inputs)) values[name] = given[name] ?? usual;
  values['token'] = given['token'] ?? options.env['GITHUB_TOKEN'] ?? '';
  const steps = runs.steps.filter(
    (step) => step.if === undefined || step.if.includes('always()') || values['command'] !== 'install',
  );
  return runSteps(steps, options, (text) =>
    text.replace(/^\$\{\{ inputs\.([\w-]+) \}\}$/, (_, name: string) => values[name] ?? ''),
  );
}

/** @param evaluate the value of a text in the environment of a step */
export async function runSteps(
  steps: readonly WorkflowStep[],
  { cwd, env }: StepsOptions,
  evaluate: (text: string) => string,
): Promise<StepsResult> {
  const files = temporaryFolder({ path: '' });
  const ended = { code: 0, out: '', err: '' };
  for (const { run, env: own = {} } of steps) {
    if (run === undefined || ended.code !== 0) continue;
    writeFiles(files, { 'step.sh': run });
    const added = readFileSync(join(files, 'path'), 'utf8').split('\n').filter(Boolean).reverse();
    const values = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, evaluate(value)]));
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', join(files, 'step.sh')], {
      cwd,
      env: {
        HOME: files,
        GITHUB_PATH: join(files, 'path'),
        ...env,
        ...values,
        PATH: [...added, env['PATH'] ?? process.env['PATH']].join(delimiter),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    ended.out += out;
    ended.err += err;
    ended.code = code ?? 1;
  }
  return ended;
}
