/**
 * Plan files: written whole or not at all, and read back only as what a trueup wrote. What was changed by hand since, or
 * is of a shape that this trueup does not know, is refused before anything is compared with it.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { megabyte, readRegularText, UnfitFile } from '../../files/read-regular.ts';
import { replaceFile } from '../../ledger/local/replace-file.ts';
import { compileSchema, type SchemaError } from '../../manifest/schema/compile-schema.ts';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import type { Json } from '../../model/json/json.ts';
import { jsonSchema } from '../../model/kind/json-schema.ts';
import { type Plan, planVersion } from '../../model/plan/plan.ts';
import { digestOf } from '../../plan/approval/digest.ts';
import { isRedacted } from '../../plan/redacted-plan.ts';
import { renderPlanJson } from '../../report/json/plan-json.ts';
import { planSchema } from '../../report/json/plan-schema.ts';
import { looksLikePlan, readPlan } from '../../report/json/read-plan.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { CliHost } from '../cli-host.ts';

export interface PlanFile {
  /** as the user typed it */
  readonly file: string;
  readonly plan: Plan;
}

/** Why a file is not taken as a plan, and the exit code that this leads to for who wants to apply it. */
export interface PlanFileRefusal {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly exit: ExitCode;
}

export function isRefusal(value: object): value is PlanFileRefusal {
  return 'message' in value && 'exit' in value;
}

/** Readable by its owner only: no secret of the run is in it, but all that is known of a platform. */
export async function writePlanFile(
  file: string,
  { cwd, clean }: Pick<CliHost, 'cwd' | 'clean'>,
  plan: Plan,
): Promise<void> {
  const path = resolve(cwd, file);
  const text = `${renderPlanJson(plan, { clean })}\n`;
  return replaceFile(await realpath(path).catch(() => path), text);
}

/**
 * Why no plan is to be written there; undefined where one may. A pipe or a device has no end of its own, and what stands in a
 * file that no plan was written into was written by somebody for something else.
 * @param file as the user typed it
 */
export async function refusePlanOut(file: string, cwd: string): Promise<string | undefined> {
  const found = await readRegularText(resolve(cwd, file), mostOfPlan).catch((error: Error) => error);
  if (typeof found !== 'string') {
    if ('code' in found && found.code === 'ENOENT') return undefined;
    return `the plan cannot be written to "${file}": ${unfitWords(found)}`;
  }
  const value = parsed(found);
  const isPlan = value !== undefined && looksLikePlan(value) && 'coverage' in value;
  return isPlan || found === ''
    ? undefined
    : `the plan is not written over "${file}", which is no plan file; give "--out" a new name, or remove that file`;
}

function unfitWords(error: Error): string {
  if (!(error instanceof UnfitFile)) return error.message;
  if (error.obstacle === 'folder') return 'it is a directory; name a file in it';
  if (error.obstacle === 'irregular') return 'it is no regular file, but a pipe, a socket or a device';
  return 'it has more than any plan, and is no plan file';
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
};

/** Bytes of a plan file: some ten thousand times those of a usual one. */
const mostOfPlan = 256 * megabyte;

const folderWords = 'it is a directory, and no file that "trueup plan --out" wrote';

/** The plan in a file, or why there is none. @param file as the user typed it */
export async function openPlanFile(file: string, cwd: string): Promise<PlanFile | PlanFileRefusal> {
  const text = await readRegularText(resolve(cwd, file), mostOfPlan).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (typeof text !== 'string') {
    const isFolder = text instanceof UnfitFile && text.obstacle === 'folder';
    const why = isFolder ? folderWords : (unreadable[text.code ?? ''] ?? text.message);
    return {
      code: 'plan-unreadable',
      exit: exitCodes.error,
      message: `the plan "${file}" cannot be read: ${why}`,
    };
  }
  const read = readPlan(text, { check });
  switch (read.is) {
    case 'no-plan':
      return {
        code: 'not-a-plan',
        exit: exitCodes.error,
        message: `"${file}" is no plan: ${read.why}; make one with "trueup plan --out plan.json"`,
      };
    case 'other-version':
      return {
        code: 'plan-version',
        exit: exitCodes.stale,
        message: `the plan "${file}" has version ${JSON.stringify(read.version)}, and this trueup reads version ${planVersion}: plan again, and approve again`,
      };
    case 'malformed':
      return edited(file, read.why);
    case 'plan':
      return isAsPlanned(read.plan)
        ? { file, plan: read.plan }
        : edited(file, `its digest "${read.plan.digest}" is not that of its changes`);
  }
}

/** Whether a path of a command line means a plan: by what is in the file, or by its name if it ends in `.json`. */
export async function meansPlanFile(file: string, cwd: string): Promise<boolean> {
  const path = resolve(cwd, file);
  const text = await readRegularText(path, mostOfPlan).catch((error: unknown) => error);
  // Of one that is too long the name alone tells; whoever takes it for a plan is told that it is.
  if (text instanceof UnfitFile && text.obstacle === 'too-long') return file.endsWith('.json');
  if (typeof text !== 'string') return false;
  const value = text.trimStart().startsWith('{') ? parsed(text) : undefined;
  if (value !== undefined && looksLikePlan(value)) return true;
  const isStack = typeof value === 'object' && value !== null && 'kind' in value;
  return file.endsWith('.json') && !isStack;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A plan that leaves secrets out has the digest of what it left out, too: apply compares it with the plan that it makes. */
function isAsPlanned(plan: Plan): boolean {
  return digestOf(plan) === plan.digest || isRedacted(plan.changes);
}

function edited(file: string, why: string): PlanFileRefusal {
  return {
    code: 'plan-edited',
    exit: exitCodes.stale,
    message: `the plan "${file}" is not as trueup wrote it: ${why}; plan again, a plan cannot be edited`,
  };
}

/** Members that this trueup does not know are those of a newer one of the same version, and are left alone. */
function check(value: Json): readonly string[] {
  return compileSchema(planSchema, () => jsonSchema(planSchema))(value)
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .map(explained);
}

function explained({ instancePath, message = 'does not fit the schema' }: SchemaError): string {
  return `${instancePath === '' ? 'it' : `"${instancePath}"`} ${message}`;
}
